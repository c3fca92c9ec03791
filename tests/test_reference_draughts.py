"""What the four draughts games share, for every implementation of each of them.

FEN, passes, turns of several steps, counters, observations, the interface. The rules of each game
are tested in test_reference_<game>.py.
"""

import copy
import pickle
import random
import re
from dataclasses import dataclass

import numpy as np
import pytest
from implementations import DraughtsSeat, Make, implementations
from reference.draughts import Draughts
from reference.gothic_draughts import GothicDraughts
from reference.knight_draughts import KnightDraughts
from reference.medieval_battle import MedievalBattle
from reference.ossetian_draughts import OssetianDraughts

from deskovky.envs.protocol import Game, State, Termination
from deskovky.errors import ConfigurationError, FenError, IllegalActionError, UnknownGameError


@dataclass(frozen=True)
class Example:
    """What the tests need to know of a game; positions as in `DraughtsSeat`, player 0's turn."""

    reference: type[Draughts]
    double_jump: str  # one jump, then one more
    turn: str
    after_one_jump: str
    must_pass: str

    @property
    def size(self) -> int:
        return self.reference.action_shape[1]

    @property
    def start(self) -> str:
        return self.reference.start_fens["default"]


EXAMPLES = [
    Example(GothicDraughts, "Ma1 Mh1 ma2 ma4 mh8", "a1a3a5", "Ma3 Mh1 ma4 mh8", "Ma8 mb8 mc8"),
    Example(OssetianDraughts, "Ma1 Mg1 ma2 ma4 mg7", "a1a3a5", "Ma3 Mg1 ma4 mg7", "Ma7 mg7"),
    Example(KnightDraughts, "Ma1 Mj1 mb3 md7 mj9", "a1c5e9", "Mc5 Mj1 md7 mj9", "Ma10 mj9"),
    Example(MedievalBattle, "Na1 Fj1 fa2 na4 kj8", "a1a3a5", "Na3 Fj1 na4 kj8", "Fa10 fj9"),
]


@dataclass(frozen=True)
class Case:
    """An example in the hands of one implementation."""

    make: Make
    example: Example

    def seat(self, us: int) -> DraughtsSeat:
        return DraughtsSeat(self.make, us, self.example.size)


CASES = [
    pytest.param(
        Case(implementation.values[0], example),
        id=f"{example.reference.id}-{implementation.id}",
        marks=implementation.marks,
    )
    for example in EXAMPLES
    for implementation in implementations(example.reference)
]


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    case: Case = request.param
    return case


@pytest.fixture
def make(case: Case) -> Make:
    return case.make


@pytest.fixture
def example(case: Case) -> Example:
    return case.example


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(case: Case, request: pytest.FixtureRequest) -> DraughtsSeat:
    return case.seat(request.param)


def variants(make: Make) -> list[Game]:
    game = make()
    return [make(ruleset=ruleset) for ruleset in game.rulesets] + [
        make(setup=setup) for setup in game.setups[1:]
    ]


# --- Turns of several steps -----------------------------------------------------------------------


def test_a_turn_of_two_jumps(example: Example, seat: DraughtsSeat) -> None:
    state = seat.state(example.double_jump, side="w - 7 30")
    turn = seat.turned_text(example.turn) if seat.us else example.turn
    assert state.turns() == [turn]
    [first] = state.legal_actions().tolist()
    origin, middle, target = re.findall("[a-j][0-9]+", turn)
    assert state.action_to_text(first) == origin + middle
    with pytest.raises(IllegalActionError):
        state.push(origin + middle)  # not a complete turn
    state.apply(first)
    assert state.is_turn_open and state.to_move == seat.us and state.outcome is None
    assert state.history == [origin + middle] and state.occurrences == 1
    assert seat.pieces(state) == set(example.after_one_jump.split())
    assert state.fen().split(" ")[1:] == ["wb"[seat.us], middle, "0", "30"]
    assert state.turns() == [middle + target]

    again = state.game.state(state.fen())  # the history is lost, the rest of the turn is not
    assert again.is_turn_open and again.turns() == [middle + target] and again.history == []
    assert again.key() == state.key() and again.fen() == state.fen()
    assert (again.observation() == state.observation()).all()
    again.push(middle + target)
    assert again.history == [middle + target]

    state.push(middle + target)
    assert not state.is_turn_open and state.to_move == seat.them
    assert state.history == [turn] and state.fen() == again.fen()
    assert state.fen().split(" ")[1:] == ["bw"[seat.us], "-", "0", str(30 + seat.us)]
    assert state.num_pieces(seat.us) == 2 and state.num_pieces(seat.them) == 1
    state.undo()
    assert state.is_turn_open and state.history == [origin + middle]
    state.undo()
    assert state == seat.state(example.double_jump, side="w - 7 30")


