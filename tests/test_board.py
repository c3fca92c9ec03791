"""The board for notebooks without a browser: clicks, turns, undo, agents, messages."""

import asyncio
import copy
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from opponents import TwoStepGame
from toy_game import StripDraughts

import deskovky as dk
from deskovky.agents import Agent
from deskovky.envs.protocol import Game, State
from deskovky.envs.records import read_records
from deskovky.errors import AgentSpecError, ConfigurationError, IllegalActionError
from deskovky.notebook.controller import Controller
from deskovky.notebook.selection import Selection, spots_of

MULTI_JUMP = ("ossetian_draughts_v0", "7/7/7/3m3/7/1m5/M5m w")  # a1c3, then c3e5
PLACEMENT = ("drakoburg_v0", "4t2/6Z/7/7/7/7/3T3 w")  # g6g7 takes a castle: a pikeman is owed


class FirstAction(Agent):
    """Plays the first legal action."""

    def act(self, state: State) -> int:
        return int(state.legal_actions()[0])


class Slow(FirstAction):
    """Thinks until it is allowed to go on."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.num_calls = 0

    def act(self, state: State) -> int:
        self.num_calls += 1
        assert self.may_go_on.wait(10)
        return super().act(state)


class Broken(FirstAction):
    def act(self, state: State) -> int:
        raise RuntimeError("no idea")


def play_jobs(controller: Controller, limit: int = 1000) -> None:
    """Do what the controller asks for, as the widget does."""
    for _ in range(limit):
        job = controller.next_job()
        if job is None:
            return
        job.done(job.work())
    raise AssertionError("it never ends")


def make_controller(
    game: Any, white: str | Agent = "human", black: str | Agent = "human", **options: Any
) -> Controller:
    return Controller(game, white, black, **options)


def click(controller: Controller, *spots: str) -> None:
    for spot in spots:
        controller.click(spot)


# --- What clicks mean -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "game",
    [*dk.games(), StripDraughts(), TwoStepGame()],
    ids=lambda game: getattr(game, "id", game),
)
def test_every_legal_action_can_be_clicked(game: str | Game) -> None:
    """In positions of random games the spots of an action, one after the other, lead to it."""
    game = dk.game(game) if isinstance(game, str) else game
    rng = np.random.default_rng(0)
    for _ in range(3):
        state = game.state()
        for _ in range(40):
            if state.is_over:
                break
            selection = Selection(state)
            for action in state.legal_actions().tolist():
                check_clicks(copy.copy(selection), spots_of(state, action), action)
            state.apply(int(rng.choice(state.legal_actions())))


def check_clicks(selection: Selection, spots: Sequence[str], action: int) -> None:
    decided = None
    for spot in spots[len(selection.clicked) :]:
        assert decided is None
        assert spot in selection.next_spots
        decided = selection.click(spot)
    if decided is None:  # other actions have the same spots, or none at all: a button decides
        assert action in selection.choices
    else:
        assert decided == action


def test_an_other_piece_begins_anew_and_the_same_one_clears() -> None:
    selection = Selection(dk.game("dobutsu_v0").state())
    assert selection.click("b1") is None and selection.clicked == ("b1",)
    assert selection.click("c1") is None and selection.clicked == ("c1",)
    assert selection.click("c1") is None and selection.clicked == ()
    assert selection.click("b4") is None and selection.clicked == ()


def test_targets_are_those_of_the_piece() -> None:
    state = dk.game("dobutsu_v0").state()
    selection = Selection(state)
    selection.click("b1")
    assert [state.action_to_text(a) for a in selection.targets] == ["b1c2", "b1a2"]
    assert {"a2", "c2", "c1", "b2"} <= selection.next_spots


def test_drops_begin_in_the_hand_of_the_player_to_move() -> None:
    controller = make_controller(dk.game("dobutsu_v0").state("1l1/3/3/1L1[Cc] b"))
    click(controller, "C@")
    assert controller.notice == "Nothing can be done with C@ now, only with b4, c@."
    click(controller, "a2")
    assert controller.state.history == []
    click(controller, "c@", "a2")
    assert controller.state.history == ["C@a2"]


def test_a_jumping_piece_goes_on_square_by_square() -> None:
    game, fen = MULTI_JUMP
    controller = make_controller(dk.game(game).state(fen))
    click(controller, "a1", "c3")
    assert controller.state.is_turn_open
    view = controller.view(300)
    assert (view["clicked"], view["next"]) == (["c3"], ["e5"])
    assert view["status"] == "player_0: your turn goes on"
    click(controller, "a1")
    assert controller.notice == "The piece on c3 must go on."
    assert controller.view(300)["clicked"] == ["c3"]
    click(controller, "e5")
    assert controller.state.history == ["a1c3e5"] and controller.state.to_move == 1


def test_a_placement_is_one_click() -> None:
    game, fen = PLACEMENT
    controller = make_controller(dk.game(game).state(fen))
    click(controller, "g6", "g7")
    assert controller.state.fen().split()[2] == "@"
    click(controller, "c2")
    assert controller.state.history == ["g6g7,P@c2"]


def test_pass_is_a_button() -> None:
    state = dk.game("ossetian_draughts_v0").state("M6/7/7/7/6m/7/7 w")
    controller = make_controller(state)
    assert controller.view(300)["choices"] == ["pass"]
    click(controller, "a7")
    assert controller.notice == "Nothing can be moved: use the button."
    controller.choose("stay")
    assert "stay" in controller.notice and controller.state.history == []
    controller.choose("pass")
    assert controller.state.history == ["pass"]
    assert controller.view(300)["choices"] == []


class TwoWays(StripDraughts):
    """A game in which two actions have the same squares."""

    id = "two_ways_v0"

    def step_text(self, position: Any, action: int) -> str:
        text = super().step_text(position, action)
        return text if action // 12 != 1 else f"{super().step_text(position, action - 12)}+"


def test_actions_of_the_same_squares_are_buttons() -> None:
    controller = make_controller(TwoWays().state())
    click(controller, "b1", "c1")
    assert controller.view(300)["choices"] == ["b1c1", "b1c1+"]
    controller.choose("b1c1+")
    assert controller.state.history == ["b1c1+"]


def test_clicks_that_lead_nowhere_are_explained() -> None:
    controller = make_controller("dobutsu_v0", "human", FirstAction())
    click(controller, "b4")
    assert controller.notice == "Nothing can be done with b4 now, only with b1, b2, c1."
    click(controller, "b1", "b4")
    assert controller.notice == "b1 cannot go to b4."
    click(controller, "b2", "b3")
    assert controller.notice == ""
    click(controller, "b4")
    assert "the turn of FirstAction" in controller.notice
    over = make_controller(dk.game("dobutsu_v0").state("3/1L1/l2/3[-] w"))
    over.push("b3b4")
    click(over, "b4")
    assert over.notice == "The game is over: begin a new one or take back a turn."
    assert over.view(300)["next"] == []


# --- The game -------------------------------------------------------------------------------------


def test_status_names_the_turn_and_the_rule_that_ended_the_game() -> None:
    controller = make_controller("dobutsu_v0", "human", "random")
    assert controller.status() == "Your turn"
    controller.push("b2b3")
    assert controller.status() == "random is to move"
    assert controller.status(is_busy=True) == "random is thinking …"
    won = dk.game("dobutsu_v0").state("3/1L1/l2/3[-] w")
    won.push("b3a2")
    assert make_controller(won, "human", "random").status() == "You won: lion captured"
    assert make_controller(won, "random", "human").status() == "You lost: lion captured"
    assert make_controller(won).status() == "player_0 won: lion captured"
    draw = dk.game("ossetian_draughts_v0").state("M6/7/7/7/7/7/6m w")
    assert make_controller(draw).status() == "Draw: blocked"
    cut = dk.game("dobutsu_v0", max_turns=1).state()
    cut.push("b2b3")
    assert make_controller(cut).status() == "Stopped: max turns"


def test_turns_are_numbered_from_whoever_began() -> None:
    controller = make_controller(dk.game("dobutsu_v0").state("gle/1c1/1C1/ELG[-] b"))
    assert controller.numbered_turns() == []
    controller.push("b3b2")
    assert controller.numbered_turns() == [["1.", "…", "b3b2"]]
    controller.push("b1b2")
    assert controller.numbered_turns() == [["1.", "…", "b3b2"], ["2.", "b1b2", ""]]


def test_undo_takes_back_the_reply_too() -> None:
    controller = make_controller("dobutsu_v0", "human", FirstAction())
    assert not controller.can_undo
    controller.undo()
    assert controller.notice == "There is no turn to take back."
    start = controller.state
    click(controller, "b2", "b3")
    play_jobs(controller)
    after_one = controller.state
    assert len(after_one.history) == 2
    controller.push(controller.state.turns()[0])
    controller.undo()  # before the reply
    assert controller.state == after_one
    controller.undo()
    assert controller.state == start and not controller.is_paused


def test_undo_never_takes_back_an_agents_first_turn_alone() -> None:
    controller = make_controller("dobutsu_v0", FirstAction(), "human")
    assert controller.perspective == 1
    play_jobs(controller)
    assert len(controller.state.history) == 1 and not controller.can_undo


def test_undo_takes_back_an_open_turn_whole() -> None:
    game, fen = MULTI_JUMP
    controller = make_controller(dk.game(game).state(fen))
    click(controller, "a1", "c3")
    controller.undo()
    assert controller.state == dk.game(game).state(fen)
    click(controller, "a1", "c3", "e5")
    controller.undo()
    assert controller.state == dk.game(game).state(fen)


def test_undo_and_new_game_after_the_end() -> None:
    start = dk.game("dobutsu_v0").state("3/1L1/l2/3[-] w")
    controller = make_controller(start, "human", FirstAction())
    click(controller, "b3", "a2")
    assert controller.state.is_over
    controller.undo()
    assert controller.state == start
    click(controller, "b3", "a2")
    controller.new_game()
    assert controller.state == start and controller.status() == "Your turn"


def test_agents_play_each_other_and_undo_stops_them() -> None:
    controller = make_controller("ossetian_draughts_v0", "random", "greedy", seed=3)
    play_jobs(controller)
    assert controller.state.is_over
    controller.undo()
    assert controller.is_paused and controller.next_job() is None
    click(controller, "a1")
    assert "Go on" in controller.notice
    controller.go_on()
    play_jobs(controller)
    assert controller.state.is_over


def test_a_seed_decides_the_games() -> None:
    def games(seed: int) -> list[list[str]]:
        controller = make_controller("dobutsu_v0", "random", "random", seed=seed)
        play_jobs(controller)
        first = controller.state.history
        controller.new_game()
        play_jobs(controller)
        return [first, controller.state.history]

    assert games(1) == games(1) != games(2)
    assert games(1)[0] != games(1)[1]


def test_a_state_and_an_environment_are_copied() -> None:
    state = dk.game("dobutsu_v0").state()
    state.push("b2b3")
    env = dk.make("dobutsu_v0")
    env.reset()
    env.step(int(env.state_object.legal_actions()[0]))
    gym_env = gymnasium.make("deskovky/Dobutsu-v0", opponent="greedy")
    gym_env.reset(seed=0)
    for given, copied in (
        (state, state),
        (env, env.state_object),
        (gym_env, gym_env.unwrapped.state_object),  # type: ignore[attr-defined]
    ):
        before = copied.copy()
        controller = make_controller(given)
        assert controller.state == before
        controller.push(controller.state.turns()[0])
        assert copied == before


def test_a_state_can_be_assigned() -> None:
    controller = make_controller("dobutsu_v0")
    state = controller.state
    state.push("b2b3")
    assert controller.state != state
    controller.state = state
    assert controller.state == state
    for other in (dk.game("dobutsu_v0", ruleset="fairy").state(), None):
        with pytest.raises(ConfigurationError, match="not a state of this dobutsu_v0"):
            controller.state = other  # type: ignore[assignment]
    with pytest.raises(IllegalActionError):
        controller.push("a1a4")
    assert controller.state == state


@pytest.mark.parametrize(
    "arguments, options, error, message",
    [
        ((42,), {}, ConfigurationError, "not 42"),
        ((StripDraughts(),), {"max_turns": 9}, ConfigurationError, "max_turns"),
        (("dobutsu_v0", "minimax:deep=2"), {}, AgentSpecError, "deep"),
        (("dobutsu_v0", None), {}, AgentSpecError, "None"),
        (("dobutsu_v0", FirstAction), {}, AgentSpecError, "FirstAction"),
        (("dobutsu_v0",), {"perspective": 2}, ConfigurationError, "perspective"),
    ],
)
def test_bad_arguments(arguments: Any, options: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        make_controller(*arguments, **options)


# --- Analysis -------------------------------------------------------------------------------------


def test_analysis_on_request() -> None:
    state = dk.game("dobutsu_v0").state("3/1l1/1L1/3[-] w")
    controller = make_controller(state, "human", "random", advisor="minimax:depth=3")
    plain = controller.view(300)
    assert plain["analysis"] is None and controller.next_job() is None
    controller.toggle_analysis()
    assert controller.view(300)["analysis"] == "minimax:depth=3: …"
    play_jobs(controller)
    view = controller.view(300)
    assert view["analysis"] == "minimax:depth=3: value +1.00 for player_0; b2b3 100%"
    assert view["svg"] != plain["svg"]
    controller.toggle_analysis()
    assert controller.view(300)["svg"] == plain["svg"]
    controller.toggle_analysis()
    click(controller, "b2", "b3")
    assert controller.view(300)["analysis"] == "" and controller.next_job() is None


def test_the_opponent_is_the_advisor_by_default() -> None:
    controller = make_controller("dobutsu_v0", "greedy", "human")
    play_jobs(controller)
    controller.toggle_analysis()
    play_jobs(controller)
    text = controller.view(300)["analysis"]
    assert text.startswith("greedy: ") and "value" not in text
    alone = make_controller("dobutsu_v0")
    assert not alone.view(300)["has_advisor"]
    alone.toggle_analysis()
    assert "advisor" in alone.notice and not alone.is_analysis_on


# --- The widget -----------------------------------------------------------------------------------


def make_board(*arguments: Any, **options: Any) -> Any:
    pytest.importorskip("anywidget")
    return dk.board(*arguments, **options)


def send(board: Any, command: str, *arguments: str) -> None:
    """Do as the front end does."""
    board._handle_custom_msg({"command": command, "arguments": list(arguments)}, [])


def test_a_program_without_event_loop_waits_for_the_agent() -> None:
    board = make_board("dobutsu_v0", black=FirstAction())
    send(board, "click", "b2")
    assert board.shown["clicked"] == ["b2"]
    send(board, "click", "b3")
    assert len(board.state.history) == 2
    assert board.shown["status"] == "Your turn" and not board.shown["is_busy"]
    send(board, "undo")
    assert board.state == dk.game("dobutsu_v0").state()


def test_boards_are_independent() -> None:
    one, other = make_board("dobutsu_v0"), make_board("dobutsu_v0", white="greedy", black="human")
    before = other.state
    one.push("b2b3")
    send(one, "flip")
    assert other.state == before and other.shown["perspective"] == 1
    assert one.shown["perspective"] == 1
    send(other, "flip")
    assert (one.shown["perspective"], other.shown["perspective"]) == (1, 0)


def test_the_kernel_is_free_while_an_agent_thinks() -> None:
    agent = Slow()

    async def play() -> None:
        board = make_board("dobutsu_v0", black=agent)
        send(board, "click", "b2")
        send(board, "click", "b3")
        await until(lambda: agent.num_calls == 1)
        assert board.shown["status"] == "Slow is thinking …" and board.shown["is_busy"]
        send(board, "click", "a1")
        assert "a moment, please" in board.shown["notice"]
        assert board.state.history == ["b2b3"]
        agent.may_go_on.set()
        await until(lambda: not board.shown["is_busy"])
        assert len(board.state.history) == 2 and board.shown["status"] == "Your turn"

    asyncio.run(play())


def test_a_thought_for_a_game_that_is_gone_is_dropped() -> None:
    agent = Slow()

    async def play() -> None:
        board = make_board("dobutsu_v0", black=agent)
        board.push("b2b3")
        await until(lambda: agent.num_calls == 1)
        send(board, "undo")
        assert board.shown["status"] == "Your turn"
        agent.may_go_on.set()
        await until(lambda: not board.shown["is_busy"])
        assert board.state.history == []

    asyncio.run(play())


def test_work_that_was_cut_off_is_taken_up_again() -> None:
    """JupyterLab's thread of a page, and its loop, end when the page is closed."""
    agent = Slow()

    async def leave_early() -> None:
        board.push("b2b3")
        await until(lambda: agent.num_calls == 1)
        threading.Timer(0.2, agent.may_go_on.set).start()

    async def make() -> Any:
        return make_board("dobutsu_v0", black=agent)

    board = asyncio.run(make())
    asyncio.run(leave_early())
    assert board.state.history == ["b2b3"]
    send(board, "click", "a1")
    assert len(board.state.history) == 2 and board.shown["status"] == "Your turn"


