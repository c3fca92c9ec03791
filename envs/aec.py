"""The PettingZoo environment: one AECEnv for every game.

The end of a game, as `last()` shows it: the winner's step ends the game, so the other player is
selected first and reads its -1; after its `step(None)` the winner is selected and reads its +1;
after that `step(None)` too, `agents` is empty.

    player_0  last() -> reward  0, terminated False    step(winning action)
    player_1  last() -> reward -1, terminated True     step(None)
    player_0  last() -> reward +1, terminated True     step(None)

The environment checks order and bounds itself and raises the errors of deskovky.errors. The
wrappers that PettingZoo's own games add for this cost more time than these games do, so `env` and
`raw_env` of a game are the same here.
"""

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np
from gymnasium import logger, spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from deskovky.envs.protocol import Game, Outcome, State, Termination
from deskovky.envs.render import RENDER_FPS, RENDER_MODES, Frame, Window, render_state
from deskovky.envs.support import (
    as_game,
    check_choice,
    illegal_action_error,
    observation_space,
    start_state,
)
from deskovky.errors import ConfigurationError, DeskovkyError, IllegalActionError

Observation = dict[str, NDArray[Any]]

_AGENTS = ("player_0", "player_1")
_PLAYER = {"player_0": 0, "player_1": 1}
_OTHER = {"player_0": "player_1", "player_1": "player_0"}
_INT8 = np.dtype(np.int8)  # made once: the loop of step() and last() is measured in microseconds


