"""Records of games: who played, which turns, how it ended, and what was thought on the way.

Two forms hold the same game. The text form is for people, as PGN is in chess: headers in brackets,
numbered turns, comments in braces, the result. It carries everything but the numbers of the
annotations. The JSON form is one game a line, for programs, and carries all.

    [Game "dobutsu_v0"]
    [Ruleset "standard"]
    [Setup "default"]
    [MaxTurns "256"]
    [Player0 "minimax:depth=4"]
    [Player1 "random"]
    [Result "1-0"]
    [Termination "lion_captured"]

    1. b2b3 a4a3 {a blunder} 2. b3b4+ 1-0

``1-0`` means that player 0 won, ``0-1`` player 1, ``1/2-1/2`` a draw or a truncated game, ``*`` a
game that goes on. Readers replay every game: a turn or a result that the rules deny is refused.
"""

import io
import json
import math
import os
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deskovky.envs.protocol import Game, Outcome, State, Termination
from deskovky.envs.support import steps_from_text
from deskovky.errors import DeskovkyError, IllegalActionError, RecordError

FORMAT = "deskovky-record"
FORMAT_VERSION = 1
RESULTS = {0: "1-0", 1: "0-1", None: "1/2-1/2"}
UNFINISHED = "*"
DECISIONS = (Termination.RESIGNATION, Termination.ILLEGAL_ACTION, Termination.MAX_TURNS)
"""What may end a game that the rules would let go on."""

MAX_GAME_CHARS = 1 << 24
"""The longest game that readers take, in characters."""