def test_a_pending_piece_makes_another_position(example: Example, seat: DraughtsSeat) -> None:
    square = example.turn[2:4]
    open_turn = seat.state(example.after_one_jump, side=f"w {square} 0 1")
    begun = seat.state(example.after_one_jump, side="w - 0 1")
    assert open_turn.turns() == begun.turns()  # the same jump
    assert open_turn.key() != begun.key() and open_turn != begun


def test_no_end_inside_a_turn(example: Example, seat: DraughtsSeat) -> None:
    state = seat.state(example.after_one_jump, side=f"w {example.turn[2:4]} 0 500", max_turns=9)
    assert not state.is_over and state.legal_actions().size == 1
    state.apply(int(state.legal_actions()[0]))
    assert state.is_over


# --- Passes, counters -----------------------------------------------------------------------------


def test_pass_is_a_turn_of_its_own(example: Example, seat: DraughtsSeat) -> None:
    state = seat.state(example.must_pass, side="w - 3 30")
    last = state.game.num_actions - 1
    assert state.game.num_actions == np.prod(state.game.action_shape) + 1
    assert state.legal_actions().tolist() == [last] and state.turns() == ["pass"]
    assert state.action_to_text(last) == "pass" and state.action_from_text("pass") == last
    state.push("pass")
    assert state.fen().split(" ")[1:] == ["bw"[seat.us], "-", "4", str(30 + seat.us)]
    assert last not in state.legal_actions() and state.history == ["pass"]
    with pytest.raises(IllegalActionError):
        state.push("pass")
    state.undo()
    assert state == seat.state(example.must_pass, side="w - 3 30")


def test_counters(example: Example, seat: DraughtsSeat) -> None:
    generator = random.Random(3)
    state = seat.state(example.start.split(" ")[0], side="w - 5 9")
    quiet, move, pieces = 5, 9, state.num_pieces(0) + state.num_pieces(1)
    for _ in range(40):
        mover = state.to_move
        state.apply(generator.choice(state.legal_actions().tolist()))
        is_capture = state.num_pieces(0) + state.num_pieces(1) < pieces
        pieces -= is_capture
        quiet = 0 if is_capture else quiet + 1
        move += mover == 1 and not state.is_turn_open
        assert state.num_pieces(0) + state.num_pieces(1) == pieces
        assert state.fen().split(" ")[3:] == [str(quiet), str(move)]
        assert state.to_move == (mover if state.is_turn_open else 1 - mover)


def test_max_turns_is_compared_with_the_fen(make: Make, example: Example) -> None:
    board = example.start.split(" ")[0]
    game = make(max_turns=6)
    reason = Termination.LENGTH_LIMIT if "knight" in game.id else Termination.MAX_TURNS
    for fields, is_over in (("w - 0 3", 0), ("b - 0 3", 0), ("w - 0 4", 1), ("b - 0 4", 1)):
        state = game.state(f"{board} {fields}")
        assert state.is_over == bool(is_over)
        if is_over:
            assert state.outcome is not None and state.outcome.termination is reason
            assert state.outcome.winner is None and state.returns() == (0.0, 0.0)
            assert state.legal_actions().size == 0 and not state.legal_action_mask().any()
    state = game.state(f"{board} b - 0 3")
    state.apply(int(state.legal_actions()[0]))
    assert state.is_over or state.is_turn_open


# --- FEN ------------------------------------------------------------------------------------------


