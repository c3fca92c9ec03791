"""`deskovky play` and `deskovky show`: from a pipe, from a terminal, and what goes wrong."""

import contextlib
import io
import os
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from toy_game import StripDraughts

import deskovky as dk
from deskovky import cli
from deskovky.agents import Agent, register_agent
from deskovky.agents.registry import AGENTS
from deskovky.envs import GAMES, register_game
from deskovky.envs.protocol import Outcome, State, Termination
from deskovky.envs.records import Annotation, Record, read_record, write_records
from deskovky.play import COMMANDS, Session, understood
from deskovky.terminal import board_view

Play = Callable[..., str]
GOTHIC = "8/8/2m5/8/4m3/8/2m5/1M4K1 w"  # b1d3f5 and other jumps
FINAL = ("b2b3", "a4a3", "b3b4+")  # White takes the lion


@pytest.fixture
def play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Play:
    """Return a function that runs `deskovky play` with lines of input; it returns what it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(words: str, *lines: str, code: int = 0) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert cli.main(["play", *shlex.split(words), "--keep", "kept"]) == code
        said = capsys.readouterr()
        return said.err if code else said.out

    return run


def kept() -> list[Record]:
    """Return the games that were kept, the oldest first."""
    return [read_record(path) for path in sorted(Path("kept").glob("*"))]


def test_two_people_play_to_the_end(play: Play) -> None:
    said = play("dobutsu --black human", *FINAL)
    assert "dobutsu_v0: human against human" in said
    assert "turn 1: white to move" in said and "turn 3: white to move" in said
    assert "white (human) won: lion captured" in said
    (record,) = kept()
    assert record.turns == FINAL and record.outcome == Outcome(0, Termination.LION_CAPTURED)
    assert record.headers["Player0"] == record.headers["Player1"] == "human"
    assert str(next(Path("kept").iterdir())) in said and "--resume" not in said


def test_the_board_is_shown(play: Play) -> None:
    said = play("dobutsu --black human", "b2b3", "flip")
    seen = """\
    black holds nothing
     a  b  c
  4  g  l  e  4
  3  . [C] .  3
  2  . [.] .  2
  1  E  L  G  1
     a  b  c
    white holds C
