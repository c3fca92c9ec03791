"""What every registered game must do. A new game is tested by being registered.

Rules themselves are tested against the slow reference (test_against_reference.py), by perft
(test_perft.py) and by each game's own tests.
"""

import copy
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import deskovky as dk
from deskovky.envs.protocol import Game, State

SEEDS = range(6)
REPOSITORY = Path(__file__).resolve().parents[1]


def variants() -> list[Game]:
    """Return every game under every ruleset and setup, and under the absolute view."""
    games: list[Game] = []
    for id in dk.games():
        default = dk.game(id)
        games += [dk.game(id, ruleset=ruleset) for ruleset in default.rulesets]
        games += [dk.game(id, setup=setup) for setup in default.setups[1:]]
        games.append(dk.game(id, view="absolute"))
    return games


@pytest.fixture(params=variants(), ids=repr)
def game(request: pytest.FixtureRequest) -> Game:
    return request.param  # type: ignore[no-any-return]


def walk(game: Game, seed: int, max_steps: int = 300) -> Iterator[State]:
    """Yield the one state of a random game before its first step and after each."""
    rng = np.random.default_rng(seed)
    state = game.state()
    yield state
    for _ in range(max_steps):
        if state.is_over:
            return
        state.apply(int(rng.choice(state.legal_actions())))
        yield state


def test_game_describes_itself(game: Game) -> None:
    assert isinstance(game, dk.Game)
    planes, ranks, files = game.action_shape
    assert game.num_actions - planes * ranks * files in (0, 1)  # one more: pass
    assert game.observation_shape[1:] == (ranks, files)
    assert game.ruleset in game.rulesets and game.rulesets[0] == "standard"
    assert game.setup in game.setups and game.setups[0] == "default"
    same = dk.game(game.id, ruleset=game.ruleset, setup=game.setup, view=game.view)
    assert same == game and hash(same) == hash(game)
    assert pickle.loads(pickle.dumps(game)) == game
    assert dk.game(game.id, max_turns=game.max_turns + 1) != game


def test_states_satisfy_the_protocol(game: Game) -> None:
    state = game.state()
    assert isinstance(state, dk.State)
    assert state.game == game
    assert state.to_move == 0 and not state.is_over and state.outcome is None
    assert state.history == [] and state.occurrences == 1
    with pytest.raises(TypeError):
        hash(state)


