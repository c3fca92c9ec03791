"""What the environments have in common: options, messages and the board as text."""

import difflib
import importlib
import importlib.util
import operator
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from deskovky.envs.protocol import Game, Outcome, State
from deskovky.errors import ConfigurationError, FenError, IllegalActionError

SIDES = [0, 1, "alternate", "random"]  # of the one player who learns
MAX_REDRAWS = 1000  # of a game that is over before the learner has acted
MAX_OPENING_TURNS = 1000
MAX_SEED = 2**64 - 1
_MOVES_SHOWN = 60  # a message that lists thousands of draughts captures helps nobody


class Opponent(Protocol):
    """What an environment needs of the player whose turns it plays itself (see deskovky.agents)."""

    def act(self, state: State) -> int:
        """Return a legal action of `state.to_move`."""
        ...

    def act_batch(self, states: Sequence[State]) -> NDArray[np.int32]:
        """Return one legal action for each state, ``[len(states)]`` int32."""
        ...

    def reset(self, seed: int | None = None) -> None:
        """Forget what was remembered of earlier games, and start the random stream of `seed`."""
        ...


def as_game(game: Game | str, options: dict[str, Any]) -> Game:
    """Return `game` itself, or the registered game of that name with `options`."""
    if isinstance(game, str):
        from deskovky.envs import game as registered_game  # the registry imports this package

        return registered_game(game, **options)
    if options:
        raise ConfigurationError(f"a Game object has its options already; got {sorted(options)}")
    return game


def as_opponent(opponent: "Opponent | str") -> Opponent:
    """Return `opponent` itself, or the agent of that spec text.

    Raises ConfigurationError for anything else: None, or an object without the three methods.
    """
    if isinstance(opponent, str):
        from deskovky.agents import agent  # environments need agents only to fold one in

        return agent(opponent)
    for method in ("act", "act_batch", "reset"):
        if isinstance(opponent, type) or not callable(getattr(opponent, method, None)):
            raise ConfigurationError(
                f"opponent must be an agent or its spec text, not {opponent!r}: an agent has the "
                "methods act, act_batch and reset"
            )
    return opponent


def opponent_name(opponent: Opponent) -> str:
    """Return how messages name `opponent`."""
    return f"the opponent {getattr(opponent, 'name', type(opponent).__name__)}"


def start_state(game: Game, options: dict[str, Any] | None) -> State:
    """Return the state of ``options["fen"]``, or the start. Raises FenError."""
    if not isinstance(options, dict | None):
        raise ConfigurationError(f"options are a dict, not {options!r}")
    fen = (options or {}).get("fen")
    if fen is not None and not isinstance(fen, str):
        raise FenError(f"a FEN is a text, not {fen!r}")
    return game.state(fen)


def check_choice(name: str, value: object, allowed: Sequence[object]) -> None:
    """Raise ConfigurationError unless `value` is one of `allowed`."""
    # `True == 1` must not pass for a side.
    if not any(value == choice and type(value) is type(choice) for choice in allowed):
        choices = ", ".join(map(repr, allowed))
        raise ConfigurationError(f"{name} must be one of {choices}, not {value!r}")


def check_integer(name: str, value: object, low: int, high: int) -> None:
    """Raise ConfigurationError unless `value` is an integer from `low` to `high`."""
    try:
        is_good = not isinstance(value, bool) and low <= operator.index(value) <= high  # type: ignore[arg-type]
    except TypeError:
        is_good = False
    if not is_good:
        try:
            shown = repr(value)
        except ValueError:  # Python refuses to print 10**5000
            shown = "a long int"
        raise ConfigurationError(f"{name} = {shown}: expected an integer from {low} to {high}")


def check_seed(seed: object) -> None:
    """Raise ConfigurationError unless `seed` is one of 64 bits, or None."""
    if seed is not None:
        check_integer("seed", seed, 0, MAX_SEED)


def memory_bytes() -> int:
    """Return the memory that this process may use: the machine's, or less if a container says so.

    Where the system does not tell, 8 GiB.
    """
    try:
        limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, OSError, ValueError):
        limits = [8 << 30]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):  # versions 2 and 1
        try:
            limits.append(int(Path("/sys/fs/cgroup", name).read_text()))
        except (OSError, ValueError):
            pass  # no container, or one without a limit ("max")
    return min(limits)


def observation_space(game: Game) -> spaces.Space[NDArray[np.float32]]:
    """Return the space of `State.observation`: every plane of every game lies in [0, 1]."""
    return spaces.Box(0.0, 1.0, game.observation_shape, np.float32)


def play_random_turns(state: State, num_turns: int, rng: np.random.Generator) -> None:
    """Make up to `num_turns` turns at random, fewer if the game ends."""
    for _ in range(num_turns):
        if state.is_over:
            return
        while not state.is_over:
            state.apply(int(rng.choice(state.legal_actions())))
            if not state.is_turn_open:
                break