def test_fen_is_read(make: Make, example: Example) -> None:
    board = example.start.split(" ")[0]
    assert make().state().fen() == example.start == make().state(f"{board} w").fen()
    for fields in ("b - 0 1", "w - 7 12", "b - 99 99999"):
        assert make().state(f"{board} {fields}").fen() == f"{board} {fields}"
    for setup in make().setups:
        assert make(setup=setup).state().fen() == example.reference.start_fens[setup]
    state = make().state(f"{board} w - 400 300")  # over by the quiet count or the length
    assert state.fen() == f"{board} w - 400 300"


def test_fen_is_rejected(case: Case, make: Make, example: Example) -> None:
    size = example.size
    board = example.start.split(" ")[0]
    first, *ranks = board.split("/")
    rest = "/".join(ranks)
    man = example.reference.pieces[0]
    empty = "/".join([str(size)] * size)
    jumped = case.seat(0).state(example.double_jump).fen().split(" ")[0]
    target, jumper, other = example.turn[4:6], example.turn[0:2], f"{'abcdefghij'[size - 1]}1"
    wrong = [
        ("", ""),
        (board, ""),
        (f"{board} w -", ""),
        (f"{board} w - 0", ""),
        (f"{board} w - - 0 1", ""),
        (f"{board} w - 0 1 ", ""),
        (f" {board} w - 0 1", ""),
        (f"{board}  w - 0 1", ""),
        (f"{board}\tw - 0 1", ""),
        (f"{board} w - 0 1\n", ""),
        (f"{rest} w", "board"),
        (f"{board}/{size} w", "board"),
        (f"{board}/ w", "board"),
        (f"{first}1/{rest} w", "board"),
        (f"{size + 1}/{rest} w", "board"),
        (f"{size - 1}/{rest} w", "board"),
        (f"0{size}/{rest} w", "board"),
        (f"0{first}/{rest} w", "board"),
        (f"{'1' * (size + 1)}/{rest} w", "board"),
        (f"x{size - 1}/{rest} w", "board"),
        (f"+{man}{size - 1}/{rest} w", "board"),
        (f"\u0661{man * (size - 1)}/{rest} w", "board"),
        (f"{empty} w", ""),  # no pieces at all
        (f"{board} W - 0 1", "side"),
        (f"{board} x - 0 1", "side"),
        (f"{board} - - 0 1", "side"),
        (f"{board} w @ 0 1", "pending"),
        (f"{board} w a1 0 1", "pending"),  # it cannot jump
        (f"{board} w a0 0 1", "pending"),
        (f"{board} w a{size + 1} 0 1", "pending"),
        (f"{board} w z1 0 1", "pending"),
        (f"{board} w A1 0 1", "pending"),
        (f"{board} w a01 0 1", "pending"),
        (f"{board} w a 0 1", "pending"),
        (f"{jumped} w {target} 0 1", "pending"),  # an empty square
        (f"{jumped} w {other} 0 1", "pending"),  # an own man that cannot jump
        (f"{jumped} b {jumper} 0 1", "pending"),  # the other player's man
        (f"{board} w - -1 1", "quiet"),
        (f"{board} w - x 1", "quiet"),
        (f"{board} w - 00 1", "quiet"),
        (f"{board} w - +1 1", "quiet"),
        (f"{board} w - {'9' * 5000} 1", "quiet"),
        (f"{board} w - \u0661 1", "quiet"),
        (f"{board} w - 0 0", "move"),
        (f"{board} w - 0 -1", "move"),
        (f"{board} w - 0 01", "move"),
        (f"{board} w - 0 ", ""),
        (f"{board} w - 0 {2**64 + 1}", "move"),
    ]
    for fen, field in wrong:
        with pytest.raises(FenError, match=field or None):
            print(f"read: {fen!r}")
            make().state(fen)
        with pytest.raises(FenError):
            make().perft(1, fen)
    assert make().state(f"{jumped} w {jumper} 0 1").is_turn_open