_MAX_TEXT_CHARS = 1000  # of a turn, a FEN or a header
_MAX_TURN_CAP = 10**9  # no game lasts longer
_LINE = 80
_RESERVED = ("Game", "Ruleset", "Setup", "MaxTurns", "FEN", "Result", "Termination")
_HEADER_NAME = re.compile(r"[A-Z][A-Za-z0-9_]*")
_HEADER_LINE = re.compile(r'\[([A-Za-z0-9_]+)\s+"((?:\\.|[^"\\])*)"\]')
_TOKEN = re.compile(r"\{((?:\\.|[^\\}])*)\}|([0-9]+\.+)|([^\s{}]+)", re.DOTALL)
_TURN = re.compile(r"(?![0-9]+\.)[^\s{}\[][^\s{}]*")


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """What is noted beside one turn, each part if known."""

    comment: str | None = None
    """Words. The text form makes each run of blanks one."""

    value: float | None = None
    """What the player to move expected, in [-1, 1], before the first step of the turn."""

    policy: Mapping[str, float] | None = None
    """The probabilities of the likeliest first steps, by text, the likeliest first."""

    visits: Mapping[str, int] | None = None
    """How often a search visited the first steps in `policy`, by text."""

    time_s: float | None = None
    """Thinking time in seconds."""

    def __post_init__(self) -> None:
        _check_text("comment", self.comment or "", MAX_GAME_CHARS, blanks="\t\n")
        _check_number("value", self.value, -1, 1)
        _check_number("time_s", self.time_s, 0, math.inf)
        for name, texts, high in (("policy", self.policy, 1), ("visits", self.visits, 2**63)):
            if texts is None:
                continue
            if not isinstance(texts, Mapping):
                raise RecordError(f"{name}: expected numbers by text, not {_shown(texts)}")
            for text, number in texts.items():
                _check_text(name, text)
                _check_number(f"{name} of {_shown(text)}", number, 0, high)
                if name == "visits" and not isinstance(number, int):
                    raise RecordError(f"visits of {_shown(text)}: {number!r} is no whole number")

    @classmethod
    def of_search(
        cls,
        state: State,
        *,
        policy: ArrayLike | None = None,
        visits: ArrayLike | None = None,
        value: float | None = None,
        time_s: float | None = None,
        comment: str | None = None,
        top: int = 8,
    ) -> Self:
        """Return the annotation of the turn about to be made in `state`.

        policy: probabilities of the actions, ``[num_actions]``; the `top` likeliest are kept.
        visits: visit counts of the actions, ``[num_actions]``; alone they rank the actions too.
        """
        ranks = visits if policy is None else policy
        best: list[int] = []
        if ranks is not None:
            weights = np.asarray(ranks)
            legal = state.legal_actions()
            order = legal[np.argsort(-weights[legal], kind="stable")][:top]
            best = [action for action in order.tolist() if weights[action] > 0]

        def by_text(numbers: ArrayLike | None) -> dict[str, Any] | None:
            if numbers is None:
                return None
            array = np.asarray(numbers)
            return {state.action_to_text(action): array[action].item() for action in best}

        return cls(
            comment=comment,
            value=None if value is None else float(value),
            policy=by_text(policy),
            visits=by_text(visits),
            time_s=time_s,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the parts that are known."""
        parts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: dict(part) if isinstance(part, Mapping) else part
            for name, part in parts.items()
            if part is not None
        }


@dataclass(frozen=True, kw_only=True)
class Record:
    """One game. Made from a state, or read from a file; `state` replays it.

    >>> import deskovky as dk
    >>> state = dk.game("dobutsu_v0").state()
    >>> state.push("b2b3")
    >>> record = Record.from_state(state, Player0="me")
    >>> print(record.to_text().splitlines()[-1])
    1. b2b3 *
    >>> Record.from_text(record.to_text()) == record, record.state() == state
    (True, True)
    """

    game_id: str
    ruleset: str = "standard"
    setup: str = "default"

    max_turns: int | None = None
    """The cap on turns; None is the game's own."""

    fen: str | None = None
    """Where the game started; None is the start position of the setup."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Whatever else is known, such as Player0, Player1, Date, Event and Seed."""

    turns: tuple[str, ...] = ()
    """The turns as text. The last one may be unfinished."""

    annotations: tuple[Annotation, ...] = ()
    """What is noted beside each turn: as many as there are turns, or none."""

    comment: str | None = None
    """Words about the game, before its first turn."""

    outcome: Outcome | None = None
    """How it ended; None while it goes on. The rules decide, or one of `DECISIONS`."""

    def __post_init__(self) -> None:
        for name in ("game_id", "ruleset", "setup"):
            _check_text(name, getattr(self, name))
        if self.max_turns is not None:
            _check_number("max_turns", self.max_turns, 1, _MAX_TURN_CAP)
            if not isinstance(self.max_turns, int):
                raise RecordError(f"max_turns = {self.max_turns!r}: expected a whole number")
        if self.fen is not None:
            _check_text("FEN", self.fen)
        for name, value in self.headers.items():
            if name in _RESERVED or not _HEADER_NAME.fullmatch(name):
                raise RecordError(
                    f"header {_shown(name)}: expected a name such as Event, none of "
                    + ", ".join(_RESERVED)
                )
            _check_text(f"header {name}", value)
        for number, turn in enumerate(self.turns, start=1):
            _check_text(f"turn {number}", turn)
            if not _TURN.fullmatch(turn) or turn in (*RESULTS.values(), UNFINISHED):
                raise RecordError(f"turn {number}: {_shown(turn)} cannot be the text of a turn")
        if len(self.annotations) not in (0, len(self.turns)):
            raise RecordError(f"{len(self.annotations)} annotations of {len(self.turns)} turns")
        _check_text("comment", self.comment or "", MAX_GAME_CHARS, blanks="\t\n")

    @classmethod
    def from_state(
        cls,
        state: State,
        *,
        outcome: Outcome | None = None,
        annotations: Iterable[Annotation] = (),
        comment: str | None = None,
        **headers: object,
    ) -> Self:
        """Return the record of the game in `state`.

        outcome: of a game that the rules let go on, such as a resignation.
        headers: names with a capital letter, such as ``Player0="random", Seed=1``.

        Raises RecordError if the rules deny the outcome, or for a header that cannot be written.
        """
        game, start = state.game, state.copy()
        try:
            while True:
                start.undo()
        except IllegalActionError:
            pass  # at the start
        fen = start.fen()
        return cls(
            game_id=game.id,
            ruleset=game.ruleset,
            setup=game.setup,
            max_turns=game.max_turns,
            fen=None if fen == game.state().fen() else fen,
            headers={name: str(value) for name, value in headers.items()},
            turns=tuple(state.history),
            annotations=tuple(annotations),
            comment=comment,
            outcome=_agreed(state, outcome if outcome is not None else state.outcome),
        )

    def game(self) -> Game:
        """Return the game and its options. Raises RecordError if there is none such."""
        from deskovky.envs import game as registered_game  # the registry imports this package

        try:
            return registered_game(
                self.game_id, ruleset=self.ruleset, setup=self.setup, max_turns=self.max_turns
            )
        except DeskovkyError as error:
            raise RecordError(str(error)) from error

    def state(self, turn: int | None = None) -> State:
        """Return the state after the first `turn` turns, by default after all.

        Raises RecordError, naming the turn, if one is illegal or there are not so many.
        """
        count = len(self.turns) if turn is None else turn
        if not 0 <= count <= len(self.turns):
            raise RecordError(f"no turn {count}: the record has {len(self.turns)} turns")
        state = self._start()
        for index in range(count):
            self._push(state, index)
        return state

    def states(self) -> Iterator[State]:
        """Yield the start and the state after each turn, all independent. Raises RecordError."""
        state = self._start()
        yield state.copy()
        for index in range(len(self.turns)):
            self._push(state, index)
            yield state.copy()

    def check(self) -> None:
        """Raise RecordError, saying what is wrong, unless the rules agree with every turn and with
        the outcome."""
        _agreed(self.state(), self.outcome)

    def to_text(self) -> str:
        """Return the text form, ending in a line break. Raises RecordError for an unknown game."""
        headers = {"Game": self.game_id, "Ruleset": self.ruleset, "Setup": self.setup}
        if self.max_turns is not None:
            headers["MaxTurns"] = str(self.max_turns)
        if self.fen is not None:
            headers["FEN"] = self.fen
        headers |= {**self.headers, "Result": self.result}
        if self.outcome is not None:
            headers["Termination"] = self.outcome.termination
        lines = [f'[{name} "{_escaped(value, chr(34))}"]' for name, value in headers.items()]
        # One break between blanks: words are never cut and keep their hyphens.
        moves = textwrap.fill(
            " ".join(self._words()), _LINE, break_long_words=False, break_on_hyphens=False
        )
        return "\n".join([*lines, "", moves, ""])

    @staticmethod
    def from_text(text: str) -> "Record":
        """Return the one game in `text`, of either form, replayed. Raises RecordError."""
        records = list(read_records(io.StringIO(text)))
        if len(records) != 1:
            raise RecordError(f"expected one game, not {len(records)}")
        return records[0]

    def to_json(self) -> str:
        """Return the JSON form: one line, without a line break."""
        parts: dict[str, Any] = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "game": self.game_id,
            "ruleset": self.ruleset,
            "setup": self.setup,
            "max_turns": self.max_turns,
            "fen": self.fen,
            "headers": dict(self.headers),
            "comment": self.comment,
            "turns": list(self.turns),
            "annotations": [annotation.to_json() for annotation in self.annotations],
            "result": self.result,
            "termination": self.outcome and str(self.outcome.termination),
        }
        return json.dumps(parts, ensure_ascii=False, allow_nan=False)

    @property
    def result(self) -> str:
        """``1-0``, ``0-1``, ``1/2-1/2`` or ``*``."""
        return UNFINISHED if self.outcome is None else RESULTS[self.outcome.winner]

    def _start(self) -> State:
        try:
            return self.game().state(self.fen)
        except DeskovkyError as error:
            raise RecordError(str(error)) from error

    def _push(self, state: State, index: int) -> None:
        """Make a turn; the last one may be unfinished."""
        turn, is_last = self.turns[index], index + 1 == len(self.turns)
        try:
            state.push(turn)
        except IllegalActionError as error:
            try:
                if not is_last:
                    raise
                for action in steps_from_text(state, turn):
                    state.apply(action)
            except IllegalActionError:
                raise RecordError(f"turn {index + 1}: {error}") from error

    def _words(self) -> Iterator[str]:
        """Yield the words of the turns, the comments and the result."""

        def words(comment: str | None) -> list[str]:
            text = " ".join((comment or "").split())
            return ("{" + _escaped(text, "}") + "}").split(" ") if text else []

        yield from words(self.comment)
        first_to_move = self._start().to_move
        needs_number = True
        for index, turn in enumerate(self.turns):
            number, player = divmod(index + first_to_move, 2)
            if player == 0 or needs_number:
                yield f"{number + 1}." + ".." * player
            yield turn
            noted = words(self.annotations[index].comment if self.annotations else None)
            yield from noted
            needs_number = bool(noted)
        yield self.result