def steps_from_text(state: State, text: str) -> list[int]:
    """Return the steps that `text` means: a whole turn, or the first steps of one.

    In mid-turn both the text of the steps to come and that of the whole turn serve. Raises
    IllegalActionError if no legal steps have that text.
    """

    def follow(before: State, steps: list[int], offset: int) -> list[int] | None:
        for action in before.legal_actions().tolist():
            after = before.copy()
            after.apply(action)
            whole = after.history[-1]
            if not steps:  # where the text of what is new begins
                offset = len(whole) - len(before.action_to_text(action))
            for reached in (whole, whole[offset:]):
                if reached == text:
                    return [*steps, action]
            if after.is_turn_open and text.startswith((whole, whole[offset:])):
                found = follow(after, [*steps, action], offset)
                if found:
                    return found
        return None

    found = follow(state, [], 0)
    if found is None:
        state.push(text)  # raises, and says what is legal
        raise IllegalActionError(f"{text!r} is no legal turn")
    return found


def illegal_action_error(state: State, action: int, who: str) -> IllegalActionError:
    """Return the error for an action that `who` may not play: it names the legal ones."""
    num_actions = state.game.num_actions
    if not 0 <= action < num_actions:
        what = f"action {action} is out of range [0, {num_actions})"
    else:
        what = f"action {action} ({state.action_to_text(action)}) is illegal"
    legal = state.legal_actions().tolist()
    moves = [f"{state.action_to_text(a)} ({a})" for a in legal[:_MOVES_SHOWN]]
    if len(legal) > _MOVES_SHOWN:
        moves.append(f"and {len(legal) - _MOVES_SHOWN} more")
    return IllegalActionError(f"{what} for {who}; legal are: {', '.join(moves)}")


class Placement(NamedTuple):
    """What a FEN says, taken apart."""

    board: list[str]
    """The letter on each square, ``rank * files + file`` from player 0's side; empty is ``""``."""

    hands: tuple[str, str] | None
    """The pieces that player 0 and player 1 hold, as capitals; None in games without hands."""

    to_move: int
    pending: str
    """``-``, the name of the square whose piece must go on, or ``@``: a placement is owed."""

    move: int


def placement(state: State) -> Placement:
    """Return the position of any game whose FEN begins and ends as those of the games here."""
    pieces, side, *fields, move = state.fen().split(" ")
    board, bracket, hands = pieces.rstrip("]").partition("[")
    squares: list[str] = []
    for row in reversed(board.split("/")):
        for token in re.findall(r"\d+|\D", row):
            squares.extend([""] * int(token) if token.isdigit() else token)
    held = None
    if bracket:
        capitals = "".join(filter(str.isupper, hands))
        held = (capitals, "".join(filter(str.islower, hands)).upper())
    return Placement(squares, held, int(side == "b"), fields[0] if fields else "-", int(move))


def piece_names(game: Game) -> dict[str, str]:
    """Return the names of the pieces by FEN letter, capital: ``{"L": "lion", ...}``.

    Those of the game's attribute `piece_names`, or of its folder; none if it has neither.
    """
    own: dict[str, str] | None = getattr(game, "piece_names", None)
    if own is not None:
        return dict(own)
    name = f"deskovky.envs.{game.id.rpartition('_v')[0]}"
    if importlib.util.find_spec(name) is None:
        return {}
    return dict(getattr(importlib.import_module(name), "PIECES", {}))


def board_text(state: State, outcome: Outcome | None) -> str:
    """Return the board as lines of text, player 0 at the bottom, with hands and side to move."""
    position = placement(state)
    num_files = state.game.action_shape[2]
    lines = []
    for start in reversed(range(0, len(position.board), num_files)):
        cells = (letter or "." for letter in position.board[start : start + num_files])
        lines.append(f"{start // num_files + 1:2}  {' '.join(cells)}")
    files = "abcdefghijklmnopqrstuvwxyz"[:num_files]
    lines.append(f"    {' '.join(files)}")
    if position.hands is not None:
        first, second = position.hands
        lines.append(f"in hand: player_0 {first or '-'}, player_1 {second.lower() or '-'}")
    if outcome is None:
        lines.append(f"move {position.move}, player_{position.to_move} to move")
    elif outcome.winner is None:
        lines.append(f"{'stopped' if outcome.is_truncation else 'draw'}: {outcome.termination}")
    else:
        lines.append(f"player_{outcome.winner} won: {outcome.termination}")
    return "\n".join(lines)


def what_there_is(wanted: str, names: Iterable[str]) -> str:
    """Say which names there are, after one that is nearly `wanted`.

    >>> what_there_is("minmax", ["random", "minimax"])
    "did you mean 'minimax'? There are: random, minimax"
    >>> what_there_is("nobody", ["random", "minimax"])
    'there are: random, minimax'
    """
    names = tuple(names)
    close = difflib.get_close_matches(wanted, names, n=1)
    hint = f"did you mean {close[0]!r}? There" if close else "there"
    return f"{hint} are: {', '.join(names) or 'none'}"


def write_text(path: Path, text: str) -> None:
    """Write a file aside and rename it, so that `path` is never half a file; make its folder.

    Raises OSError.
    """
    if not path.name or path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: expected a file to write")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    os.replace(temporary, path)