def test_piece_counts(case: Case, example: Example) -> None:
    """As many pieces as a side can have are read, one more of any kind is not."""
    counts = example.reference.max_counts
    squares = [f"{file}{rank}" for rank in (2, 3, 4) for file in "abcdefghij"[: example.size]]
    kinds = [kind for group, count in counts.items() for kind in group[-1] * count]
    full = " ".join(kind + square for kind, square in zip(kinds, squares, strict=False))
    enemy = example.reference.pieces[0].lower()
    for us in (0, 1):
        seat = case.seat(us)
        assert seat.state(f"{full} {enemy}a6").num_pieces(us) == len(kinds)
        for kind in example.reference.pieces:
            with pytest.raises(FenError):
                seat.state(f"{full} {enemy}a6 {kind}a5")


# --- Observation ----------------------------------------------------------------------------------


def test_observation(example: Example, seat: DraughtsSeat) -> None:
    letters = example.reference.pieces
    state = seat.state(example.double_jump, side="w - 7 30")
    for _ in range(2):
        for viewer in (seat.us, seat.them):
            expected = np.zeros(state.game.observation_shape, np.float32)
            assert expected.shape == (example.reference.num_planes, seat.size, seat.size)
            for piece, square in ((piece[0], piece[1:]) for piece in seat.pieces(state)):
                is_own = piece.isupper() == (viewer == seat.us)
                plane = letters.index(piece.upper()) + (0 if is_own else len(letters))
                expected[plane][place(square, seat, viewer)] = 1
            counter = 2 * len(letters)
            if state.is_turn_open:
                expected[counter][place(example.turn[2:4], seat, viewer)] = 1
            if example.reference.has_quiet_plane:
                expected[counter + 1] = 0 if state.is_turn_open else np.float32(7 / 30)
            elif example.reference is KnightDraughts:
                expected[counter + 1] = np.float32((200 - 58 - seat.us) / 200)
            seen = state.observation(viewer)
            assert seen.dtype == np.float32 and (seen == expected).all()
            if viewer == seat.us:
                assert (state.observation() == expected).all()
        state.apply(int(state.legal_actions()[0]))


def place(square: str, seat: DraughtsSeat, viewer: int) -> tuple[int, int]:
    """Return rank and file, from 0, where `viewer` sees a square that our own side calls so."""
    rank, file = int(square[1:]) - 1, "abcdefghij".index(square[0])
    return (rank, file) if viewer == seat.us else (seat.size - 1 - rank, seat.size - 1 - file)


def test_quiet_plane_is_at_most_one(make: Make, example: Example) -> None:
    if example.reference.has_quiet_plane:
        board = example.start.split(" ")[0]
        for quiet, value in ((0, 0), (15, 0.5), (30, 1), (300, 1)):
            assert (make().state(f"{board} w - {quiet} 1").observation()[-1] == value).all()


def test_absolute_view(make: Make, example: Example) -> None:
    game = make(view="absolute")
    planes = example.reference.num_planes
    assert game.observation_shape[0] == planes + 1
    board = example.start.split(" ")[0]
    for side in "wb":
        state, relative = (g.state(f"{board} {side} - 3 4") for g in (game, make()))
        for player in (None, 0, 1):
            seen = state.observation(player)
            assert (seen[:planes] == relative.observation(0)).all()
            assert (seen[planes] == (side == "b")).all()
        assert (state.legal_actions() == relative.legal_actions()).all()


# --- The interface --------------------------------------------------------------------------------


def random_game(game: Game, generator: random.Random, max_steps: int = 250) -> list[State]:
    """Return the states of a random game from the start, at most `max_steps` of them."""
    states = [game.state()]
    while not states[-1].is_over and len(states) <= max_steps:
        state = states[-1].copy()
        state.apply(generator.choice(state.legal_actions().tolist()))
        states.append(state)
    return states