@pytest.mark.parametrize("seed", SEEDS)
def test_shapes_and_dtypes_at_every_step(game: Game, seed: int) -> None:
    for state in walk(game, seed):
        actions, mask = state.legal_actions(), state.legal_action_mask()
        assert actions.dtype == np.int32 and mask.dtype == np.bool_
        assert mask.shape == (game.num_actions,)
        assert actions.tolist() == np.flatnonzero(mask).tolist()
        assert state.is_over == (len(actions) == 0)
        assert state.is_over == (state.outcome is not None)
        for player in (0, 1):
            observation = state.observation(player)
            assert observation.dtype == np.float32
            assert observation.shape == game.observation_shape
            assert observation.min() >= 0 and observation.max() <= 1
        seen = 0 if game.view == "absolute" else state.to_move
        np.testing.assert_array_equal(state.observation(), state.observation(seen))
        assert sum(state.returns()) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_round_trips_at_every_step(game: Game, seed: int) -> None:
    for state in walk(game, seed):
        for twin in (state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
            assert twin == state and twin is not state
            assert twin.history == state.history and twin.outcome == state.outcome
        for action in state.legal_actions().tolist():
            assert state.action_from_text(state.action_to_text(action)) == action
        if state.is_over:
            continue
        read = game.state(state.fen())
        assert read.fen() == state.fen() and read.key() == state.key()
        assert read.to_move == state.to_move and read.is_turn_open == state.is_turn_open
        # (XQ-4 chains are history, which a FEN does not carry: the read state may allow more.)
        assert set(state.legal_actions().tolist()) <= set(read.legal_actions().tolist())


@pytest.mark.parametrize("seed", SEEDS)
def test_undo_goes_back_step_by_step(game: Game, seed: int) -> None:
    past = [state.copy() for state in walk(game, seed)]
    state = past[-1].copy()
    for earlier in reversed(past[:-1]):
        state.undo()
        assert state == earlier
        assert state.occurrences == earlier.occurrences and state.outcome == earlier.outcome
        np.testing.assert_array_equal(state.legal_actions(), earlier.legal_actions())
        np.testing.assert_array_equal(state.observation(), earlier.observation())
    with pytest.raises(dk.IllegalActionError):
        state.undo()


@pytest.mark.parametrize("seed", SEEDS)
def test_copies_are_independent(game: Game, seed: int) -> None:
    for state in walk(game, seed, max_steps=20):
        if not state.is_over:
            before, twin = state.copy(), state.copy()
            twin.apply(int(twin.legal_actions()[-1]))
            assert state == before and twin != state


@pytest.mark.parametrize("seed", SEEDS)
def test_whole_turns_are_the_steps_joined(game: Game, seed: int) -> None:
    replay = game.state()
    last = game.state()
    for state in walk(game, seed):
        if state.is_turn_open or len(state.history) == len(replay.history):
            continue
        turn = state.history[-1]
        assert turn in last.turns()
        replay.push(turn)
        assert replay.fen() == state.fen() and replay.history == state.history
        last = state.copy()
    turns = last.turns()
    assert len(set(turns)) == len(turns)
    assert last.turns(limit=1) == turns[:1] and last.turns(limit=0) == []


def test_bad_actions_change_nothing(game: Game) -> None:
    for state in walk(game, seed=0, max_steps=30):
        before = state.copy()
        illegal = np.flatnonzero(~state.legal_action_mask())[:: max(1, game.num_actions // 50)]
        for action in [*illegal.tolist(), -1, game.num_actions, 2**70, 0.5, None, "a1"]:
            with pytest.raises(dk.IllegalActionError):
                state.apply(action)
        for turn in ("", "a1", "z9z9", "a1a1", "pass pass", "a2a3 "):
            with pytest.raises(dk.IllegalActionError):
                state.push(turn)
        assert state == before


@pytest.mark.parametrize("seed", SEEDS)
def test_both_players_see_the_same_game(game: Game, seed: int) -> None:
    """Two views of one position, own and enemy planes swapped, hold the same pieces."""
    for state in walk(game, seed):
        sums = [state.observation(player).sum() for player in (0, 1)]
        if game.view == "absolute" or not state.is_turn_open:
            assert sums[0] == pytest.approx(sums[1])


def test_absolute_view_is_player_0s_with_the_mover_added() -> None:
    for id in dk.games():
        relative, absolute = dk.game(id), dk.game(id, view="absolute")
        for state in walk(absolute, seed=1):
            twin = relative.state()
            for turn in state.history if not state.is_turn_open else []:
                twin.push(turn)
            if state.is_turn_open:
                continue
            seen = state.observation()
            np.testing.assert_array_equal(seen[:-1], twin.observation(0))
            assert (seen[-1] == state.to_move).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_mirrored_boards_have_mirrored_actions(game: Game, seed: int) -> None:
    mirror = game.mirror_actions
    if mirror is None:
        return
    assert (mirror[mirror] == np.arange(game.num_actions)).all()
    rng = np.random.default_rng(seed)
    state = game.state()
    mirrored = game.state(mirrored_fen(state.fen()))
    while not state.is_over:
        assert mirrored.fen() == mirrored_fen(state.fen())
        np.testing.assert_array_equal(
            mirrored.legal_action_mask()[mirror], state.legal_action_mask()
        )
        np.testing.assert_array_equal(mirrored.observation()[:, :, ::-1], state.observation())
        action = int(rng.choice(state.legal_actions()))
        state.apply(action)
        mirrored.apply(int(mirror[action]))
    assert mirrored.outcome == state.outcome


@pytest.mark.parametrize("seed", SEEDS)
def test_colours_are_interchangeable(game: Game, seed: int) -> None:
    """With the colours and the mover swapped, the mover sees and may do the same."""
    if game.view == "absolute":
        return
    for state in walk(game, seed):
        if state.is_over:
            return
        read = game.state(state.fen())
        swapped = game.state(colour_swapped_fen(state.fen(), is_rotated=game.id != "drakoburg_v0"))
        assert swapped.to_move != read.to_move
        np.testing.assert_array_equal(swapped.legal_action_mask(), read.legal_action_mask())
        np.testing.assert_allclose(swapped.observation(), read.observation(), atol=CLOCK_STEP)


CLOCK_STEP = 1 / 100  # swapping the mover moves the clock by one turn where a plane shows it


def rows_of(board: str) -> list[list[str]]:
    """Return the squares of a FEN board by row, the highest rank first; "" is empty."""
    return [
        [
            cell
            for token in re.findall(r"[0-9]+|.", row)
            for cell in ([""] * int(token) if token.isdigit() else [token])
        ]
        for row in board.split("/")
    ]


def board_of(rows: list[list[str]]) -> str:
    """Return the FEN board of `rows`."""
    lines = ("".join(cell or "." for cell in row) for row in rows)
    return "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), line) for line in lines)


def mirrored_fen(fen: str) -> str:
    """Return the FEN of the left-right mirrored board."""
    first, *fields = fen.split(" ")
    board, bracket, hands = first.partition("[")
    rows = rows_of(board)
    fields[1] = mapped_square(fields[1], len(rows[0]), 0)
    return " ".join([board_of([row[::-1] for row in rows]) + bracket + hands, *fields])


def colour_swapped_fen(fen: str, is_rotated: bool) -> str:
    """Return the FEN in which each player has the other's place."""
    first, side, *fields = fen.split(" ")
    board, bracket, hands = first.partition("[")
    rows = [[cell.swapcase() for cell in row] for row in rows_of(board)[::-1]]
    if is_rotated:
        rows = [row[::-1] for row in rows]
    fields[0] = mapped_square(fields[0], len(rows[0]) if is_rotated else 0, len(rows))
    hands = "".join(sorted(hands.swapcase(), key=lambda c: (c == "]", c.islower())))
    first = board_of(rows) + bracket + hands
    return " ".join([first, "b" if side == "w" else "w", *fields])


def mapped_square(name: str, num_files: int, num_ranks: int) -> str:
    """Mirror a square's file and rank, each if its number of lines is given; keep other text."""
    if len(name) < 2 or name == "--":
        return name
    file, rank = ord(name[0]) - ord("a"), int(name[1:]) - 1
    file = num_files - 1 - file if num_files else file
    rank = num_ranks - 1 - rank if num_ranks else rank
    return f"{chr(ord('a') + file)}{rank + 1}"


def test_same_seed_same_game_in_another_process() -> None:
    code = (
        "import deskovky as dk\n"
        "for id in dk.games():\n"
        "    engine = dk.make_vec(id, num_envs=3, seed=7)\n"
        "    for _ in range(50):\n"
        "        engine.step(engine.sample_actions())\n"
        "    print([engine.state(i).fen() for i in range(3)], engine.state(0).key())\n"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/"
        ).stdout
        for _ in range(2)
    }
    assert len(runs) == 1 and "w" in runs.pop()


def test_every_game_has_its_files() -> None:
    """A README, an environment module, perft numbers and a stored playthrough."""
    for id in dk.games():
        name = id.rpartition("_v")[0]
        for path in (
            f"envs/{name}/README.md",
            f"envs/{id}.py",
            f"tests/perft/{name}.perft",
            f"tests/playthroughs/{id}.txt",
        ):
            assert (REPOSITORY / path).is_file(), f"{id} lacks {path}"
