"""Mistakes in games written in plain Python: one clear error each, and nothing changes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from toy_game import StripDraughts

import deskovky as dk
from deskovky.envs import register_game
from deskovky.envs.python_game import Position, PythonGame
from deskovky.errors import ConfigurationError, UnknownGameError


@pytest.mark.parametrize("name", ["id", "start_fens", "default_max_turns", "action_shape"])
def test_a_statement_is_missing(name: str) -> None:
    stated = {
        "id": "bare_v0",
        "start_fens": {"default": "P1/1p w - 0 1"},
        "default_max_turns": 9,
        "action_shape": (1, 2, 2),
        "pieces": "P",
    }
    del stated[name]
    with pytest.raises(ConfigurationError, match=f"Bare must state its {name}"):
        type("Bare", (PythonGame,), stated)()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("start_fens", {}, "at least one FEN"),
        ("action_shape", (3, 2), "planes, ranks and files"),
        ("action_shape", (3, 2, 27), "files = 27"),
        ("action_shape", (3, 0, 6), "ranks = 0"),
        ("action_shape", (-1, 2, 6), "action planes = -1"),
        ("default_max_turns", 10**30, "default_max_turns = "),
        ("default_max_turns", None, "default_max_turns = None"),
    ],
)
def test_a_statement_is_wrong(name: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        type("Wrong", (StripDraughts,), {name: value})()


@pytest.mark.parametrize("fen", ["", "PP2pp w - 0 1", "PP2pp/PP2px w - 0 1", "6/6 w - 0 1"])
def test_the_start_is_no_legal_position(fen: str) -> None:
    game = type("Wrong", (StripDraughts,), {"start_fens": {"default": fen}})()
    with pytest.raises(dk.FenError):
        game.state()


def goes_nowhere(position: Position) -> Position:
    return position


def never_ends(position: Position) -> Position:
    return replace(position, to_move=1 - position.to_move, pending="a1")


def shrinks(position: Position) -> Position:
    return position.finish_turn(resets_quiet=False, board=position.board[1:])


@pytest.mark.parametrize("result", [lambda position: None, goes_nowhere, never_ends, shrinks])
def test_step_returns_nonsense(result: Callable[[Position], Position]) -> None:
    class Wrong(StripDraughts):
        def step(self, position: Position, action: int) -> Position:
            return result(position)

    state = Wrong().state()
    before = state.fen(), state.history
    action = int(state.legal_actions()[0])
    for call in (lambda: state.apply(action), state.turns, lambda: Wrong().perft(2)):
        with pytest.raises(ConfigurationError, match=r"strip_draughts_v0: step\([0-9]+\) from '"):
            call()
    assert (state.fen(), state.history) == before and not state.is_over


@pytest.mark.parametrize("actions", [[], [-1], [37], [0, 10**30]])
def test_legal_actions_returns_nonsense(actions: list[int]) -> None:
    class Wrong(StripDraughts):
        def legal_actions(self, position: Position) -> list[int]:
            return actions

    state = Wrong().state()
    for call in (state.legal_actions, state.legal_action_mask, state.turns, lambda: state.apply(0)):
        with pytest.raises(ConfigurationError, match="strip_draughts_v0: legal_actions returned"):
            call()


def test_other_functions_return_nonsense() -> None:
    class Endless(StripDraughts):
        def end_by_rule(self, position: Position) -> Any:
            return True

    class Flat(StripDraughts):
        def planes(self, moment: Any, player: int) -> list[Any]:
            return [np.zeros(12, np.float32)] * 3

    with pytest.raises(ConfigurationError, match="strip_draughts_v0: True is no Outcome"):
        Endless().state()
    with pytest.raises(ConfigurationError, match=r"expected 3 of \(2, 6\)"):
        Flat().state().observation()


@pytest.mark.parametrize("id", ["", "chess", "chess_v", "chess_v٣", "a b_v0", "_v0", "\x00_v0", 5])
def test_a_game_cannot_have_any_id(id: Any) -> None:
    with pytest.raises(UnknownGameError, match="does not end in a version"):
        register_game(id, StripDraughts)