def read_records(source: str | os.PathLike[str] | Iterable[str]) -> Iterator[Record]:
    """Yield the games of a file one by one, each replayed, in whichever form it is.

    source: a path, or lines of text such as an open file.

    Raises OSError if the file cannot be opened, and RecordError, naming the file, the game and the
    turn, at the first game that is malformed or denied by the rules.
    """
    if not isinstance(source, str | os.PathLike):
        yield from _read(source)
        return
    with open(source, encoding="utf-8-sig") as file:
        try:
            # No line is read beyond the limit.
            yield from _read(iter(lambda: file.readline(MAX_GAME_CHARS + 1), ""))
        except UnicodeDecodeError as error:
            raise RecordError(f"{os.fspath(source)}: not UTF-8: {error}") from error
        except RecordError as error:
            raise RecordError(f"{os.fspath(source)}: {error}") from error


def read_record(path: str | os.PathLike[str], number: int = 1) -> Record:
    """Return one game of a file, counted from 1; those before it are read as well.

    Raises RecordError if there is none, otherwise as `read_records`.
    """
    if number >= 1:
        for record in islice(read_records(path), number - 1, None):
            return record
    raise RecordError(f"{os.fspath(path)} holds no game {number}")


class RecordWriter:
    """Writes games to a file, in the text form or, if its name ends in ``.jsonl``, as JSON lines.

    A context manager, which makes the folder if there is none. The games go to a file aside, each
    as it comes, which takes the place of `path` at the end. Left by an error, it stays beside
    `path` as ``path.tmp`` with the games so far, and `path` is as it was.

    >>> with RecordWriter("games.jsonl") as writer:  # doctest: +SKIP
    ...     writer.write(Record.from_state(state))
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: expected a file to write games to")
        self._is_json = self.path.suffix == ".jsonl"
        self._aside = self.path.with_name(f"{self.path.name}.tmp")
        self._num_games = 0
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self._aside, "w", encoding="utf-8", newline="\n")

    def write(self, record: Record) -> None:
        """Write one game, all of it or, after an error, nothing. Raises RecordError, OSError."""
        if self._is_json:
            text = record.to_json() + "\n"
        else:
            text = "\n" * bool(self._num_games) + record.to_text()
        self._file.write(text)
        self._file.flush()
        self._num_games += 1

    def close(self) -> None:
        """Put the file in its place."""
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._aside, self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self._file.close()


def write_records(path: str | os.PathLike[str], records: Iterable[Record]) -> None:
    """Write games to `path`, as `RecordWriter` does. Raises RecordError, OSError."""
    with RecordWriter(path) as writer:
        for record in records:
            writer.write(record)


# --- Reading --------------------------------------------------------------------------------------


def _read(lines: Iterable[str]) -> Iterator[Record]:
    for number, (line, text) in enumerate(_games(lines), start=1):
        try:
            if len(text) > MAX_GAME_CHARS:
                raise RecordError(f"longer than {MAX_GAME_CHARS} characters")
            yield _record_of_json(text) if text.startswith("{") else _record_of_text(text)
        except RecordError as error:
            raise RecordError(f"game {number} (line {line}): {error}") from error


def _games(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the text of each game and the number of its first line.

    Stops after a game that is too long, all of which nobody should keep in memory.
    """
    game: list[str] = []
    start = length = 0
    has_turns = is_in_comment = False
    for number, line in enumerate(lines, start=1):
        is_header = line.startswith("[") and not is_in_comment
        if game and is_header and has_turns:
            yield start, "".join(game)
            game = []
        if not game:
            if not line.strip():
                continue
            if line.startswith("{"):  # a JSON line
                yield number, line
                continue
            start, length, has_turns = number, 0, False
        game.append(line)
        length += len(line)
        if length > MAX_GAME_CHARS:
            break
        if not is_header and line.strip():
            has_turns = True
            is_in_comment = _ends_in_comment(line, is_in_comment)
    if game:
        yield start, "".join(game)


