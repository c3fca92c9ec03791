"""The command `deskovky play`: people and agents at one board, in the terminal.

What is typed is a turn, a step of one, or a command. It works from a pipe as well. Every turn is
kept in a file at once, so that whatever ends the program ends no game.
"""

import difflib
import io
import os
import re
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import platformdirs
import tyro
from rich.console import Console

import deskovky as dk
from deskovky.agents import Agent
from deskovky.agents.analysis import analyse
from deskovky.agents.protocol import check_plays
from deskovky.agents.registry import agents as agent_names
from deskovky.envs import canonical_id
from deskovky.envs.protocol import Outcome, State, Termination
from deskovky.envs.records import (
    Annotation,
    Record,
    read_record,
    read_records,
    write_records,
)
from deskovky.envs.support import illegal_action_error, piece_names, steps_from_text
from deskovky.errors import ConfigurationError, DeskovkyError, IllegalActionError
from deskovky.terminal import SIDES, board_view, outcome_text

HUMAN = "human"
HINT = "minimax:time_ms=1000"  # of whom hints come if no agent plays
MAX_MOVES = 1000  # that completion and advice look at; flying kings can have far more turns
NUM_SHOWN = 40  # of the legal moves, in a message

HELP = """\
Type a turn as text, such as b2b3, C@b2 (a drop) or b1d3f5 (jumps), or one step of it at a time.
Tab completes. Besides there are:

  moves [START]      list the legal turns, or those that begin so
  undo               take back your last turn, or your last step inside a turn
  hint [AGENT]       what an agent would play
  flip               turn the board
  fen                the position as FEN
  save FILE          write the game; FILE.jsonl as JSON lines, else as text; `save!` overwrites
  load FILE [N]      go on with the game of a file, the N-th of it
  resign             give up
  new                start a new game
  help, quit

White is player 0, who moves first, in every game; white's pieces are capitals.
"""


@dataclass
class Play:
    """Play a game in the terminal, against an agent or somebody, or watch two agents play."""

    game: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAME")]
    """id of the game, see `deskovky games`"""
    white: str = HUMAN
    """who is player 0 and moves first: human or an agent spec"""
    black: str = "minimax:time_ms=500"
    """who is player 1: human or an agent spec"""
    ruleset: str | None = None
    """one of the game's rulesets; by default the standard one"""
    setup: str | None = None
    """one of the game's named start positions; by default the default one"""
    max_turns: int | None = None
    """turns after which a game is cut off; by default the game's own cap"""
    fen: str | None = None
    """position to start from; by default that of the setup"""
    load: Path | None = None
    """record to go on with, the first game of the file"""
    resume: bool = False
    """go on with the unfinished game that was kept last"""
    seed: int | None = None
    """seed of the agents"""
    pause: float = 0.0
    """seconds to wait after each turn of an agent"""
    keep: Path | None = None
    """folder in which games are kept while they are played; by default one of the system's"""

    def run(self) -> None:
        """Play until the end, `quit` or the end of the input. Raises DeskovkyError."""
        if not 0 <= self.pause <= 3600:
            raise ConfigurationError(f"pause = {self.pause}: expected seconds, 0 to 3600")
        session = Session(
            (self.white, self.black),
            keep=self.keep or platformdirs.user_state_path("deskovky") / "games",
            seed=self.seed,
            pause=self.pause,
        )
        options = (self.ruleset, self.setup, self.max_turns, self.fen)
        is_given = self.load is not None or self.resume
        if (self.load is not None and self.resume) or (is_given and any(options)):
            raise ConfigurationError(
                "--load and --resume bring a game with all its options: give none besides"
            )
        if self.load is not None:
            session.put(read_record(self.load))
        elif self.resume:
            session.resume(canonical_id(self.game))
        else:
            game = dk.game(
                self.game, ruleset=self.ruleset, setup=self.setup, max_turns=self.max_turns
            )
            session.start(game.state(self.fen))
        if session.state.game.id != canonical_id(self.game):
            raise ConfigurationError(f"{self.load} is a game of {session.state.game.id}")
        session.run()