def test_random_games(case: Case, make: Make) -> None:
    """At many steps: FEN round trip, copy, undo, pickle, text, mask and players exchanged."""
    generator = random.Random(1)
    seat = case.seat(1)
    for game in variants(make):
        states = random_game(game, generator)
        for before, state in zip(states, states[1:], strict=False):
            if generator.random() < 0.7 and not state.is_turn_open:
                continue
            again = game.state(state.fen())
            assert again.fen() == state.fen() and again.key() == state.key()
            actions = state.legal_actions()
            assert actions.dtype == np.int32 and (np.diff(actions) > 0).all()
            assert np.flatnonzero(state.legal_action_mask()).tolist() == actions.tolist()
            texts = [state.action_to_text(action) for action in actions.tolist()]
            assert [state.action_from_text(text) for text in texts] == actions.tolist()
            turns = state.turns()
            assert len(set(turns)) == len(turns) and state.turns(limit=2) == turns[:2]
            assert all(turn.startswith(tuple(texts)) for turn in turns)
            assert pickle.loads(pickle.dumps(state)) == state == copy.deepcopy(state)
            taken_back = state.copy()
            taken_back.undo()
            assert taken_back == before != state and taken_back.fen() == before.fen()

            other = game.state(seat.turned_fen(state.fen()))
            if not state.is_over:
                assert other.legal_actions().tolist() == actions.tolist()
                assert other.turns() == [seat.turned_text(turn) for turn in turns]
            planes = case.example.reference.num_planes - (game.id == "knight_draughts_v0")
            assert (other.observation()[:planes] == state.observation()[:planes]).all()


def test_mirror_actions(make: Make) -> None:
    generator = random.Random(2)
    for game in variants(make):
        mirror = game.mirror_actions
        assert mirror is not None and mirror.dtype == np.int32
        assert (mirror[mirror] == np.arange(game.num_actions)).all()
        assert mirror[-1] == game.num_actions - 1  # pass
        size = game.action_shape[1]
        for state in random_game(game, generator)[::5]:
            board, side, pending, *counters = state.fen().split(" ")
            ranks = [rank.replace("10", "t")[::-1].replace("t", "10") for rank in board.split("/")]
            if pending != "-":
                pending = "abcdefghij"[size - 1 - "abcdefghij".index(pending[0])] + pending[1:]
            mirrored = game.state(" ".join(["/".join(ranks), side, pending, *counters]))
            actions = state.legal_actions()
            assert sorted(mirror[actions].tolist()) == mirrored.legal_actions().tolist()
            assert (mirrored.observation() == state.observation()[:, :, ::-1]).all()


def test_options(make: Make, example: Example) -> None:
    game = make()
    assert isinstance(game, Game) and isinstance(game.state(), State)
    reference = example.reference
    assert (game.id, game.ruleset, game.setup) == (reference.id, "standard", "default")
    assert tuple(game.rulesets) == reference.rulesets
    assert tuple(game.setups) == tuple(reference.start_fens)
    assert game.action_shape == reference.action_shape
    assert game == make() == pickle.loads(pickle.dumps(game)) and hash(game) == hash(make())
    for other in (*variants(make)[1:], make(max_turns=10), make(view="absolute")):
        assert game != other and game.state() != other.state()
    with pytest.raises(UnknownGameError):
        make(ruleset="chess")
    with pytest.raises(UnknownGameError):
        make(setup="random")
    with pytest.raises(ConfigurationError):
        make(max_turns=0)
    with pytest.raises(ConfigurationError):
        make(view="sideways")


def test_illegal_actions_change_nothing(make: Make, example: Example, seat: DraughtsSeat) -> None:
    begun = seat.state(example.double_jump)
    opened = begun.copy()
    opened.apply(int(opened.legal_actions()[0]))
    for state in (begun, opened, seat.state(example.must_pass)):
        before = state.copy()
        legal = set(state.legal_actions().tolist())
        actions = set(range(0, state.game.num_actions, 37)) | {state.game.num_actions - 1}
        for action in (*(actions - legal), -1, state.game.num_actions, 2**31, -(2**63)):
            with pytest.raises(IllegalActionError, match=str(action)):
                state.apply(action)
        for turn in ("", "a1", "gibberish", "a1a1", "P@a1", "PASS", example.turn + "a1"):
            with pytest.raises(IllegalActionError):
                state.push(turn)
            with pytest.raises(IllegalActionError):
                state.action_from_text(turn)
        assert state == before
    with pytest.raises(IllegalActionError):
        begun.undo()
