"""Draw the pictures of docs/images: a position of each game, and one whole game that plays itself.

python tools/draw_games.py            write them
python tools/draw_games.py --check    say which ones differ from what would be written
"""

import argparse
import sys
from pathlib import Path

import deskovky as dk
from deskovky.envs.drawing import animate
from deskovky.envs.support import write_text

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"

# Games between two minimax agents, up to a position worth seeing.
TURNS = {
    "dobutsu_v0": "b1c2 b3b2 c2b2 a4a3 C@c3 a3b3 b2c2",
    "xiangqi_v0": (
        "b3b2 a7a6 b2b10 a10b10 h3e3 h10g8 h1g3 c7c6 i1h1 b8e8 c4c5 c6c5 h1h5 b10b3 h5c5 c10a8 "
        "c5c8 e8e4 g3e4 h8c8 e4c5"
    ),
    "drakoburg_v0": (
        "c2d3 g7f5 f2e3 f5e5 e3d4 e5f5 d4d5 e7d5 g1f3 d5c5 d3e4 c5e4 c1b1 e4f3 b1f5 f3e1 d1e1 "
        "e6f5 a2b3 d6c5 a1c1"
    ),
    "gothic_draughts_v0": (
        "c2d3 d7d6 e2f3 f7f6 g2h3 b7b6 a2b3 f6f5 h3g4 f5h3 h2h4 h7g6 g1h2 g6g5 h4f6 e7g5 f3g4 "
        "g5g3 h2f4 d6e5 f4d6"
    ),
    "ossetian_draughts_v0": (
        "d3e4 f5d3 d2d4 d5d3 e2c4 b5d3 c2e4 c5b4 a3c5 b6d4f4d2b4 b3b5 a6c4 f3e4 e5e3 f2d4b4"
    ),
    "knight_draughts_v0": (
        "c4e5 j7i5 h3j7f9 b7a5 e5g9 a5c1 f9h10 c1e5g1 h10j6 g1f3 g3f5 e7g3 i3j5 f3b5d1f5 h4d6b10"
    ),
    "medieval_battle_v0": (
        "a1b1 b10b9 a3b4 b8c7 c3d4 d8e7 e3f4 f8g7 g3h4 h8i7 i3j4 b9b8 j4i5 i7h6 i5j6 j8i7 j6h8 g9i7"
    ),
}
FILM = (
    "dobutsu_v0",
    "b1c2 b3b2 c2b2 a4a3 C@c3 a3b3 b2c2 b3c3 c2b2 C@c2 c1b1 c4b3 b1c1 C@a2 c1c2 c3c2 b2c2 b3c2",
)


def states(id: str, turns: str) -> list[dk.State]:
    """Return the states of a game, the start first."""
    state = dk.game(id).state()
    found = [state.copy()]
    for turn in turns.split():
        state.push(turn)
        found.append(state.copy())
    return found


def images() -> dict[str, str]:
    """Return every picture by the name of its file."""
    pictures = {f"{name(id)}.svg": states(id, turns)[-1].svg() for id, turns in TURNS.items()}
    pictures[f"{name(FILM[0])}_game.svg"] = animate(states(*FILM), size=360)
    return pictures


def name(id: str) -> str:
    """Return the name of a game without its version."""
    return id.rpartition("_v")[0]


def main() -> int:
    """Write or check the pictures; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a difference")
    check = parser.parse_args().check
    IMAGES.mkdir(parents=True, exist_ok=True)
    stale = []
    for file, svg in images().items():
        path, text = IMAGES / file, svg + "\n"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(file)
            if not check:
                write_text(path, text)
    if check and stale:
        print(f"out of date, run tools/draw_games.py: {', '.join(stale)}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
