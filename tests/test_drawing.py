"""Pictures of states: over every registered game, and of a game that has no drawing of its own."""

import importlib
import importlib.util
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from reference.dobutsu import Dobutsu
from toy_game import StripDraughts

import deskovky as dk
from deskovky.envs.drawing import Style, animate, draw, layout, piece_svg, style_of, turn_squares
from deskovky.envs.support import placement
from deskovky.envs.svg import moved
from deskovky.errors import ConfigurationError

SVG = "{http://www.w3.org/2000/svg}"
GAMES = [id for id in dk.games() if importlib.util.find_spec(f"deskovky.envs.{id[:-3]}")]


@pytest.fixture(params=[*GAMES, "toy"])
def game(request: pytest.FixtureRequest) -> dk.Game:
    return StripDraughts() if request.param == "toy" else dk.game(request.param)


def walk(game: dk.Game, seed: int = 0, max_steps: int = 30) -> Iterator[dk.State]:
    rng = np.random.default_rng(seed)
    state = game.state()
    yield state
    for _ in range(max_steps):
        if state.is_over:
            return
        state.apply(int(rng.choice(state.legal_actions())))
        yield state


def pieces_of(game: dk.Game) -> list[str]:
    """Return the FEN letters of both players."""
    if isinstance(game, StripDraughts):
        capitals = game.pieces
    else:
        capitals = "".join(importlib.import_module(f"deskovky.envs.{game.id[:-3]}").PIECES)
    return [*capitals, *capitals.lower()]


def test_every_state_is_a_well_formed_picture(game: dk.Game) -> None:
    for state in walk(game):
        for perspective in (0, 1):
            root = ET.fromstring(draw(state, perspective=perspective, legal=True))
            assert root.tag == f"{SVG}svg"
            assert max(int(root.attrib["width"]), int(root.attrib["height"])) == 400
            where = layout(game, perspective)
            assert root.attrib["viewBox"] == f"0 0 {where.width:g} {where.height:g}"
            tags = {element.tag.removeprefix(SVG) for element in root.iter()}
            assert tags <= {"svg", "g", "path", "circle", "ellipse", "rect", "title"}


def test_every_piece_is_drawn_on_its_square(game: dk.Game) -> None:
    for perspective in (0, 1):
        where = layout(game, perspective)
        for state in walk(game, max_steps=20):
            svg = draw(state, perspective=perspective)
            for square, letter in enumerate(placement(state).board):
                if letter:
                    piece = style_of(game).draw_piece(letter, letter.islower() == perspective)
                    x, y = where.square_center(square)
                    assert f'<g transform="translate({x:g} {y:g})">{piece}</g>' in svg


def test_pieces_differ(game: dk.Game) -> None:
    letters = pieces_of(game)
    assert len({piece_svg(game, letter) for letter in letters}) == len(letters)


def test_layout(game: dk.Game) -> None:
    _, ranks, files = game.action_shape
    seats = [layout(game, perspective) for perspective in (0, 1)]
    for where in seats:
        rects = [where.square_rect(square) for square in range(ranks * files)]
        assert len(set(rects)) == ranks * files
        for square, (x, y, width, height) in enumerate(rects):
            assert where.square_center(square) == (x + width / 2, y + height / 2)
            assert where.board.x <= x and x + width <= where.board.x + where.board.width
            assert where.board.y <= y and y + height <= where.board.y + where.board.height
        assert where.board.x + where.board.width < where.width
    for square in range(ranks * files):  # the board is turned by 180 degrees
        assert seats[0].square_rect(square) == seats[1].square_rect(ranks * files - 1 - square)
    # Player 0 sees a1 at the bottom on the left.
    assert seats[0].square_rect(0)[:2] == (
        seats[0].board.x,
        seats[0].board.y + seats[0].board.height - 100,
    )


def test_hand_slots() -> None:
    game = dk.game("dobutsu_v0")
    for perspective in (0, 1):
        where = layout(game, perspective)
        slots = [where.hand_slot(player, piece) for player in (0, 1) for piece in "GECL"]
        assert len(set(slots)) == 8
        for x, y, width, height in slots:
            assert 0 <= x and x + width <= where.width and 0 <= y and y + height <= where.height
            assert x + width <= where.board.x or x >= where.board.x + where.board.width
        # One's own hand is at one's right, nearest to oneself.
        assert where.hand_slot(perspective, "g").x > where.board.x
        assert where.hand_slot(perspective, "G").y > where.hand_slot(perspective, "E").y
        assert where.hand_slot(1 - perspective, "G").x < where.board.x
    with pytest.raises(ConfigurationError, match="H"):
        layout(game).hand_slot(0, "H")