def _ends_in_comment(line: str, is_in_comment: bool) -> bool:
    for mark in re.findall(r"\\.|[{}]", line):
        if mark in "{}":
            is_in_comment = mark == "{" or (is_in_comment and mark != "}")
    return is_in_comment


def _record_of_text(text: str) -> Record:
    headers, position = _headers(text)
    turns: list[str] = []
    comments: list[list[str]] = [[]]  # before the first turn and after each
    result = None
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise RecordError("a brace without its partner: the file may be cut off")
        comment, _, word = token.groups()
        if comment is not None:
            comments[-1] += _unescaped(comment).split()
        elif word is not None and result is not None:
            raise RecordError(f"{_shown(word)} after the result {result}")
        elif word in (*RESULTS.values(), UNFINISHED):
            result = word
        elif word is not None:
            turns.append(word)
            comments.append([])
        position = _BLANKS.match(text, token.end()).end()  # type: ignore[union-attr]
    if result is None:
        raise RecordError("no result behind the turns: the file may be cut off")
    if headers.get("Result", result) != result:
        raise RecordError(f"the header says {headers['Result']}, the turns end in {result}")
    notes = [Annotation(comment=" ".join(words) or None) for words in comments]
    record = Record(
        game_id=_required(headers, "Game"),
        ruleset=headers.get("Ruleset", "standard"),
        setup=headers.get("Setup", "default"),
        max_turns=_max_turns(headers.get("MaxTurns")),
        fen=headers.get("FEN"),
        headers={name: value for name, value in headers.items() if name not in _RESERVED},
        turns=tuple(turns),
        annotations=tuple(notes[1:]) if any(comments[1:]) else (),
        comment=notes[0].comment,
    )
    return _replayed(record, result, headers.get("Termination"))