class Session:
    """A board, its two players and the file in which the game is kept.

    players: for player 0 and player 1 ``"human"`` or an agent spec.
    keep: the folder of games in play. `start`, `put` or `resume` before `run`.
    """

    state: State

    def __init__(
        self, players: tuple[str, str], *, keep: Path, seed: int | None = None, pause: float = 0.0
    ) -> None:
        self.players = players
        self.agents = [
            None if spec == HUMAN else dk.agent(spec, seed=None if seed is None else seed + player)
            for player, spec in enumerate(players)
        ]
        self.console = Console(highlight=False, markup=False, emoji=False)
        # Whoever plays alone sits at the bottom.
        self.perspective = int(self.agents[0] is not None and self.agents[1] is None)
        self._keep, self._seed, self._pause = keep, seed, pause
        self._is_typed = sys.stdin.isatty()

    # --- The game ---------------------------------------------------------------------------------

    def start(self, state: State) -> None:
        """Put a game on the board. Raises the error of an agent that does not play it."""
        for agent in self.agents:
            check_plays(agent, state.game)
        self.state = state
        self._first = state.copy()
        self._resigned: Outcome | None = None
        self._headers: dict[str, str] = {}
        self._annotations: tuple[Annotation, ...] = ()
        self._comment: str | None = None
        self._kept: Path | None = None
        self._written: Path | None = None  # where `save` may write again without asking
        self._is_changed = False

    def put(self, record: Record) -> None:
        """Put a recorded game on the board."""
        state = record.state()
        self.start(state)
        self._first = record.state(0)
        self._resigned = None if state.is_over else record.outcome
        self._headers = dict(record.headers)
        self._annotations, self._comment = record.annotations, record.comment

    def resume(self, game_id: str) -> None:
        """Put the last game on the board that was kept unfinished. Raises ConfigurationError."""
        for path in sorted(self._keep.glob(f"{game_id}-*.pgn"), reverse=True):
            if all(record.outcome is None for record in read_records(path)):
                self.put(read_record(path))
                self._kept = path
                return
        raise ConfigurationError(f"no unfinished game of {game_id} is kept in {self._keep}")

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, by rule or by resignation."""
        return self.state.outcome or self._resigned

    def record(self) -> Record:
        """Return the record of the game so far."""
        annotations = self._annotations
        if annotations:  # of the loaded game; there may be more turns by now, or fewer
            count = len(self.state.history)
            annotations = (*annotations, *[Annotation()] * count)[:count]
        return Record.from_state(
            self.state,
            outcome=self.outcome,
            annotations=annotations,
            comment=self._comment,
            **self._headers,
        )

    def step(self, actions: list[int]) -> None:
        """Make legal steps, and keep the game."""
        for action in actions:
            self.state.apply(action)
        self.changed()

    def changed(self) -> None:
        """Note who plays, and keep the game as it is now."""
        self._headers |= {
            "Player0": self.players[0],
            "Player1": self.players[1],
            "Date": self._headers.get("Date", datetime.now().strftime("%Y.%m.%d")),
        }
        if self._seed is not None:
            self._headers["Seed"] = str(self._seed)
        self._is_changed = True
        if self._kept is None:
            stamp = datetime.now().strftime("%Y%m%d-%H%M%S-%f")
            self._kept = self._keep / f"{self.state.game.id}-{stamp}-{os.getpid()}.pgn"
        try:
            if not self.state.history and self.outcome is None:  # all was taken back
                self._kept.unlink(missing_ok=True)
                return
            self._keep.mkdir(parents=True, exist_ok=True)
            write_records(self._kept, [self.record()])
        except OSError as error:
            self.say(f"The game cannot be kept: {error}", "yellow")

    # --- The loop ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Play until the end, `quit` or the end of the input."""
        if self._is_typed:
            complete_with(self.completions)
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # bytes that are no text are no move
        self.say(f"{self.state.game.id}: {' against '.join(self.players)}. `help` lists commands.")
        self.show()
        try:
            while self.go_on():
                pass
        except KeyboardInterrupt:
            self.say("")
            raise
        finally:
            self.farewell()

    def go_on(self) -> bool:
        """Let whoever is to move act; return False at the end."""
        agent = None if self.outcome else self.agents[self.state.to_move]
        if agent is not None:
            self.play_agent(agent)
            return True
        if self.outcome and None not in self.agents:
            return False
        side = f"{SIDES[self.state.to_move]}> " if self.outcome is None else "over> "
        try:
            line = input(side if self._is_typed else "")
        except EOFError:
            if self._is_typed:
                self.say("")
            return False
        return self.obey(line.strip())

    def play_agent(self, agent: Agent) -> None:
        """Let an agent make its whole turn."""
        player = self.state.to_move
        while True:
            with self.console.status(f"{SIDES[player]} ({agent.name}) is thinking"):
                action = int(agent.act(self.state))
            try:
                self.step([action])
            except IllegalActionError:
                who = f"agent {agent.name!r}"
                raise illegal_action_error(self.state, action, who) from None
            if self.state.is_over or not self.state.is_turn_open:
                break
        self.show(f"{SIDES[player]} plays {self.state.history[-1]}")
        time.sleep(self._pause)

    def obey(self, line: str) -> bool:
        """Do what a line says; return False if that is to leave."""
        word, _, rest = line.partition(" ")
        if word in ("quit", "exit"):
            return False
        command = COMMANDS.get(word)
        try:
            if command is not None:
                command(self, rest.strip())
            elif line:
                self.play_text(line)
        except (DeskovkyError, OSError) as error:
            self.say(str(error), "red")
        return True

    def play_text(self, text: str) -> None:
        """Make the turn or the steps that a person typed. Raises IllegalActionError."""
        if self.outcome is not None:
            raise IllegalActionError("the game is over; there are undo, new, load, save and quit")
        self.step(understood(self.state, text))
        self.show()

    def farewell(self) -> None:
        """Say where the game is kept, if it is not saved."""
        if not self._is_changed or self._kept is None or not self._kept.exists():
            return
        self.say(f"The game is kept in {self._kept}")
        if self.outcome is None:
            words = ["--white", self.players[0], "--black", self.players[1], "--resume"]
            command = shlex.join(["deskovky", "play", self.state.game.id, *words])
            self.say(f"To go on with it: {command}")

    # --- What is said -----------------------------------------------------------------------------

    def say(self, text: str, style: str = "") -> None:
        """Print a line."""
        self.console.print(text, style=style, soft_wrap=True)

    def show(self, what: str = "") -> None:
        """Print the board and what comes next."""
        self.say("")
        if what:
            self.say(what, "bold")
        self.console.print(board_view(self.state, self.perspective))
        player = self.state.to_move
        if self.outcome is not None:
            first, second = (
                self._headers.get(f"Player{i}", name) for i, name in enumerate(self.players)
            )
            self.say(outcome_text(self.outcome, (first, second)), "bold")
        elif self.state.is_turn_open:
            self.say(f"{SIDES[player]} goes on after {self.state.history[-1]}")
        else:
            self.say(f"turn {len(self.state.history) + 1}: {SIDES[player]} to move")

    def completions(self, line: str) -> list[str]:
        """Return what may stand in the place of the last word of `line`."""
        *before, start = line.split(" ")
        if not before:
            words = [*moves(self.state), *COMMANDS, "quit"]
        elif before[0] in ("save", "save!", "load"):
            words = file_names(start)
        elif before[0] == "hint":
            words = list(agent_names())
        else:
            words = moves(self.state) if before[0] == "moves" else []
        return [word for word in words if word.startswith(start)]

    # --- Commands ---------------------------------------------------------------------------------

    def do_help(self, _: str) -> None:
        self.say(HELP)
        if names := piece_names(self.state.game):
            self.say("Pieces: " + ", ".join(f"{letter} {name}" for letter, name in names.items()))

    def do_moves(self, start: str) -> None:
        turns = [turn for turn in self.state.turns(MAX_MOVES) if turn.startswith(start)]
        if self.outcome is not None or not turns:
            self.say("There are none.")
            return
        more = f" and more: only {MAX_MOVES} were listed" if len(turns) == MAX_MOVES else ""
        self.say(f"{len(turns)}: {' '.join(turns)}{more}")

    def do_undo(self, _: str) -> None:
        """Take back steps up to where somebody decides; of an open turn only the last step."""
        if self._resigned is not None:
            self._resigned = None
        else:
            state = self.state.copy()
            try:
                state.undo()
                while self.agents[state.to_move] is not None and None in self.agents:
                    state.undo()
                while state.is_turn_open and not self.state.is_turn_open:
                    state.undo()
            except IllegalActionError:
                raise IllegalActionError("there is no turn of yours to take back") from None
            self.state = state
        self.changed()
        self.show()

    def do_hint(self, spec: str) -> None:
        if self.outcome is not None:
            raise IllegalActionError("the game is over")
        rival = self.players[1 - self.state.to_move]
        agent = dk.agent(spec or (HINT if rival == HUMAN else rival), seed=self._seed)
        with self.console.status(f"{agent.name} is thinking"):
            policy, value = analyse(agent, self.state)
        best = [action for action in (-policy).argsort(kind="stable")[:3] if policy[action] > 0]
        shares = [f"{self.state.action_to_text(action)} {policy[action]:.0%}" for action in best]
        expects = "" if value is None else f"; expects {value:+.2f} for {SIDES[self.state.to_move]}"
        self.say(f"{agent.name}: {', '.join(shares)}{expects}")

    def do_flip(self, _: str) -> None:
        self.perspective = 1 - self.perspective
        self.show()

    def do_fen(self, _: str) -> None:
        self.say(self.state.fen())

    def do_save(self, name: str, overwrites: bool = False) -> None:
        path = file_of(name, "save")
        if path.is_file() and path != self._written and not overwrites:
            raise ConfigurationError(f"{path} exists; `save! {name}` overwrites it")
        write_records(path, [self.record()])
        self._written = path
        self._is_changed = False
        if self._kept is not None:
            self._kept.unlink(missing_ok=True)
        self.say(f"Saved in {path}")

    def do_save_over(self, name: str) -> None:
        self.do_save(name, overwrites=True)

    def do_load(self, words: str) -> None:
        name, _, number = words.rpartition(" ")
        if not number.isdecimal() or not name:
            name, number = words, "1"
        path = file_of(name, "load")
        record = read_record(path, int(number[:9]))
        self.farewell()
        self.put(record)
        self.show()

    def do_resign(self, _: str) -> None:
        if self.outcome is not None:
            raise IllegalActionError("the game is over")
        self._resigned = Outcome(1 - self.state.to_move, Termination.RESIGNATION)
        self.changed()
        self.show()

    def do_new(self, _: str) -> None:
        self.farewell()
        self.start(self._first.copy())
        self.show()


