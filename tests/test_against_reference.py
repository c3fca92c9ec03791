"""The native engine against the slow reference rules, on random walks.

At every step of a walk the two must agree in all that a `State` tells. Random play from the start
ends early and in few ways; walks therefore also begin in random positions, some with few pieces
and with counters near their limits, and some prefer captures, advances or going back and forth.

A game is covered by being registered and by having its rules in tests/reference/: a registered game
without them fails here.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from reference import REFERENCES
from reference.dobutsu import Dobutsu
from reference.drakoburg import bannerets
from reference.xiangqi import POINTS, Move, chased, gives_check, is_general_exposed, legal_moves
from reference.xiangqi import after as moved

import deskovky as dk
from deskovky.envs.protocol import Game, State, Termination
from deskovky.envs.python_game import EMPTY, OWED_PLACEMENT, Position, PythonGame, PythonState
from deskovky.errors import FenError

SHORT_RUN = 600  # positions per game
LONG_RUN = 100_000
NUM_LONG_PARTS = 10


NATIVE_IDS = [id for id in dk.games() if not isinstance(dk.game(id), PythonGame)]


# --- Comparing ------------------------------------------------------------------------------------

GAME_FEATURES: dict[str, Callable[[Game], object]] = {
    "id": lambda game: game.id,
    "ruleset": lambda game: game.ruleset,
    "setup": lambda game: game.setup,
    "max_turns": lambda game: game.max_turns,
    "view": lambda game: game.view,
    "rulesets": lambda game: tuple(game.rulesets),
    "setups": lambda game: tuple(game.setups),
    "num_actions": lambda game: game.num_actions,
    "action_shape": lambda game: tuple(game.action_shape),
    "observation_shape": lambda game: tuple(game.observation_shape),
    "mirror_actions": lambda game: game.mirror_actions,
}

STATE_FEATURES: dict[str, Callable[[State], object]] = {
    "fen": lambda state: state.fen(),
    "to_move": lambda state: state.to_move,
    "is_turn_open": lambda state: state.is_turn_open,
    "occurrences": lambda state: state.occurrences,
    "is_over": lambda state: state.is_over,
    "outcome": lambda state: state.outcome,
    "returns": lambda state: state.returns(),
    "legal_actions": lambda state: state.legal_actions(),
    "legal_action_mask": lambda state: state.legal_action_mask(),
    "texts": lambda state: [state.action_to_text(x) for x in state.legal_actions().tolist()],
    "num_pieces": lambda state: (state.num_pieces(0), state.num_pieces(1)),
    "observation()": lambda state: state.observation(),
    "observation(0)": lambda state: state.observation(0),
    "observation(1)": lambda state: state.observation(1),
    "history": lambda state: state.history,
}
STEP_FEATURES = ("fen", "to_move", "is_turn_open", "outcome", "legal_actions", "num_pieces")
MAX_TURNS_COMPARED = 100  # there can be many thousands


def is_same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return type(one) is type(other) and one == other


def shown(value: object) -> str:
    """Return a value as text; of large arrays only what is not zero."""
    if isinstance(value, np.ndarray) and value.size > 200:
        places = [f"{[*map(int, at)]}: {value[tuple(at)]}" for at in np.argwhere(value)]
        return f"{value.dtype} {value.shape} zero but for " + ", ".join(places)
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


class Pair:
    """A native state and its reference, which step together."""

    def __init__(self, native_game: Game, reference_game: PythonGame, fen: str | None) -> None:
        self.native = native_game.state(fen)
        self.reference = reference_game.state(fen)
        self.start = self.reference.fen()
        self.native_keys: dict[int, int] = {}  # by the keys of the reference
        self.reference_keys: dict[int, int] = {}  # by the keys of the native state

    def check(self) -> None:
        """Fail if the two differ in anything."""
        for name, feature in STATE_FEATURES.items():
            self.compare(name, feature(self.native), feature(self.reference))
        self.check_key()
        # To list whole turns is slow; one position in four is enough.
        limit = MAX_TURNS_COMPARED if self.reference.key() % 4 == 0 else 1
        self.compare("turns", self.native.turns(limit), self.reference.turns(limit))

    def check_key(self) -> None:
        """Fail unless keys are equal and different for the same positions, whatever the numbers."""
        native_key, reference_key = self.native.key(), self.reference.key()
        self.compare("key", native_key, self.native_keys.setdefault(reference_key, native_key))
        known_key = self.reference_keys.setdefault(native_key, reference_key)
        self.compare("key of the reference", known_key, reference_key)

    def check_every_step(self) -> int:
        """Fail if the two differ here or after any legal action; return how many there are."""
        self.check()
        actions: list[int] = self.reference.legal_actions().tolist()
        for action in actions:
            self.both("apply", action)
            for name in STEP_FEATURES:
                feature = STATE_FEATURES[name]
                self.compare(name, feature(self.native), feature(self.reference))
            self.check_key()
            self.both("undo")
        if actions:
            self.compare("fen after undo", self.native.fen(), self.reference.fen())
            self.compare(
                "key after undo", self.native.key(), self.native_keys[self.reference.key()]
            )
        return len(actions)

    def compare(self, name: str, native: object, expected: object) -> None:
        if not is_same(native, expected):
            game = self.reference.game
            pytest.fail(
                f"{game.id}, {game.ruleset}, max_turns {game.max_turns}, {game.view} view: "
                f"{name} differs\n"
                f"native:    {shown(native)}\n"
                f"reference: {shown(expected)}\n"
                f"in  {self.reference.fen()}\nnative says {self.native.fen()}\n"
                f"from  {self.start}\nafter  {' '.join(self.reference.history) or 'nothing'}"
            )

    def both(self, name: str, *arguments: object) -> None:
        """Call a method, such as ``apply``, of both states."""
        try:
            getattr(self.native, name)(*arguments)
        except dk.DeskovkyError as error:
            self.compare(f"{name}{arguments}", error, None)
        getattr(self.reference, name)(*arguments)


# --- Where walks begin ----------------------------------------------------------------------------


def edited(game: PythonGame, position: Position, generator: random.Random) -> Position:
    """Return the position with one piece removed, moved or replaced, if that is legal."""
    board, hands = list(position.board), position.hands
    square = generator.choice([x for x, piece in enumerate(board) if piece != EMPTY])
    piece, board[square] = board[square], EMPTY
    kind = generator.choice(["remove", "remove", "move", "move", "replace", "take"])
    if kind == "move":
        empty = [x for x, piece in enumerate(board) if piece == EMPTY]
        board[generator.choice(empty)] = piece
    elif kind == "replace":
        board[square] = generator.choice(game.pieces + game.pieces.lower())
    elif kind == "take":  # into a hand, in games that have them
        own, enemy = (piece.upper(), "") if generator.random() < 0.5 else ("", piece.upper())
        hands = (hands[0] + own, hands[1] + enemy)
    return legal_or(position, game, replace(position, board=tuple(board), hands=hands))


def crowded(game: PythonGame, position: Position, generator: random.Random) -> Position:
    """Return the position with some pieces side by side on the mover's last ranks, if legal.

    There the men of draughts cannot step.
    """
    pieces = [piece for piece in position.board if piece != EMPTY]
    generator.shuffle(pieces)
    pieces = pieces[: generator.choice([3, game.num_files, 2 * game.num_files])]
    seen = [EMPTY] * (len(position.board) - len(pieces)) + pieces
    board = game.seen_board(seen, position.to_move)
    return legal_or(position, game, replace(position, board=board))


def stranded(game: PythonGame, position: Position, generator: random.Random) -> Position:
    """Return the position with up to three pieces a side, all on their last two ranks, if legal.

    There neither player of a draughts game can step.
    """
    board = list(game.no_pieces)
    for player in (0, 1):
        pieces = pieces_of(position, player)
        last = range(len(board) - 2 * game.num_files, len(board))
        for square in generator.sample(last, min(len(pieces), generator.randint(1, 3))):
            board[game.seen_square(square, player)] = generator.choice(pieces)
    return legal_or(position, game, replace(position, board=tuple(board)))


def legal_or(position: Position, game: PythonGame, changed: Position) -> Position:
    """Return `changed` as it is read from its FEN; `position` if that is rejected."""
    try:
        return game.read_fen(game.write_fen(changed))
    except FenError:
        return position


def random_start(game: PythonGame, generator: random.Random) -> str:
    """Return the FEN of a legal position, mostly one with few pieces."""
    position = game.read_fen(game.start_fens[game.setup])
    num_squares = len(position.board)
    if generator.random() < 0.5:
        position = legal_or(position, game, replace(position, to_move=1))
    kind = generator.choice(["few", "few", "few", "some", "crowd", "stranded"])
    num_edits = generator.randint(1, num_squares // 2)
    if kind == "crowd":
        position = crowded(game, position, generator)
        num_edits = generator.randrange(3)
    elif kind == "stranded":
        position = stranded(game, position, generator)
        num_edits = generator.randrange(2)
    elif kind == "few":  # down to a few pieces, strewn over the board
        num_edits = generator.randint(2, 10)
        for _ in range(num_squares):
            position = edited(game, position, generator)
            if sum(piece != EMPTY for piece in position.board) <= num_edits:
                break
    for _ in range(num_edits):
        position = edited(game, position, generator)

    position = with_counters(game, position, generator)
    return game.write_fen(with_pending(game, position, generator))


def with_counters(game: PythonGame, position: Position, generator: random.Random) -> Position:
    """Return the position with counters that are at times near their limits."""
    limit = 100 if game.quiet_limit is None else game.quiet_limit
    near_end = (game.max_turns + 1) // 2
    return replace(
        position,
        quiet=max(0, generator.choice([0, limit, limit]) - generator.randrange(6)),
        move=max(1, generator.choice([1, 1, near_end]) + generator.randint(-4, 1)),
    )


ROYALS = {"dobutsu_v0": "Ll", "xiangqi_v0": "Kk", "drakoburg_v0": "Tt"}
MOST_PIECES = {"gothic_draughts_v0": 18}  # with more the reference takes minutes
ATTACKERS = {"xiangqi_v0": "RRRRNNCC"}  # more likely than the other pieces


def scattered(game: PythonGame, generator: random.Random, most: int = 7) -> str:
    """Return the FEN of both royals and one to `most` other pieces, anywhere."""
    kinds = game.pieces + ATTACKERS.get(game.id, "")
    while True:
        others = generator.choices(kinds + kinds.lower(), k=generator.randint(1, most))
        board = list(game.no_pieces)
        for piece in (*ROYALS[game.id], *others):
            points = POINTS.get(piece.upper()) if game.id == "xiangqi_v0" else None
            square = generator.choice(sorted(points or range(len(board))))
            board[game.seen_square(square, int(piece.islower()))] = piece
        position = Position(tuple(board), generator.randrange(2))
        try:
            position = game.read_fen(game.write_fen(position))
        except FenError:
            continue
        if game.end_by_rule(position) is None:
            if generator.random() < 0.4:
                position = with_counters(game, position, generator)
            return game.write_fen(position)


def dense(game: PythonGame, generator: random.Random) -> str:
    """Return the FEN of pieces anywhere, also where play seldom leads: few, many, or all there are.

    A piece that the rules exclude there, or one too many, is left out.
    """
    board = list(game.no_pieces)
    first = ROYALS.get(
        game.id, generator.choice(game.pieces) + generator.choice(game.pieces).lower()
    )
    while True:
        squares = generator.sample(range(len(board)), len(first))
        placed = dict(zip(squares, first, strict=True))
        board = [placed.get(square, EMPTY) for square in range(len(board))]
        try:
            position = game.read_fen(game.write_fen(Position(tuple(board), generator.randrange(2))))
            break
        except FenError:
            continue
    share = generator.uniform(0.2, 0.8)  # of player 0's pieces
    most = MOST_PIECES.get(game.id, len(board))
    for square in generator.sample(range(len(board)), generator.randint(0, most)):
        kind = generator.choice(game.pieces)
        piece = kind if generator.random() < share else kind.lower()
        if position.board[square] == EMPTY:
            board = list(position.board)
            board[square] = piece
            position = legal_or(position, game, replace(position, board=tuple(board)))
        elif generator.random() < 0.5:  # into a hand, in games that have them
            own, enemy = position.hands
            hands = (own + kind, enemy) if piece.isupper() else (own, enemy + kind)
            position = legal_or(position, game, replace(position, hands=hands))
    if generator.random() < 0.3:
        position = legal_or(position, game, with_counters(game, position, generator))
    return game.write_fen(with_pending(game, position, generator))


def with_pending(game: PythonGame, position: Position, generator: random.Random) -> Position:
    """Return the position in mid-turn, at times and where its rules know that."""
    if "pending" in game.fields and generator.random() < 0.3:
        owed = [game.square_name(square) for square in range(len(position.board))]
        for pending in generator.sample([*owed, OWED_PLACEMENT], len(owed) + 1):
            position = legal_or(position, game, replace(position, pending=pending))
            if position.is_turn_open:
                break
    return position


# --- How they go on -------------------------------------------------------------------------------

Bias = Callable[[PythonState, Position], tuple[int, ...]]
"""How much a walk likes the position after a step."""


def pieces_of(position: Position, player: int) -> list[str]:
    return [x for x in position.board if x.isalpha() and x.islower() == bool(player)]


def captures(state: PythonState, after: Position) -> tuple[int, ...]:
    return (-len(pieces_of(after, 1 - state.to_move)),)


def spares(state: PythonState, after: Position) -> tuple[int, ...]:
    return (len(pieces_of(after, 1 - state.to_move)),)


def advances(state: PythonState, after: Position) -> tuple[int, ...]:
    """Promotions first, then steps towards the other side."""
    before = state.moments[-1].position
    seen = state.game.seen_board(after.board, state.to_move)
    ranks = [x // state.game.num_files for x, piece in enumerate(seen) if piece.isupper()]
    old, new = (sorted(pieces_of(x, state.to_move)) for x in (before, after))
    return (int(old != new), sum(ranks))


def goes_back(state: PythonState, after: Position) -> tuple[int, ...]:
    """Positions that have occurred, then own pieces on old squares, then what resets nothing."""
    player = state.to_move
    recent = [past.position for past in state.moments[-12:]]
    times = sum(after.is_same_placement(past) for past in recent)
    own_times = sum(squares(after, player) == squares(past, player) for past in recent)
    return (times, own_times, after.quiet)


def squares(position: Position, player: int) -> list[tuple[int, str]]:
    """Return the pieces of `player` with their squares."""
    return [
        (x, piece)
        for x, piece in enumerate(position.board)
        if piece != EMPTY and piece.islower() == bool(player)
    ]


def restricts(state: PythonState, after: Position) -> tuple[int, ...]:
    """Few replies: checks, mates and stalemates."""
    return (-len(state.game.legal_actions(after)),)


def checks(state: PythonState, after: Position) -> tuple[int, ...]:
    """Checks in Xiangqi by the player who began, mostly with one piece; both go back."""
    if state.to_move != state.moments[0].position.to_move:
        return goes_back(state, after)
    is_check = is_general_exposed(after.board, 1 - state.to_move)
    return (is_check, after.extra[state.to_move].length, *goes_back(state, after))


def chases(state: PythonState, after: Position) -> tuple[int, ...]:
    """Chases in Xiangqi by the player who began; both go back, the other one from danger."""
    before, player = state.moments[-1].position, state.to_move
    if player == state.moments[0].position.to_move:
        is_chase = bool(chased(before.board, last_move(before.board, after.board)))
        return (is_chase, *goes_back(state, after))
    dangers = {target for _, target in legal_moves(after.board, 1 - player)}
    pieces = {square for square, _ in squares(after, player)}
    return (-len(dangers & pieces), *goes_back(state, after))


def last_move(before: Sequence[str], after: Sequence[str]) -> Move:
    [origin] = [x for x, piece in enumerate(before) if piece != EMPTY and after[x] == EMPTY]
    [target] = [x for x, piece in enumerate(before) if after[x] not in (EMPTY, piece)]
    return origin, target


def breeds(state: PythonState, after: Position) -> tuple[int, ...]:
    """More bannerets of Drakoburg, then more pieces or the right to one."""
    player = state.to_move
    num_bannerets = len(bannerets(after.board, player))
    num_pieces = len(pieces_of(after, player)) + after.is_turn_open
    return (num_bannerets, num_pieces, *advances(state, after))


BIASES: list[Bias | None] = [None, captures, advances, goes_back, spares]
MORE_BIASES: dict[str, Sequence[Bias]] = {
    "dobutsu_v0": [restricts],
    "xiangqi_v0": [restricts] + [checks] * 4 + [chases] * 3,
    "drakoburg_v0": [restricts, breeds, breeds],
}


def choose(state: PythonState, bias: Bias | None, generator: random.Random) -> int:
    """Return a legal action: the one that `bias` likes best among some, at times any."""
    actions: list[int] = state.legal_actions().tolist()
    is_choosy = state.game.has_repetition and bias in (goes_back, checks, chases)
    candidates = generator.sample(actions, min(len(actions), 50 if is_choosy else 8))
    if bias is None or generator.random() < (0.03 if is_choosy else 0.1):
        return candidates[0]
    game, position = state.game, state.moments[-1].position
    liking = {action: bias(state, game.step(position, action)) for action in candidates}
    return max(candidates, key=liking.__getitem__)


def walk(pair: Pair, generator: random.Random, max_steps: int) -> Iterator[Pair]:
    """Yield `pair` at its start and after each step, undo or rebirth from FEN."""
    bias = generator.choice([*BIASES, *MORE_BIASES.get(pair.reference.game.id, ())])
    yield pair
    for _ in range(max_steps):
        if pair.reference.is_over and generator.random() < 0.5:
            return
        chance = generator.random()
        if (pair.reference.is_over or chance < 0.03) and len(pair.reference.moments) > 1:
            for _ in range(generator.randint(1, min(5, len(pair.reference.moments) - 1))):
                pair.both("undo")
        elif pair.reference.is_over:
            return
        elif chance < 0.08:
            pair.both("push", generator.choice(pair.reference.turns(limit=200)))
        elif chance < 0.10:
            pair = Pair(pair.native.game, pair.reference.game, pair.native.fen())
        else:
            pair.both("apply", choose(pair.reference, bias, generator))
        yield pair


# --- The tests ------------------------------------------------------------------------------------


def reference_of(id: str) -> type[PythonGame]:
    if id not in REFERENCES:
        pytest.fail(f"{id} is registered, but has no reference rules in tests/reference/")
    return REFERENCES[id]


def kinds(state: PythonState) -> set[object]:
    """Return what is remarkable about a state."""
    found: set[object] = set()
    found |= {"several steps"} if state.is_turn_open else set()
    found |= {"pass"} if state.history[-1:] == ["pass"] else set()
    found |= {"occurred again"} if state.occurrences > 1 else set()
    found |= {state.outcome.termination} if state.outcome is not None else set()
    position = state.moments[-1].position
    if state.game.id == "xiangqi_v0" and not state.is_over:
        num_moves = len(legal_moves(position.board, state.to_move))
        found |= {"a fourth check"} if num_moves > len(state.legal_actions()) else set()
    if state.game.id == "drakoburg_v0":
        num_bannerets = max(len(bannerets(position.board, player)) for player in (0, 1))
        found |= {"three bannerets"} if num_bannerets > 2 else set()
    return found


MORE_KINDS: dict[str, set[object]] = {  # which a long run must reach
    "xiangqi_v0": {
        "a fourth check",
        Termination.CHECKMATE,
        Termination.STALEMATE,
        Termination.PERPETUAL_CHECK,
        Termination.PERPETUAL_CHASE,
        Termination.REPETITION,
        Termination.INSUFFICIENT_MATERIAL,
    },
    "drakoburg_v0": {
        "three bannerets",
        Termination.CHECKMATE,
        Termination.STALEMATE,
        Termination.NO_BANNERET,
        Termination.REPETITION,
    },
}


def run(make_native: Callable[..., Game], rules: type[PythonGame], seed: int, size: int) -> None:
    """Compare in `size` positions, in up to five times as many until they were of all kinds."""
    generator = random.Random(f"{rules.id} {seed}")
    variants = [
        {"ruleset": ruleset, "setup": setup}
        for ruleset in rules.rulesets
        for setup in rules.start_fens
    ]
    wanted: set[object] = set()
    wanted |= {"several steps"} if "pending" in rules.fields else set()
    wanted |= {"pass"} if rules.has_pass else set()
    wanted |= {"occurred again"} if rules.has_repetition else set()
    wanted |= {Termination.QUIET_LIMIT} if rules.quiet_limit is not None else set()
    wanted |= MORE_KINDS.get(rules.id, set()) if size > SHORT_RUN else set()
    reached: set[object] = set()
    count = 0
    number = 0
    while count < size or (count < 5 * size and not wanted <= reached):  # walks go to their end
        options: dict[str, Any] = {
            **variants[number % len(variants)],
            "max_turns": generator.choice([None, None, generator.randint(1, 60)]),
            "view": generator.choice(["relative", "relative", "absolute"]),
        }
        native_game, reference_game = make_native(**options), rules(**options)
        number += 1
        is_from_start = generator.random() < (0.15 if rules.id in ROYALS else 0.25)
        if is_from_start:
            fen = None
        elif rules.id in ROYALS and generator.random() < 0.5:
            fen = scattered(reference_game, generator)
        else:
            fen = random_start(reference_game, generator)
        max_steps = generator.choice([10, 30, 100]) * (1 + is_from_start)
        for pair in walk(Pair(native_game, reference_game, fen), generator, max_steps):
            pair.check()
            count += 1
            reached |= kinds(pair.reference)
    assert wanted <= reached, f"the walks of {rules.id} never reached {wanted - reached}"
    num_terminations = len([x for x in reached if isinstance(x, Termination)])
    assert num_terminations >= (3 if size > SHORT_RUN else 2)


def native(id: str) -> Callable[..., Game]:
    return lambda **options: dk.game(id, **options)


@pytest.mark.parametrize("id", NATIVE_IDS)
def test_every_game_has_a_reference_of_the_same_shape(id: str) -> None:
    rules = reference_of(id)
    for ruleset in rules.rulesets:
        for setup in rules.start_fens:
            for view in ("relative", "absolute"):
                options: dict[str, Any] = {"ruleset": ruleset, "setup": setup, "view": view}
                game, expected = native(id)(**options), rules(**options)
                for name, feature in GAME_FEATURES.items():
                    assert is_same(feature(game), feature(expected)), (id, options, name)


@pytest.mark.parametrize("id", NATIVE_IDS)
def test_random_walks(id: str) -> None:
    run(native(id), reference_of(id), seed=0, size=SHORT_RUN)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, NUM_LONG_PARTS + 1))
@pytest.mark.parametrize("id", NATIVE_IDS)
def test_random_walks_long(id: str, seed: int) -> None:
    run(native(id), reference_of(id), seed, LONG_RUN // NUM_LONG_PARTS)


def check_every_step(id: str, seed: int, size: int) -> int:
    """Compare what every legal action of `size` dense positions leads to; return how many."""
    rules = reference_of(id)
    generator = random.Random(f"every step {id} {seed}")
    num_steps = 0
    for number in range(size):
        options: dict[str, Any] = {
            "ruleset": list(rules.rulesets)[number % len(rules.rulesets)],
            "max_turns": generator.choice([None, None, generator.randint(1, 60)]),
        }
        native_game, reference_game = native(id)(**options), rules(**options)
        fen = dense(reference_game, generator)
        while reference_game.state(fen).is_over:
            fen = dense(reference_game, generator)
        num_steps += Pair(native_game, reference_game, fen).check_every_step()
    return num_steps


@pytest.mark.parametrize("id", NATIVE_IDS)
def test_every_step_of_dense_positions(id: str) -> None:
    assert check_every_step(id, seed=0, size=20) > 40


@pytest.mark.long
@pytest.mark.parametrize("id", NATIVE_IDS)
def test_every_step_of_dense_positions_long(id: str) -> None:
    assert check_every_step(id, seed=1, size=3000) > 10_000


def damaged(fen: str, alphabet: list[str], generator: random.Random) -> str:
    if generator.random() < 0.5:  # two characters exchanged: more often still a FEN
        letters = list(fen)
        one, other = generator.sample(range(len(letters)), 2)
        letters[one], letters[other] = letters[other], letters[one]
        return "".join(letters)
    for _ in range(generator.randint(1, 2)):  # one written, put in or taken away
        start = generator.randrange(len(fen))
        stop = start + generator.randrange(2)
        fen = fen[:start] + generator.choice([*alphabet, ""]) + fen[stop:]
    return fen


def check_damaged_fens(id: str, seed: int, size: int) -> None:
    """A FEN with a few characters changed is read alike by both, or rejected by both."""
    rules = reference_of(id)
    generator = random.Random(f"{id} {seed}")
    alphabet = sorted({*rules.pieces, *rules.pieces.lower(), *"0123456789/wb-@ []+x", "a1", "d4"})
    num_read = 0
    for _ in range(size // 5):
        options: dict[str, Any] = {"ruleset": generator.choice(rules.rulesets)}
        native_game, reference_game = native(id)(**options), rules(**options)
        whole = random_start(reference_game, generator)
        num_read += sum(
            is_read_alike(native_game, reference_game, damaged(whole, alphabet, generator))
            for _ in range(5)
        )
    assert size // 20 < num_read < size


def is_read_alike(native_game: Game, reference_game: PythonGame, fen: str) -> bool:
    """Return whether both read the FEN; fail if only one does, or if they differ."""
    try:
        expected: State | None = reference_game.state(fen)
    except FenError:
        expected = None
    try:
        found: State | None = native_game.state(fen)
    except FenError:
        found = None
    assert (found is None) == (expected is None), f"{fen!r}: {found} but {expected}"
    if expected is None:
        return False
    Pair(native_game, reference_game, fen).check()
    return True


@pytest.mark.parametrize("id", NATIVE_IDS)
def test_damaged_fens(id: str) -> None:
    check_damaged_fens(id, seed=0, size=100)


@pytest.mark.long
@pytest.mark.parametrize("id", NATIVE_IDS)
def test_damaged_fens_long(id: str) -> None:
    check_damaged_fens(id, seed=1, size=10_000)


# --- Repetition in Xiangqi ------------------------------------------------------------------------


def hunting_cycle(generator: random.Random) -> tuple[str, list[str]] | None:
    """Return a position and four turns back to it, mostly with checks or chases; None if unlucky.

    Of the many positions that walks repeat, few ask for the finer points of XQ-6.
    """
    game = REFERENCES["xiangqi_v0"]()
    position = game.read_fen(scattered(game, generator, most=generator.choice([4, 8, 14])))
    position = replace(position, quiet=0, move=1)
    player, start = position.to_move, position.board

    def hunts(board: tuple[str, ...], move: Move) -> bool:
        return gives_check(board, move) or bool(chased(board, move))

    def replies(board: tuple[str, ...], who: int) -> list[Move]:
        moves = [move for move in legal_moves(board, who) if board[move[1]] == EMPTY]
        return generator.sample(moves, len(moves))

    wants_hunt = generator.random() < 0.9
    for out in replies(start, player):
        if wants_hunt and not hunts(start, out):
            continue
        one = moved(start, out)
        for reply in replies(one, 1 - player):
            two = moved(one, reply)
            back = (out[1], out[0])
            if back not in legal_moves(two, player) or (wants_hunt and not hunts(two, back)):
                continue
            three = moved(two, back)
            if reply[::-1] in legal_moves(three, 1 - player):
                cycle = (out, reply, back, reply[::-1])
                return game.write_fen(position), [
                    "".join(map(game.square_name, move)) for move in cycle
                ]
    return None


def check_repetitions(size: int, seed: int) -> dict[str, int]:
    """Compare the ends of `size` games that repeat a cycle of four turns."""
    generator = random.Random(seed)
    counts: Counter[str] = Counter()
    while counts.total() < size:
        ruleset = generator.choice(["standard", "axf"])
        found = hunting_cycle(generator)
        if found is None:
            continue
        fen, cycle = found
        pair = Pair(
            dk.game("xiangqi_v0", ruleset=ruleset),
            REFERENCES["xiangqi_v0"](ruleset=ruleset),
            fen,
        )
        for turn in cycle * 2:
            if turn not in pair.reference.turns():
                break  # a fourth check (XQ-4)
            pair.both("push", turn)
        pair.check()
        outcome = pair.reference.outcome
        counts[outcome.termination.value if outcome is not None else "fourth check"] += 1
    return dict(counts)


@pytest.mark.skipif("xiangqi_v0" not in NATIVE_IDS, reason="xiangqi_v0 is not registered")
def test_repetitions_of_xiangqi() -> None:
    counts = check_repetitions(60, seed=0)
    assert {"repetition", "perpetual_chase", "perpetual_check"} <= set(counts), counts


@pytest.mark.long
@pytest.mark.skipif("xiangqi_v0" not in NATIVE_IDS, reason="xiangqi_v0 is not registered")
def test_repetitions_of_xiangqi_long() -> None:
    check_repetitions(5000, seed=1)


# --- The comparison itself ------------------------------------------------------------------------


class WrongDobutsu(Dobutsu):
    """Hens may step diagonally backward."""

    def legal_actions(self, position: Position) -> list[int]:
        actions = super().legal_actions(position)
        seen = self.seen_board(position.board, position.to_move)
        more = [3 * 12 + x for x in range(3, 11) if seen[x] == "H" and not seen[x - 2].isupper()]
        return actions + [action for action in more if (action % 12) % 3 < 2]


def test_a_wrong_rule_is_found_and_shown() -> None:
    with pytest.raises(pytest.fail.Exception) as found:
        run(WrongDobutsu, Dobutsu, seed=0, size=SHORT_RUN)
    for part in ("legal_actions differs", "native:", "reference:", "in  ", "from  ", "after  "):
        assert part in str(found.value)