def test_the_pretrained_agent_plays_and_advises() -> None:
    pytest.importorskip("torch")
    board = make_board("dobutsu_v0", black="pretrained:dobutsu_v0?simulations=8")
    board.push("b2b3")
    assert len(board.state.history) == 2
    send(board, "analysis")
    assert "pretrained:dobutsu_v0?simulations=8: value" in board.shown["analysis"]


def test_an_agent_that_fails_is_named_and_can_be_asked_again() -> None:
    board = make_board("dobutsu_v0", black=Broken())
    board.push("b2b3")
    assert board.shown["notice"] == "An agent failed: RuntimeError: no idea"
    assert board.shown["is_paused"] and board.state.history == ["b2b3"]
    send(board, "go_on")
    assert board.shown["notice"] == "An agent failed: RuntimeError: no idea"
    send(board, "undo")
    assert board.shown["status"] == "Your turn" and board.shown["notice"] == ""


def test_an_advisor_that_fails_is_asked_no_more() -> None:
    board = make_board("dobutsu_v0", black="human", advisor=Broken())
    send(board, "analysis")
    assert "no idea" in board.shown["notice"] and board.shown["analysis"] is None
    board.push("b2b3")
    assert board.shown["notice"] == ""


async def until(condition: Any) -> None:
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("nothing happened")