COMMANDS: dict[str, Callable[[Session, str], None]] = {
    "help": Session.do_help,
    "moves": Session.do_moves,
    "undo": Session.do_undo,
    "hint": Session.do_hint,
    "flip": Session.do_flip,
    "fen": Session.do_fen,
    "save": Session.do_save,
    "save!": Session.do_save_over,
    "load": Session.do_load,
    "resign": Session.do_resign,
    "new": Session.do_new,
}


# --- What people type -----------------------------------------------------------------------------


def moves(state: State) -> list[str]:
    """Return the texts of the legal turns, then those of the steps that are none."""
    turns = state.turns(MAX_MOVES)
    steps = [state.action_to_text(action) for action in state.legal_actions().tolist()]
    return list(dict.fromkeys(turns + steps))


def understood(state: State, text: str) -> list[int]:
    """Return the steps that a person means by `text`, written as in the rules or nearly so.

    Raises IllegalActionError with advice if there are none, or several.

    >>> state = dk.game("dobutsu_v0").state()
    >>> understood(state, "b2b3") == understood(state, "B2-B3")
    True
    """
    try:
        return steps_from_text(state, text)
    except IllegalActionError:
        pass
    legal = moves(state)
    alike = [move for move in legal if plain(move) == plain(text)]
    if len(alike) == 1:
        return steps_from_text(state, alike[0])
    raise IllegalActionError(advice(text, legal))


