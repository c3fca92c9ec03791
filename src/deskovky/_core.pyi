"""The native engine of deskovky: games, vectors of games and searches."""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Self, SupportsIndex

import numpy
import numpy.typing
from numpy.typing import NDArray

import deskovky.envs.protocol


class Game:
    """A native game under fixed options. See deskovky.envs.protocol.Game."""

    @property
    def id(self) -> str: ...

    @property
    def ruleset(self) -> str: ...

    @property
    def setup(self) -> str: ...

    @property
    def max_turns(self) -> int: ...

    @property
    def view(self) -> str: ...

    @property
    def num_actions(self) -> int: ...

    @property
    def action_shape(self) -> tuple[int, int, int]: ...

    @property
    def observation_shape(self) -> tuple[int, int, int]: ...

    @property
    def rulesets(self) -> tuple[str, ...]: ...

    @property
    def setups(self) -> tuple[str, ...]: ...

    @property
    def mirror_actions(self) -> numpy.typing.NDArray[numpy.int32] | None: ...

    def state(self, fen: str | None = None) -> State:
        """Return a new state at the start, or at `fen`; raises FenError."""

    def perft(self, depth: int, fen: str | None = None) -> int:
        """Count the sequences of exactly `depth` turns."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

def make_game(id: str, ruleset: str | None = None, setup: str | None = None, max_turns: object | None = None, view: str = 'relative') -> Game:
    """Return a native game; raises UnknownGameError or ConfigurationError."""

def native_game_ids() -> list[str]:
    """The ids of all games that this module was built with."""

class State:
    """One game in progress. See deskovky.envs.protocol.State."""

    @property
    def game(self) -> Game: ...

    @property
    def history(self) -> list[str]:
        """The texts of the turns so far."""

    @property
    def to_move(self) -> int:
        """The player who acts next, 0 or 1."""

    @property
    def is_turn_open(self) -> bool:
        """True between two steps of one turn."""

    @property
    def occurrences(self) -> int:
        """
        How often the position has occurred at the start of a turn, this time included.
        """

    @property
    def is_over(self) -> bool: ...

    @property
    def outcome(self) -> deskovky.envs.protocol.Outcome | None: ...

    def returns(self) -> tuple[float, float]:
        """
        Return the rewards of player 0 and 1, summed to now: +1.0, 0.0 or -1.0.
        """

    def legal_actions(self) -> numpy.typing.NDArray[numpy.int32]:
        """Return the legal actions, ascending, [k] int32."""

    def legal_action_mask(self) -> numpy.typing.NDArray[numpy.bool_]:
        """Return [num_actions] bool, true where legal."""

    def apply(self, action: SupportsIndex) -> None:
        """
        Make one step; raises IllegalActionError and changes nothing if illegal.
        """

    def undo(self) -> None:
        """Take back one step; raises IllegalActionError at the start."""

    def copy(self) -> Self:
        """Return an independent copy with the whole history."""

    def __copy__(self) -> State: ...

    def __deepcopy__(self, memo: object) -> State: ...

    def observation(self, player: int | None = None) -> numpy.typing.NDArray[numpy.float32]:
        """
        Return [planes, ranks, files] float32, seen by `player` (default: to_move).
        """

    def fen(self) -> str:
        """Return the position as FEN, without the history."""

    def action_to_text(self, action: SupportsIndex) -> str:
        """Return the move text of one step."""

    def action_from_text(self, text: str) -> int:
        """Return the legal action with that text; raises IllegalActionError."""

    def turns(self, limit: int | None = None) -> list[str]:
        """Return the legal turns as text, at most `limit`."""

    def push(self, turn: str) -> None:
        """
        Make a whole turn given as text; raises IllegalActionError and changes nothing.
        """

    def key(self) -> int:
        """Return the 64-bit repetition key of the position."""

    def num_pieces(self, player: int) -> int:
        """Return how many pieces `player` has on the board."""

    def svg(self, **options: Any) -> str:
        """
        Return the picture as SVG text; the options are those of deskovky.envs.drawing.draw.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

    __hash__: None = None

def restore_state(game: Game, start_fen: object, actions: Iterable) -> State:
    """
    Return the state after `actions` from `start_fen`: what pickling stores.
    """