def test_states_draw_themselves() -> None:
    for game in (dk.game("dobutsu_v0"), Dobutsu()):
        state = game.state()
        state.push("b2b3")
        assert state.svg(size=200, perspective=1) == draw(state, size=200, perspective=1)
        assert cast(Any, state)._repr_svg_() == draw(state)


def test_the_reference_is_drawn_as_the_native_game() -> None:
    states = [game.state() for game in (dk.game("dobutsu_v0"), Dobutsu())]
    assert draw(states[0]) == draw(states[1])


def test_a_game_without_a_style_is_plain() -> None:
    class Unknown(Dobutsu):
        id = "unknown_v0"

    game = Unknown()
    where = layout(game)
    assert set("GEC") <= set(where.hand)
    state = game.state("gle/3/1C1/ELG[C] w")
    assert draw(state) != draw(game.state("gle/3/1C1/ELG[c] w"))
    slot = where.hand_slot(0, "C")
    disc = moved(Style().draw_piece("C", True), *slot.center, 0.82 * slot.height / 100)
    assert disc in draw(state)


def test_a_game_brings_its_style() -> None:
    class Styled(StripDraughts):
        style = Style(draw_piece=lambda letter, is_facing_up: f"<g><title>{letter}</title></g>")

    svg = draw(Styled().state())
    assert svg.count("<title>P</title>") == 4 and svg.count("<title>p</title>") == 4


def test_last_turn() -> None:
    state = dk.game("dobutsu_v0").state()
    unmarked = draw(state)
    state.push("b2b3")
    assert draw(state) == draw(state, last="b2b3") == draw(state, last=[4, 7])
    assert draw(state, last=()) != draw(state)
    assert unmarked == draw(dk.game("dobutsu_v0").state(), last=())
    with pytest.raises(ConfigurationError, match="last"):
        draw(state, last=[12])


def test_pending_and_owed() -> None:
    state = dk.game("gothic_draughts_v0").state("8/8/2m5/8/4m3/8/2m5/1M6 w")
    state.apply(state.action_from_text("b1d3"))
    x, y = layout(state.game).square_center(19)
    assert f'<circle cx="{x:g}" cy="{y:g}" r="46"' in draw(state)
    state = dk.game("drakoburg_v0").state("3t3/7/1Z5/7/7/7/3T3 w")
    state.push("b5a5")
    state.push("d7e7")
    before = draw(state).count('r="14"')
    state.apply(state.action_from_text("a5a7"))
    assert (before, draw(state).count('r="14"')) == (0, 7)  # the whole row of pikemen


def test_policy_and_value() -> None:
    state = dk.game("dobutsu_v0").state("gle/3/1C1/ELG[C] w")
    policy = np.zeros(state.game.num_actions)
    policy[state.action_from_text("b2b3")] = 0.6
    policy[state.action_from_text("C@a2")] = 0.4
    titles = [e.text for e in ET.fromstring(draw(state, policy=policy)).iter(f"{SVG}title")]
    assert titles == ["C@a2 40%", "b2b3 60%"]
    assert draw(state, value=0.5) != draw(state, value=-0.5) != draw(state)
    for wrong in (
        {"policy": policy[1:]},
        {"policy": policy - 1},
        {"value": 1.1},
        {"value": np.nan},
    ):
        with pytest.raises(ConfigurationError):
            draw(state, **wrong)  # type: ignore[arg-type]


def test_wrong_options() -> None:
    state = dk.game("dobutsu_v0").state()
    options: list[dict[str, Any]] = [{"perspective": 2}, {"size": 0}, {"legal": [132]}]
    for wrong in options:
        with pytest.raises(ConfigurationError):
            draw(state, **wrong)
    with pytest.raises(ConfigurationError, match="X"):
        piece_svg(state.game, "X")


def test_turn_squares() -> None:
    assert turn_squares(dk.game("xiangqi_v0"), "h10g8") == [88, 69]
    assert turn_squares(dk.game("gothic_draughts_v0"), "b1d3f5") == [1, 19, 37]
    assert turn_squares(dk.game("drakoburg_v0"), "a5a7,P@c2") == [28, 42, 9]
    assert turn_squares(dk.game("ossetian_draughts_v0"), "pass") == []


def test_committed_pictures_are_up_to_date() -> None:
    tool = Path(__file__).resolve().parents[1] / "tools" / "draw_games.py"
    run = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_animation(game: dk.Game) -> None:
    states = [state.copy() for state in walk(game, max_steps=30)]
    root = ET.fromstring(animate(states, seconds_per_turn=0.5))
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert "animate" in tags and "script" not in tags
    durations = set(re.findall(r'dur="([^"]+)"', ET.tostring(root, encoding="unicode")))
    assert len(durations) == 1