def test_spots_are_where_the_picture_has_them() -> None:
    board = make_board("dobutsu_v0", black="human")
    spots = board.spots["spots"]
    assert len(spots) == 12 + 8
    assert spots["a1"][0] < spots["b1"][0] and spots["a1"][1] > spots["a2"][1]
    send(board, "flip")
    flipped = board.spots["spots"]
    assert flipped["a1"] == pytest.approx(spots["c4"])
    assert flipped["C@"] == pytest.approx(spots["c@"])
    for x, y, width, height in spots.values():
        assert 0 <= x < x + width <= 1 and 0 <= y < y + height <= 1


def test_a_game_is_saved_and_taken_up_again(tmp_path: Path) -> None:
    board = make_board("dobutsu_v0", black=FirstAction())
    board.push("b2b3")
    board.save(tmp_path / "game.pgn")
    (record,) = read_records(tmp_path / "game.pgn")
    assert record == board.record()
    assert dict(record.headers) == {"Player0": "human", "Player1": "FirstAction"}
    assert make_board(record.state(), black="human").state == board.state


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "deskovky.notebook.widget", raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ConfigurationError, match=r"deskovky\[notebook\]"):
        dk.board("dobutsu_v0")


def test_size_is_checked() -> None:
    with pytest.raises(ConfigurationError, match="size = 5"):
        make_board("dobutsu_v0", size=5)


def test_nothing_of_it_is_imported_before_it_is_used() -> None:
    import subprocess

    program = "import deskovky, sys; print(*{'anywidget', 'ipywidgets'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "")