def _headers(text: str) -> tuple[dict[str, str], int]:
    """Return the headers and where the turns begin."""
    headers: dict[str, str] = {}
    position = 0
    while text.startswith("[", position):
        end = text.find("\n", position)
        line = text[position : end if end >= 0 else len(text)].rstrip()
        found = _HEADER_LINE.fullmatch(line)
        if found is None:
            raise RecordError(f'{_shown(line)} is no header: expected [Name "text"]')
        if found[1] in headers:
            raise RecordError(f"header {found[1]} is given twice")
        headers[found[1]] = _unescaped(found[2])
        position = _BLANKS.match(text, position + len(line)).end()  # type: ignore[union-attr]
    return headers, position


def _max_turns(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch("[0-9]{1,10}", text):
        raise RecordError(f"MaxTurns {_shown(text)}: expected a whole number")
    return int(text)


def _record_of_json(line: str) -> Record:
    def no_constant(name: str) -> float:
        raise ValueError(f"{name} is no JSON")

    try:
        parts = json.loads(line, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not a JSON object: {error}") from error
    if not isinstance(parts, dict) or parts.get("format") != FORMAT:
        raise RecordError(f"not a game: expected an object of format {FORMAT!r}")
    if parts.get("version") != FORMAT_VERSION:
        raise RecordError(f"version {_shown(parts.get('version'))}: expected {FORMAT_VERSION}")
    known = {
        *("format", "version", "game", "ruleset", "setup", "max_turns", "fen", "headers"),
        *("comment", "turns", "annotations", "result", "termination"),
    }
    if unknown := sorted(set(parts) - known):
        raise RecordError(f"unknown fields: {_shown(', '.join(unknown))}")
    for name, kind in (("turns", list), ("annotations", list), ("headers", dict)):
        if not isinstance(parts.setdefault(name, kind()), kind):
            raise RecordError(f"{name}: expected a {kind.__name__}, not {_shown(parts[name])}")
    record = Record(
        game_id=_required(parts, "game"),
        ruleset=parts.get("ruleset", "standard"),
        setup=parts.get("setup", "default"),
        max_turns=parts.get("max_turns"),
        fen=parts.get("fen"),
        headers=parts["headers"],
        turns=tuple(parts["turns"]),
        annotations=tuple(map(_annotation_of_json, parts["annotations"])),
        comment=parts.get("comment"),
    )
    return _replayed(record, _required(parts, "result"), parts.get("termination"))


def _annotation_of_json(parts: Any) -> Annotation:
    if not isinstance(parts, dict):
        raise RecordError(f"annotations: {_shown(parts)} is no object")
    if unknown := sorted(set(parts) - set(Annotation.__dataclass_fields__)):
        raise RecordError(f"annotations: unknown fields {_shown(', '.join(unknown))}")
    return Annotation(**parts)


def _required(parts: Mapping[str, Any], name: str) -> str:
    if name not in parts:
        raise RecordError(f"{name} is missing")
    text = parts[name]
    _check_text(name, text)
    return str(text)


def _replayed(record: Record, result: str, termination: str | None) -> Record:
    """Return `record` with its outcome, once its turns and its result prove right."""
    state = record.state()
    if termination is not None:
        _check_text("Termination", termination)
    winners = {text: winner for winner, text in RESULTS.items()}
    if result == UNFINISHED and termination is None:
        return replace(record, outcome=_agreed(state, None))
    if result not in winners:
        raise RecordError(f"result {_shown(result)} with termination {_shown(termination)}")
    if termination is None and state.outcome is not None:
        termination = state.outcome.termination
    if termination is None:
        raise RecordError(f"the result is {result}, but the rules let the game go on")
    reason = Termination(termination) if termination in list(Termination) else termination
    # A game of the user's may end by a rule of its own.
    return replace(record, outcome=_agreed(state, Outcome(winners[result], reason)))  # type: ignore[arg-type]


def _agreed(state: State, outcome: Outcome | None) -> Outcome | None:
    """Return `outcome`. Raises RecordError if the rules deny it."""
    ruled = state.outcome
    if ruled is not None:
        if outcome != ruled:
            raise RecordError(f"the record says {_told(outcome)}, the rules say {_told(ruled)}")
        return ruled
    if outcome is None:
        return None
    winners: dict[str, tuple[int | None, ...]] = {
        Termination.RESIGNATION: (0, 1),
        Termination.ILLEGAL_ACTION: (1 - state.to_move,),
        Termination.MAX_TURNS: (None,),
    }
    if outcome.winner not in winners.get(outcome.termination, ()):
        raise RecordError(f"the record says {_told(outcome)}, but by the rules the game goes on")
    return outcome


def _told(outcome: Outcome | None) -> str:
    if outcome is None:
        return "that the game goes on"
    return f"{RESULTS[outcome.winner]} by {outcome.termination}"


# --- Texts ----------------------------------------------------------------------------------------

_BLANKS = re.compile(r"\s*")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def _check_text(
    name: str, text: object, max_chars: int = _MAX_TEXT_CHARS, blanks: str = ""
) -> None:
    """Raise RecordError unless `text` is a text of sane length that files can hold."""
    if not isinstance(text, str):
        raise RecordError(f"{name}: expected a text, not {_shown(text)}")
    if len(text) > max_chars:
        raise RecordError(f"{name}: longer than {max_chars} characters: {_shown(text)}")
    control = _CONTROL.search(text.translate(dict.fromkeys(map(ord, blanks), " ")))
    if control:
        raise RecordError(f"{name}: {_shown(text)} holds the character {control[0]!r}")


def _check_number(name: str, value: object, low: float, high: float) -> None:
    if value is None:
        return
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high or math.isinf(value):  # type: ignore[operator, arg-type]
        raise RecordError(f"{name} = {_shown(value)}: expected a number from {low} to {high}")


def _shown(value: object) -> str:
    """Return `value` as messages show it: one line, not too long."""
    text = repr(value[:60] if isinstance(value, str) else value)
    return text if len(text) <= 80 else text[:77] + "..."


def _escaped(text: str, mark: str) -> str:
    return text.replace("\\", "\\\\").replace(mark, "\\" + mark)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