class BoardGameEnv(AECEnv[str, Observation, Any]):
    """A two-player board game with the PettingZoo AEC interface.

    game: a `Game`, native or plain Python, or a registered name.
    render_mode: what `render()` returns: ``"ansi"`` the board as text, ``"svg"`` as SVG text,
        ``"rgb_array"`` as pixels, `[height, width, 3]` uint8 (extra `render`); ``"human"`` shows it
        in a window after every step (extra `window`); or None.
    illegal: what an illegal action does: ``"raise"`` raises IllegalActionError and changes nothing;
        ``"lose"`` ends the game, -1 for its player and +1 for the other, terminated for the reason
        `illegal_action`.
    legal_moves: put the texts of the legal actions, in the order of the mask, into
        ``info["legal_moves"]`` of the player to move. It costs time.
    game_options: `ruleset`, `setup`, `max_turns` and so on, if `game` is a name.

    The observation of a player is a dict: ``"observation"``, `[planes, ranks, files]` float32 as
    seen by that player, and ``"action_mask"``, `[num_actions]` int8, 1 = legal. The mask is all
    zeros for the player who waits and for everybody after the end; the mask of the player to move
    is also in its info. While a turn of several steps is unfinished the same player stays selected.
    When the game is over, ``info["termination"]`` of both players names the rule that ended it, and
    ``info["winner"]`` is the agent who won, or None.

    A game cut off by `max_turns` is truncated; every end by rule, a draw too, is terminated.
    """

    metadata = {
        "name": "deskovky",  # of the class; each environment has the name of its game
        "render_modes": RENDER_MODES,
        "is_parallelizable": False,
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        game: Game | str,
        render_mode: str | None = None,
        illegal: str = "raise",
        legal_moves: bool = False,
        **game_options: Any,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call, unused-ignore]
        check_choice("render_mode", render_mode, [None, *RENDER_MODES])
        check_choice("illegal", illegal, ["raise", "lose"])
        self.game = as_game(game, game_options)
        self.metadata = {**self.metadata, "name": self.game.id}
        self.render_mode = render_mode
        self._window = Window()
        self.illegal = illegal
        self.legal_moves = legal_moves

        self.possible_agents = list(_AGENTS)
        self.observation_spaces: dict[str, spaces.Space[Any]] = {}
        self.action_spaces: dict[str, spaces.Space[Any]] = {}
        for agent in _AGENTS:  # each its own, as their random streams are
            self.observation_spaces[agent] = self._observation_space()
            self.action_spaces[agent] = spaces.Discrete(self.game.num_actions)

        # Until the first reset there is no game: no agents, and a step is refused as after an end.
        self.agents: list[str] = []
        self.agent_selection = _AGENTS[0]
        self.rewards: dict[str, float] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._state: State | None = None
        self._mask: NDArray[np.int8] | None = None  # of the selected agent; None after the end
        self._outcome: Outcome | None = None
        self._is_over = True

    def _observation_space(self) -> spaces.Space[Any]:
        mask = spaces.Box(0, 1, (self.game.num_actions,), np.int8)
        return spaces.Dict({"observation": observation_space(self.game), "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of `agent`'s observations, the same object at each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of `agent`'s actions, the same object at each call."""
        return self.action_spaces[agent]

    @property
    def state_object(self) -> State:
        """The game itself. Copy it before you change it; assign a state to go on from there.

        Assigning takes a copy. Raises ConfigurationError for a state of another game or options.
        """
        if self._state is None:
            raise DeskovkyError("the environment has no game yet: call reset() first")
        return self._state

    @state_object.setter
    def state_object(self, state: State) -> None:
        if state.game != self.game:
            raise ConfigurationError(f"the state is of another game than this {self.game.id}")
        self._start(state.copy())

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, an illegal action included; None while it goes on."""
        return self._outcome

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game, at ``options["fen"]`` if given.

        The games have no chance in them, so `seed` changes nothing; other options are ignored, as
        PettingZoo asks. Raises FenError for a bad FEN and then leaves the running game as it was.
        """
        self._start(start_state(self.game, options))

    def step(self, action: int | None) -> None:
        """Make one step of the selected agent; NumPy integers are welcome.

        A finished agent takes None and leaves. Raises IllegalActionError, with nothing changed, if
        the action is not an integer, comes before `reset` or after the end, or is illegal (the
        last unless ``illegal="lose"``).
        """
        if self._is_over:
            self._step_over(action)
            return
        agent = self.agent_selection
        state = self._state
        assert state is not None
        try:
            number = index(action)  # type: ignore[arg-type]
        except TypeError:
            raise IllegalActionError(f"{agent} needs an integer action, not {action!r}") from None
        try:
            state.apply(number)
        except IllegalActionError:
            if self.illegal == "raise":
                raise illegal_action_error(state, number, agent) from None
            self._forfeit(agent)
        else:
            if state.is_over:
                assert state.outcome is not None
                self._finish(state.outcome, state.returns(), _OTHER[agent])
            else:
                if state.to_move != _PLAYER[agent]:  # the turn is complete
                    self.infos[agent] = {}
                    self.agent_selection = agent = _OTHER[agent]
                self._offer(agent, state)
        if self.render_mode == "human":
            self.render()

    def undo(self) -> None:
        """Take back one step, or the illegal action that lost the game.

        Rewards are zero afterwards, both agents are back in the game. Raises IllegalActionError at
        the start of the game.
        """
        state = self.state_object
        if self._outcome is None or self._outcome.termination is not Termination.ILLEGAL_ACTION:
            state.undo()
        self._start(state)

    def observe(self, agent: str) -> Observation:
        """Return what `agent` sees now: ``"observation"`` and ``"action_mask"``.

        Raises DeskovkyError before `reset`, ConfigurationError for an agent that does not exist.
        """
        state = self._state
        if state is None:
            state = self.state_object  # raises: reset() was never called
        mask = self._mask if agent == self.agent_selection else None
        if mask is None:
            mask = np.zeros(self.game.num_actions, np.int8)
        try:
            player = _PLAYER[agent]
        except KeyError:
            agents = " and ".join(_AGENTS)
            raise ConfigurationError(f"there is no agent {agent!r}, only {agents}") from None
        return {"observation": state.observation(player), "action_mask": mask}

    def last(
        self, observe: bool = True
    ) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since its last step, terminated, truncated and info.

        All of the selected agent. Raises DeskovkyError before `reset` and once all agents left.
        """
        agent = self.agent_selection
        observation = self.observe(agent) if observe else None
        try:
            return (
                observation,
                self._cumulative_rewards[agent],
                self.terminations[agent],
                self.truncations[agent],
                self.infos[agent],
            )
        except KeyError:
            raise DeskovkyError("no agent is in the game: call reset() first") from None

    def render(self) -> str | Frame | None:
        """Return the board as `render_mode` asks, or show it in the window (``"human"``).

        Raises RenderError where the package or the display for it is missing.
        """
        if self.render_mode is None:
            logger.warn("render() was called on an environment made without a render_mode")
            return None
        state, outcome = self.state_object, self._outcome
        return render_state(self.render_mode, state, outcome, self._window)

    def close(self) -> None:
        """Close the window of ``render_mode="human"``, if there is one."""
        self._window.close()

    def _start(self, state: State) -> None:
        """Make `state` the game, as if it had just begun there."""
        self._state = state
        self._is_over = False
        self._outcome = None
        self.agents = list(_AGENTS)
        self.agent_selection = _AGENTS[state.to_move]
        self.rewards = {"player_0": 0.0, "player_1": 0.0}
        self._cumulative_rewards = {"player_0": 0.0, "player_1": 0.0}
        self.terminations = {"player_0": False, "player_1": False}
        self.truncations = {"player_0": False, "player_1": False}
        self.infos = {"player_0": {}, "player_1": {}}
        if state.is_over:  # a FEN may show a finished game
            assert state.outcome is not None
            self._finish(state.outcome, state.returns(), self.agent_selection)
        else:
            self._offer(self.agent_selection, state)
        if self.render_mode == "human":
            self.render()

    def _offer(self, mover: str, state: State) -> None:
        """Show `mover` its legal actions."""
        # NumPy's bool and int8 share their bytes, and Gymnasium's `sample(mask)` insists on int8.
        self._mask = mask = state.legal_action_mask().view(_INT8)
        info: dict[str, Any] = {"action_mask": mask}
        self.infos[mover] = info
        if self.legal_moves:
            info["legal_moves"] = [state.action_to_text(a) for a in state.legal_actions().tolist()]

    def _finish(self, outcome: Outcome, returns: tuple[float, float], first: str) -> None:
        """End the game; the agent `first` is the first to be told."""
        self._is_over = True
        self._mask = None
        self._outcome = outcome
        self.agent_selection = first
        truncated = outcome.is_truncation
        winner = None if outcome.winner is None else _AGENTS[outcome.winner]
        for agent, reward in zip(_AGENTS, returns, strict=True):
            self.rewards[agent] = reward
            self._cumulative_rewards[agent] += reward
            self.terminations[agent] = not truncated
            self.truncations[agent] = truncated
            self.infos[agent] = {"termination": outcome.termination, "winner": winner}

    def _forfeit(self, loser: str) -> None:
        """End the game for an illegal action of `loser`."""
        winner = _PLAYER[_OTHER[loser]]
        returns = (1.0, -1.0) if winner == 0 else (-1.0, 1.0)
        self._finish(Outcome(winner, Termination.ILLEGAL_ACTION), returns, _AGENTS[winner])

    def _step_over(self, action: object) -> None:
        """Let a finished agent leave."""
        if not self.agents:
            raise IllegalActionError("no agent is in the game: call reset() first")
        agent = self.agent_selection
        if action is not None:
            assert self._outcome is not None
            reason = self._outcome.termination
            raise IllegalActionError(f"the game is over ({reason}): {agent} can only step(None)")
        self.agents.remove(agent)
        tables: list[dict[str, Any]] = [
            self.rewards,
            self._cumulative_rewards,
            self.terminations,
            self.truncations,
            self.infos,
        ]
        for table in tables:
            del table[agent]
        for other in self.agents:
            self.agent_selection = other
            self.rewards[other] = 0.0  # it stays in the cumulative reward until `other` has left


def env_function(game_id: str) -> Callable[..., BoardGameEnv]:
    """Return the function `env(**kwargs)` of a PettingZoo module such as `dobutsu_v0`."""

    def env(
        render_mode: str | None = None,
        illegal: str = "raise",
        legal_moves: bool = False,
        **game_options: Any,
    ) -> BoardGameEnv:
        """Make the environment; see `BoardGameEnv` for the options."""
        return BoardGameEnv(game_id, render_mode, illegal, legal_moves, **game_options)

    return env