def plain(text: str) -> str:
    """Return `text` without what people leave out or add."""
    return re.sub(r"[^a-z0-9@]", "", text.lower().replace("x", ""))


def advice(text: str, legal: list[str]) -> str:
    """Say that `text` is neither a command nor legal, and what it may have been meant to be."""
    shown = text if len(text) <= 40 else text[:40] + "..."
    parts = [f"{shown!r} is neither a legal move nor a command."]
    origin = re.match(r"[a-z][0-9]+", plain(text))
    from_there = [move for move in legal if origin and move.startswith(origin[0])]
    close = difflib.get_close_matches(text[:40].lower(), [*legal, *COMMANDS, "quit"], n=1)
    if close:
        parts.append(f"Did you mean {close[0]}?")
    listed = from_there or legal
    where = f"From {origin[0]}" if origin and from_there else "Legal"
    more = f" and {len(listed) - NUM_SHOWN} more" if len(listed) > NUM_SHOWN else ""
    parts.append(f"{where}: {' '.join(listed[:NUM_SHOWN])}{more}")
    return " ".join(parts)


def file_of(text: str, command: str) -> Path:
    """Return the path that a person typed, without quotation marks. Raises ConfigurationError."""
    if not text or "\0" in text:
        raise ConfigurationError(f"{command} needs the name of a file")
    return Path(text.strip("'\"")).expanduser()


def file_names(start: str) -> list[str]:
    """Return the files and folders whose path begins with `start`."""
    head, tail = os.path.split(start)
    try:
        entries = sorted(os.scandir(head or "."), key=lambda entry: entry.name)
    except OSError:
        return []
    return [
        os.path.join(head, entry.name) + "/" * entry.is_dir()
        for entry in entries
        if entry.name.startswith(tail) and not (entry.name.startswith(".") and not tail)
    ]


def complete_with(completions: Callable[[str], list[str]]) -> None:
    """Let the Tab key complete what is typed, where the system has readline."""
    try:
        import readline
    except ImportError:  # Windows
        return

    def complete(_: str, index: int) -> str | None:
        found = completions(readline.get_line_buffer()[: readline.get_endidx()].lstrip())
        if index >= len(found):
            return None
        is_whole = len(found) == 1 and not found[0].endswith("/")
        return found[index] + " " * is_whole

    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