class VectorEngine:
    """
    N games stepped by native threads into arrays that the next call overwrites.
    """

    def __init__(self, game: Game, num_envs: int, num_threads: int = 1, seed: int = 0, autoreset: str = 'next_step', opening_turns: int = 0) -> None: ...

    @property
    def game(self) -> Game: ...

    @property
    def num_envs(self) -> int: ...

    @property
    def observations(self) -> numpy.typing.NDArray[numpy.float32]:
        """[N, C, H, W] float32, seen by the player to move; read-only."""

    @property
    def final_observations(self) -> numpy.typing.NDArray[numpy.float32]:
        """
        [N, C, H, W] float32, the last one of each game that this step ended; same-step only.
        """

    @property
    def legal_action_mask(self) -> numpy.typing.NDArray[numpy.bool_]:
        """[N, A] bool, true where legal; read-only."""

    @property
    def to_move(self) -> numpy.typing.NDArray[numpy.int8]:
        """[N] int8."""

    @property
    def rewards(self) -> numpy.typing.NDArray[numpy.float32]:
        """[N, 2] float32, of player 0 and 1 in this step."""

    @property
    def terminated(self) -> numpy.typing.NDArray[numpy.bool_]:
        """[N] bool: a rule ended the game in this step."""

    @property
    def truncated(self) -> numpy.typing.NDArray[numpy.bool_]:
        """[N] bool: the cap max_turns ended the game in this step."""

    @property
    def termination(self) -> numpy.typing.NDArray[numpy.int8]:
        """[N] int8: why this step ended the game, 0 where it did not."""

    def reset(self, seed: int | None = None, mask: numpy.typing.NDArray[numpy.bool_] | None = None) -> None:
        """Start all games anew, or those where `mask`, [N] bool, is true."""

    def step(self, actions: Annotated[NDArray, dict(writable=False)], active: Annotated[NDArray, dict(writable=False)] | None = None) -> None:
        """
        Step all games, or those where `active`, [N] bool, is true; `actions` is [N] int32 or int64. Raises IllegalActionError, naming the game, before anything changes.
        """

    def sample_actions(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        Return a uniformly random legal action of each game, [N] int32; 0 where it has ended.
        """

    def state(self, i: int) -> State:
        """Return a copy of the state of game `i`."""

class DobutsuSolution:
    """The solution of Dobutsu in a table, see envs/dobutsu/solver.hpp."""

    def __init__(self, table: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def values(self, states: Sequence[State]) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32]]:
        """Return values and distances, [n] int32 each, of native states."""

    def values_of_observations(self, observations: numpy.typing.NDArray[numpy.float32], game: Game) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32]]:
        """
        The same of observations [n, 17, 4, 3], as the player to move sees them.
        """

    def action_values(self, states: Sequence[State]) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32]]:
        """
        Return values and distances, [n, 132] int32 each, of all actions of native states;
        where illegal, -2 and -1.
        """

    def action_values_of_observations(self, observations: numpy.typing.NDArray[numpy.float32], game: Game) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32]]:
        """
        The same of observations [n, 17, 4, 3], as the player to move sees them.
        """

    def count_errors(self, num_threads: int, progress: Callable) -> int:
        """
        Return how many entries differ from what the rules and their successors say.
        """

    def count_reachable(self, num_threads: int, progress: Callable[[str, int, int], object]) -> dict[str, int]:
        """Count the positions that can be reached from the start."""

def solve_dobutsu(table: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], num_threads: int, progress: Callable) -> None:
    """
    Fill `table`, [num_dobutsu_entries()] uint8, with the solution of Dobutsu.

    progress(stage, done, total) is called now and then; what it raises ends the work.
    """

def num_dobutsu_entries() -> int:
    """Return the number of entries in the solution of Dobutsu."""

def dobutsu_entry(state: object) -> int:
    """
    Return the index of the entry of a state; -1 if it needs none or can have none.
    """

def dobutsu_entry_fen(index: int) -> str:
    """Return the position of an entry, with player 0 to move."""

def dobutsu_entry_predecessors(index: int) -> list[int]:
    """
    Return the entries from which a turn leads to an entry, as the solver finds them.
    """

class MinimaxResult:
    """What a minimax search found."""

    @property
    def action(self) -> int:
        """The best action."""

    @property
    def score(self) -> int:
        """
        For the player to move, in hundredths of the weakest piece; a win that ends the game after n turns is 1,000,000 - n, a loss -1,000,000 + n.
        """

    @property
    def value(self) -> float:
        """
        For the player to move, in [-1, 1]: +1 or -1 if proven, else the score squashed.
        """

    @property
    def turns_to_end(self) -> int | None:
        """
        After how many turns a proven win or loss ends the game; None if nothing is proven.
        """

    @property
    def depth(self) -> int:
        """
        How many turns ahead was searched. Less than asked for once a win or loss is proven, which no deeper search changes.
        """

    @property
    def nodes(self) -> int:
        """How many positions were visited, those of quiescence included."""

    @property
    def table_bytes(self) -> int:
        """The size of the transposition table in the end."""

    @property
    def principal_variation(self) -> list[int]:
        """The best play of both, as actions, `action` first."""

def minimax(state: deskovky.envs.protocol.State, *, depth: int | None = None, nodes: int | None = None, time_ms: float | None = None, seed: int = 0, table_mb: int = 16, weights: Sequence[int] | None = None) -> MinimaxResult:
    """
    Search a state by iterative deepening alpha-beta, until the first limit.

    `depth` is in turns; without it late quiet actions are searched less deep and a draw scores -30. The first turn is always searched. `seed` decides between equal actions. `table_mb` bounds the transposition table in MiB. `weights`: those of `evaluation_weights`, in that order, or others. Raises IllegalActionError if the game is over, ConfigurationError for a limit out of range or none and for weights that do not fit.
    """

def check_minimax_options(*, depth: int | None, nodes: int | None, time_ms: float | None, table_mb: int) -> None:
    """Raise ConfigurationError if `minimax` would."""

class MctsResult:
    """What a Monte Carlo tree search found: its tree."""

    @property
    def action(self) -> int:
        """
        The best action: a proven win, else the most visited that is not proven lost.
        """

    @property
    def value(self) -> float:
        """
        The mean result for the player to move, in [-1, 1]; the exact one if proven.
        """

    @property
    def is_proven(self) -> bool:
        """
        True if `value` is the result under perfect play; the search stopped there.
        """

    @property
    def simulations(self) -> int:
        """How many were made."""

    @property
    def visit_counts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """[num_actions] int32."""

    @property
    def node_parents(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        [nodes] int32: the index of each node's parent. The root is node 0, its parent -1.
        """

    @property
    def node_actions(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """[nodes] int32: the action that leads to the node; 0 at the root."""

    @property
    def node_visits(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """[nodes] int32. Children never visited are nodes too."""

    @property
    def node_values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        [nodes] float64: the mean or proven result for player 0; 0 if never visited.
        """

    @property
    def node_is_proven(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]:
        """[nodes] bool."""

def mcts(state: deskovky.envs.protocol.State, *, simulations: int, exploration: float, seed: int = 0) -> MctsResult:
    """
    Search a state by UCT with uniformly random rollouts to the end of the game.

    Stops early once the result is proven. `exploration` is the factor c of UCT. Raises IllegalActionError if the game is over, ConfigurationError for a value out of range.
    """

def check_mcts_options(*, simulations: int, exploration: float) -> None:
    """Raise ConfigurationError if `mcts` would."""

def greedy_actions(state: deskovky.envs.protocol.State) -> numpy.typing.NDArray[numpy.int32]:
    """
    Return the actions that win at once; if none, those that capture; if none, all legal ones: [k] int32, ascending. Raises IllegalActionError if the game is over.
    """

def evaluate(state: deskovky.envs.protocol.State) -> int:
    """
    Return what minimax thinks of an unfinished position without looking ahead: hundredths of the weakest piece, for the player to move.
    """

def quiescence(state: deskovky.envs.protocol.State) -> int:
    """
    Return what minimax thinks of a position where its depth is used up: as `evaluate`, but captures and other urgent actions are followed until the position is quiet. A win after n turns is 999,000 - n. Raises IllegalActionError if the game is over.
    """

def evaluation_weights(state: deskovky.envs.protocol.State) -> dict[str, int]:
    """
    Return what the evaluation of the state's game counts, and what one of it is worth in hundredths of the weakest piece.
    """

def evaluation_features(state: deskovky.envs.protocol.State) -> numpy.typing.NDArray[numpy.int32]:
    """
    Return how many of each term of `evaluation_weights` the player to move has more than the enemy: [terms] int32. Times the weights they are `evaluate`.
    """

class GumbelSearch:
    """
    Gumbel AlphaZero search over many games at once (Danihelka et al. 2022).

    Call `set_roots`, then `collect` and `update` in turn until `collect` returns no row, then
    `results`. All values lie in [-1, 1], for the player to move. A drawn game is worth
    -`contempt` to the player at the root, so that a position at least that good is played on.
    """

    def __init__(self, num_simulations: int = 64, *, max_considered_actions: int = 16, gumbel_scale: float = 1.0, c_visit: float = 50.0, c_scale: float = 1.0, contempt: float = 0.0, num_threads: int = 1) -> None: ...

    def set_roots(self, states: Sequence[deskovky.envs.protocol.State], seed: int = 0) -> None:
        """
        Start a search from copies of `states`, all of one game and not over.

        The Gumbel noise of each depends on `seed` and its index alone.
        """

    def collect(self) -> numpy.typing.NDArray[numpy.float32]:
        """
        Return the observations of the leaves to evaluate, [n, C, H, W] float32, at most one
        a game, each seen by its player to move; the next `collect` overwrites them.

        n = 0: the search is done.
        """

    def update(self, prior_logits: numpy.typing.NDArray[numpy.float32], values: numpy.typing.NDArray[numpy.float32]) -> None:
        """
        Give the collected leaves their logits, [n, A] float32, of which only those of legal
        actions are read, and their values, [n] float32.
        """

    def results(self) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.int32]]:
        """
        Return the chosen actions [B] int32, the improved policies [B, A] float32 (the
        targets of learning), their values [B] float32 and the visit counts [B, A] int32.
        """

    def tree(self, i: int) -> list[tuple[int, int, int, int, float, float, float]]:
        """
        Return the nodes of game i in the order they were made, each as (parent, action from
        it, player to move, visits, logit of the action, value by the network or the rules,
        mean value of its simulations); the parent and action of the root are -1.
        """

def encode_positions(start: deskovky.envs.protocol.State, actions: Sequence[int], first: int = 0) -> tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.bool_], numpy.typing.NDArray[numpy.int8]]:
    """
    Return the positions before each of `actions`, made from `start`, those before the first
    `first` left out: observations [n, C, H, W] float32, seen by the player to move, the legal
    action mask [n, A] bool and the player to move [n] int8. Raises IllegalActionError.
    """
