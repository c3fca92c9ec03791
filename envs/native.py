"""Makers of native games and states, as plain functions: pickles name these."""

from collections.abc import Sequence

from deskovky import _core


def game_ids() -> list[str]:
    """Return the ids of the games in the native module."""
    return _core.native_game_ids()


def make_game(
    id: str,
    ruleset: str | None = None,
    setup: str | None = None,
    max_turns: int | None = None,
    view: str = "relative",
) -> _core.Game:
    """Return a native game. Raises UnknownGameError or ConfigurationError."""
    return _core.make_game(id, ruleset, setup, max_turns, view)


def restore_state(game: _core.Game, start_fen: str, actions: Sequence[int]) -> _core.State:
    """Return the state after `actions` from `start_fen`."""
    return _core.restore_state(game, start_fen, actions)