turn 2: black to move
"""
    assert seen in "\n".join(line.rstrip() for line in said.splitlines()) + "\n"
    assert "  1  G  L  E  1" in said and "     c  b  a" in said  # turned


@pytest.mark.parametrize(
    "lines", [["b1d3", "d3f5"], ["b1d3f5"], ["b1d3", "b1d3f5"], ["B1-D3", "d3 x f5"]]
)
def test_a_turn_of_several_jumps(play: Play, lines: list[str]) -> None:
    said = play(f"gothic_draughts --black human --fen '{GOTHIC}'", *lines)
    if len(lines) > 1:
        assert "white goes on after b1d3" in said and "(M)" in said
    assert kept()[-1].turns[0].startswith("b1d3f5")
    assert "is neither" not in said


def test_undo_inside_a_turn_takes_back_a_step(play: Play) -> None:
    fen = "8/8/2m3m1/8/4m3/8/2m5/1M4K1 w"
    said = play(f"gothic_draughts --black human --fen '{fen}'", "b1d3", "d3f5", "undo", "fen")
    assert "8/8/2m3m1/8/4m3/3M4/8/6K1 w d3 " in said
    assert kept()[0].turns == ("b1d3",)
    said = play(f"gothic_draughts --black human --fen '{fen}'", "b1d3f5h7", "undo", "fen")
    assert f"\n{fen} - " in said


def test_a_placement_ends_a_turn(play: Play) -> None:
    said = play(
        "drakoburg --black human --fen '3t3/7/1Z5/7/7/7/3T3 w'",
        *("b5a5", "d7e7", "a5a7", "moves", "p@c2"),
    )
    assert "white goes on after a5a7" in said
    assert "P@c2" in said.split("white goes on after a5a7")[1].splitlines()[1]
    assert kept()[0].turns == ("b5a5", "d7e7", "a5a7,P@c2")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b2b9", "'b2b9' is neither a legal move nor a command. Did you mean b2b3? From b2: b2b3"),
        ("hlep", "Did you mean help? Legal: c1c2 b2b3 b1c2 b1a2"),
        ("zzzz", "'zzzz' is neither a legal move nor a command. Legal: c1c2 b2b3 b1c2 b1a2"),
        ("x" * 10_000, "'" + "x" * 40 + "...' is neither"),
        ("\0\x1b[31m", r"'\x00\x1b[31m' is neither"),
        ("-", "'-' is neither"),
        ("hint nobody", "no agent 'nobody'"),
        ("hint minimax:depth=none", "depth = 'none'"),
        ("load", "load needs the name of a file"),
        ("load none.pgn", "none.pgn"),
        ("load bad.pgn", "bad.pgn: game 1 (line 1): "),
        ("save", "save needs the name of a file"),
        ("save .", "is a folder"),
        ("save none/x.pgn", "none/x.pgn"),
        ("save bad.pgn", "bad.pgn exists; `save! bad.pgn` overwrites it"),
        ("undo", "there is no turn of yours to take back"),
        ("moves c9", "There are none."),
    ],
)
def test_what_is_wrong_is_said_and_play_goes_on(play: Play, line: str, message: str) -> None:
    Path("bad.pgn").write_text("b2b3")
    said = play("dobutsu --black human", line, "b2b3")
    assert message in said and "Traceback" not in said
    assert "turn 2: black to move" in said
    assert max(map(len, said.splitlines())) < 300
    assert Path("bad.pgn").read_text() == "b2b3"


def test_a_near_miss_is_never_played_if_several_are_meant() -> None:
    state = dk.game("dobutsu_v0").state("1l1/1C1/3/1L1[c] w")
    assert state.turns(), "a chick that may promote"
    assert understood(state, "B3B4") == [state.action_from_text("b3b4+")]
    with pytest.raises(dk.IllegalActionError, match="From b1: b1"):
        understood(state, "b1")


def test_undo_goes_back_to_a_persons_turn(play: Play) -> None:
    said = play("dobutsu --black minimax:depth=1", "b2b3", "undo", "undo")
    assert said.count("turn 1: white to move") == 2
    assert said.count("there is no turn of yours to take back") == 1
    assert kept() == []  # nothing was left to keep
    said = play("dobutsu --white greedy --black human", "undo", "b4b3", "undo")
    assert said.count("there is no turn of yours to take back") == 1
    assert said.count("turn 2: black to move") == 2
    assert "  1  G  L  E  1" in said  # black sits at the bottom


def test_help_names_commands_and_pieces(play: Play) -> None:
    said = play("drakoburg --black human", "help")
    for command in COMMANDS:
        assert command in said
    assert "P pikeman, S archer, Z man-at-arms, A squire, U turcopole, T banneret" in said


def test_hints(play: Play) -> None:
    said = play(
        "dobutsu --black minimax:depth=1 --fen '3/1l1/1L1/3[-] w'",
        *("hint", "hint random", "hint greedy", "b2b3", "hint"),
    )
    assert "minimax:depth=1: b2b3 100%; expects +1.00 for white" in said
    assert "greedy: b2b3 100%" in said
    assert "random: " in said and said.count("the game is over") == 1


def test_save_load_and_new(play: Play) -> None:
    said = play(
        "dobutsu --black human --seed 3",
        *("b2b3", "save first.pgn", "a4a3", "save first.pgn", "new", "c1c2", "save first.pgn"),
        *("save 'the second.jsonl'", "load first.pgn", "undo", "save! first.pgn", "load first.pgn"),
    )
    assert said.count("first.pgn exists; `save! first.pgn` overwrites it") == 1
    assert read_record("first.pgn").turns == ("b2b3",)
    second = read_record("the second.jsonl")
    assert second.turns == ("c1c2",) and second.headers["Seed"] == "3"
    assert kept() == []  # all is saved


def test_load_keeps_what_was_played_and_noted(play: Play) -> None:
    state = dk.game("drakoburg_v0", setup=dk.game("drakoburg_v0").setups[1]).state()
    state.push(state.turns()[0])
    noted = Record.from_state(
        state, annotations=[Annotation(value=0.5, comment="so")], comment="all", Event="E"
    )
    write_records("noted.jsonl", [noted, noted])
    reply = state.turns()[0]
    said = play(
        "dobutsu --black human", "b2b3", "load noted.jsonl 2", reply, "save x.jsonl", "load x 3"
    )
    assert "The game is kept in" in said.split("drakoburg")[0]  # before another takes its place
    (record,) = kept()
    assert record.turns == ("b2b3",)
    record = read_record("x.jsonl")
    assert record.turns == (*noted.turns, reply) and record.setup == noted.setup
    assert record.annotations == (noted.annotations[0], Annotation())
    assert record.comment == "all" and record.headers["Event"] == "E"


def test_resign(play: Play) -> None:
    said = play("dobutsu --black greedy", "resign", "b2b3", "resign", "moves", "undo", "b2b3")
    assert "black (greedy) won: resignation" in said
    assert said.count("the game is over") == 2
    assert "There are none." in said and "black plays" in said
    said = play("dobutsu --black greedy", "resign", "save lost.pgn")
    assert read_record("lost.pgn").outcome == Outcome(1, Termination.RESIGNATION)
    assert "black (greedy) won: resignation" in play("dobutsu --load lost.pgn")


def test_agents_play_each_other(play: Play) -> None:
    words = "gothic_draughts --white greedy --black random --seed 1"
    assert play(words).splitlines()[:-1] == play(words).splitlines()[:-1]
    first, second = kept()
    assert first.turns == second.turns and first.outcome == second.outcome is not None
    state = first.state()
    assert state.is_over and first.headers["Seed"] == "1"


def test_the_end_of_input_keeps_the_game_and_resume_goes_on(play: Play) -> None:
    said = play("dobutsu --black human", "b2b3")
    assert "To go on with it: deskovky play dobutsu_v0 --white human --black human --resume" in said
    play("dobutsu --black human", *FINAL)  # later, but finished
    said = play("dobutsu --black human --resume", "a4a3", "quit", "b3b4+")
    assert "turn 2: black to move" in said and "won" not in said
    assert [record.turns for record in kept()] == [("b2b3", "a4a3"), FINAL]


def test_a_game_that_cannot_be_kept_goes_on(play: Play) -> None:
    Path("kept").write_text("a file")
    said = play("dobutsu --black human", *FINAL)
    assert "The game cannot be kept: " in said and "won: lion captured" in said


def test_other_games_in_the_file_are_left_alone(play: Play) -> None:
    write_records("two.pgn", [Record(game_id="dobutsu_v0")] * 2)
    assert "two.pgn exists" in play("dobutsu --black human --load two.pgn", "b2b3", "save two.pgn")
    assert read_record("two.pgn", 2).turns == ()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("chess", "no game 'chess'"),
        ("dobutsu --white nobody", "no agent 'nobody'"),
        ("dobutsu --fen nonsense", "FEN"),
        ("dobutsu --ruleset none", "none"),
        ("dobutsu --pause -1", "pause = -1.0"),
        ("dobutsu --load none.pgn", "none.pgn"),
        ("dobutsu --load some.pgn --resume", "give none besides"),
        ("dobutsu --load some.pgn --fen x", "give none besides"),
        ("xiangqi --load some.pgn", "some.pgn is a game of dobutsu_v0"),
        ("dobutsu --resume", "no unfinished game of dobutsu_v0 is kept in kept"),
    ],
)
def test_bad_options(play: Play, words: str, message: str) -> None:
    write_records("some.pgn", [Record(game_id="dobutsu_v0")])
    (line,) = play(words, code=2).splitlines()
    assert line.startswith("deskovky: ") and message in line


def test_an_agent_that_plays_an_illegal_action(play: Play) -> None:
    class Cheat(Agent):
        def act(self, state: State) -> int:
            return 10**6

        def reset(self, seed: int | None = None) -> None:
            pass

    register_agent("cheat", lambda seed=None: Cheat())
    try:
        said = play("dobutsu --black cheat", "b2b3", code=2)
    finally:
        del AGENTS["cheat"]
    assert "action 1000000 is out of range [0, 132) for agent 'Cheat'" in said
    assert kept()[0].turns == ("b2b3",)


def test_a_game_in_python(play: Play) -> None:
    def make(**options: object) -> StripDraughts:
        return StripDraughts(**{k: v for k, v in options.items() if v is not None})  # type: ignore[arg-type]

    register_game("strip_draughts_v0", make)
    try:
        said = play("strip_draughts --black minimax:depth=1", "b1c1", "moves", "hint", "help")
        assert "black plays" in said and "expects" in said and "Pieces:" not in said
        said = play("strip_draughts --white random --black random --seed 0")
        assert "won: " in said or "draw: " in said
    finally:
        del GAMES["strip_draughts_v0"]


@pytest.mark.parametrize("id", dk.games())
def test_every_game_can_be_shown_from_both_sides(id: str) -> None:
    game = dk.game(id)
    _, ranks, files = game.action_shape
    rng = np.random.default_rng(0)
    state = game.state()
    for _ in range(60):
        if state.is_over:
            break
        lines = board_view(state).plain.splitlines()
        turned = board_view(state, perspective=1).plain.splitlines()
        board = [line[4 : 4 + 3 * files] for line in lines if line[:3].strip().isdigit()]
        swap = str.maketrans("[]()", "][)(")
        other = [line[4 : 4 + 3 * files] for line in turned if line[:3].strip().isdigit()]
        assert [line[::-1].translate(swap) for line in reversed(other)] == board
        assert len(board) == ranks
        letters = [letter for line in board for letter in line if letter.isalpha()]
        for player, is_own in enumerate((str.isupper, str.islower)):
            assert sum(map(is_own, letters)) == state.num_pieces(player)
        state.apply(int(rng.choice(state.legal_actions())))


def test_colours_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    state = dk.game("dobutsu_v0").state()
    monkeypatch.setenv("TERM", "xterm-256color")

    def shown() -> str:
        console = Console(force_terminal=True, file=io.StringIO())
        console.print(board_view(state))
        assert isinstance(console.file, io.StringIO)
        return console.file.getvalue()

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "48;5" in shown() or "48;2" in shown()  # backgrounds
    monkeypatch.setenv("NO_COLOR", "1")
    assert "48;" not in shown() and "38;" not in shown()


def test_completion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").touch()
    Path("folder").mkdir()
    session = Session(("human", "human"), keep=tmp_path)
    session.start(dk.game("gothic_draughts_v0").state(GOTHIC))
    assert "b1d3" in session.completions("b1d3") and "b1d3f5" in session.completions("b1")
    assert "undo" in session.completions("") and session.completions("sa") == ["save", "save!"]
    assert session.completions("load g") == ["games.pgn"]
    assert session.completions("load ./f") == ["./folder/"]
    assert session.completions("save none/") == []
    assert session.completions("hint mini") == ["minimax"]
    assert session.completions("moves b1d3")[0].startswith("b1d3")
    assert session.completions("flip x") == []


# --- As a process ---------------------------------------------------------------------------------


def test_bytes_that_are_no_text_are_no_move(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deskovky", "play", "dobutsu", "--keep", str(tmp_path)],
        input=b"\xff\xfe\x00\nb2b3\n",
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"is neither" in done.stdout and b"black plays" in done.stdout


AT_TERMINAL = """
import fcntl, sys, termios
from deskovky import cli
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C typed there is a signal
sys.exit(cli.main())
"""


class Terminal:
    """A process at a terminal of its own."""

    def __init__(self, *words: str, **environment: str) -> None:
        pty = pytest.importorskip("pty")
        self.side, other = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", AT_TERMINAL, *words],
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
            env=os.environ | {"TERM": "xterm-256color"} | environment,
        )
        os.close(other)
        self.text = ""

    def wait_for(self, text: str, seconds: float = 60) -> None:
        """Read until `text` has come, behind what was waited for before."""
        end = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < end, f"no {text!r} in {self.text!r}"
            if select.select([self.side], [], [], 1)[0]:
                try:
                    self.text += os.read(self.side, 10_000).decode()
                except OSError as error:  # Linux says so when the other side has gone
                    assert text in self.text, f"no {text!r} in {self.text!r}: {error}"
        self.text = self.text.partition(text)[2]

    def type(self, text: str) -> None:
        os.write(self.side, text.encode())

    def press_until(self, key: str, text: str) -> None:
        """Press `key` until `text` has come: readline misses a Ctrl-C unless it waits for keys."""
        for _ in range(6):
            self.type(key)
            with contextlib.suppress(AssertionError):
                return self.wait_for(text, seconds=10)
        self.wait_for(text, seconds=0)

    def close(self) -> int:
        """Return the exit code."""
        try:
            return self.process.wait(60)
        finally:
            self.process.kill()
            os.close(self.side)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    words = ["dobutsu", "--black", "minimax:depth=1", "--keep", str(tmp_path)]
    yield Terminal("play", *words)


def test_tab_completes_and_ctrl_d_leaves(terminal: Terminal, tmp_path: Path) -> None:
    pytest.importorskip("readline")
    terminal.wait_for("white> ")
    terminal.type("b2\t")
    terminal.wait_for("b2b3 ")
    terminal.type("\n")
    terminal.wait_for("black plays")
    terminal.wait_for("white> ")
    terminal.type("\x04")
    terminal.wait_for("The game is kept in")
    terminal.wait_for("--resume")
    assert terminal.close() == 0
    (path,) = tmp_path.iterdir()
    assert len(read_record(path).turns) == 2


@pytest.mark.long  # when keys reach readline depends on the load of the machine
def test_ctrl_c_leaves_and_keeps_the_game(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for("white> ")
    terminal.type("b2b3\n")
    terminal.wait_for("48;")  # a board in colours
    terminal.wait_for("white> ")
    terminal.type("c1")
    terminal.press_until("\x03", "The game is kept in")
    assert terminal.close() == 130
    (path,) = tmp_path.iterdir()
    assert len(read_record(path).turns) == 2


@pytest.mark.long  # likewise
def test_ctrl_c_stops_an_agent_that_thinks(tmp_path: Path) -> None:
    words = ["dobutsu", "--black", "minimax:time_ms=600000", "--keep", str(tmp_path)]
    terminal = Terminal("play", *words)
    terminal.wait_for("white> ")
    terminal.type("b2b3\n")
    terminal.wait_for("is thinking")
    time.sleep(0.2)
    terminal.type("\x03")
    terminal.wait_for("The game is kept in")
    assert terminal.close() == 130
    (path,) = tmp_path.iterdir()
    assert read_record(path).turns == ("b2b3",)


# --- deskovky show --------------------------------------------------------------------------------


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """Return a file of two games, of which the second is annotated."""
    first, second = dk.game("dobutsu_v0").state(), dk.game("dobutsu_v0").state()
    first.push("b2b3")
    notes = [Annotation(value=0.5, policy={"b2b3": 0.75, "c1c2": 0.25}), Annotation(), Annotation()]
    for turn in FINAL:
        second.push(turn)
    records = [
        Record.from_state(first, outcome=Outcome(0, Termination.RESIGNATION)),
        Record.from_state(second, annotations=notes, Player0="me", Player1="you"),
    ]
    write_records(tmp_path / "games.jsonl", records)
    return tmp_path / "games.jsonl"


def test_show_as_text(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", str(games), "--number", "2"]) == 0
    said = capsys.readouterr().out
    assert "1. b2b3 a4a3 2. b3b4+ 1-0" in said and '[Player1 "you"]' in said
    assert said.splitlines()[-1] == "white (me) won: lion captured"
    assert cli.main(["show", str(games), "--turn", "0", "--perspective", "1"]) == 0
    said = capsys.readouterr().out
    assert "  1  G  L  E  1" in said and said.splitlines()[-1] == "after turn 0: white to move"
    assert cli.main(["show", str(games)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "white (player_0) won: resignation"


def test_show_as_a_picture(games: Path, tmp_path: Path) -> None:
    record = read_record(games, 2)
    out = tmp_path / "out.svg"
    words = ["show", str(games), "--svg", str(out), "--size", "200", "--number", "2"]
    assert cli.main(words) == 0
    assert out.read_text() == record.state().svg(size=200)
    assert cli.main([*words, "--turn", "1", "--perspective", "1"]) == 0
    assert out.read_text() == record.state(1).svg(size=200, perspective=1)
    assert cli.main([*words, "--turn", "0", "--analysis"]) == 0
    assert "b2b3 75%" in out.read_text() and "c1c2 25%" in out.read_text()
    assert cli.main(["show", str(games), "--svg", str(out)]) == 0
    assert "player_0 won: resignation" in out.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.jsonl", "out.svg"]


def test_show_as_an_animation(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.svg"
    words = ["show", str(games), "--svg", str(out), "--number", "2", "--animate"]
    states = list(read_record(games, 2).states())
    for more, count in ([], 4), (["--turn", "1"], 2), (["--turn", "0"], 1):
        assert cli.main([*words, *more]) == 0
        from deskovky.envs.drawing import animate

        assert out.read_text() == animate(states[:count], size=600)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("none.pgn", "none.pgn"),
        ("GAMES --number 3", "holds no game 3"),
        ("GAMES --number 0", "holds no game 0"),
        ("GAMES --turn 2", "no turn 2: the record has 1 turns"),
        ("GAMES --turn -1", "no turn -1"),
        ("GAMES --perspective 2", "perspective"),
        ("GAMES --animate", "need --svg"),
        ("GAMES --analysis", "need --svg"),
        ("GAMES --svg OUT --analysis", "nothing is noted beside turn 2"),
        ("GAMES --svg OUT --analysis --animate", "without --animate"),
        ("GAMES --svg OUT --size 0", "size"),
        ("GAMES --svg picture.png", "picture.png: the picture is SVG"),
        ("GAMES --svg OUT --animate --seconds-per-turn 0", "seconds_per_turn"),
        ("GAMES --svg GAMES/out.svg", "games.jsonl"),
    ],
)
def test_show_refuses(
    games: Path, words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = games.with_name("out.svg")
    replaced = words.replace("GAMES", str(games)).replace("OUT", str(out))
    assert cli.main(["show", *replaced.split()]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line and not out.exists()


def test_show_names_an_illegal_turn(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games.write_text(games.read_text().replace("a4a3", "a4a1"))
    assert cli.main(["show", str(games)]) == 0  # the first game is good
    capsys.readouterr()
    assert cli.main(["show", str(games), "--number", "2"]) == 2
    assert "games.jsonl: game 2 (line 2): turn 2: 'a4a1' is not" in capsys.readouterr().err


def test_a_policy_that_is_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = dk.game("dobutsu_v0").state()
    state.push("b2b3")
    record = Record.from_state(state, annotations=[Annotation(policy={"a1a1": 1.0})])
    write_records(tmp_path / "x.jsonl", [record])
    words = ["show", str(tmp_path / "x.jsonl"), "--turn", "0", "--analysis"]
    assert cli.main([*words, "--svg", str(tmp_path / "x.svg")]) == 2
    assert "the policy beside turn 1: 'a1a1' is not a legal step" in capsys.readouterr().err
