"""The board in notebooks: play any game by hand, against any agent.

    dk.board("xiangqi_v0", white="human", black="minimax:depth=3")

`Controller` is all of it but the widget: the game, whose turn it is and what clicks mean, in plain
Python. The widget shows the picture and sends the clicks; it knows no rules.
"""

from typing import TYPE_CHECKING, Any

from deskovky.agents import Agent
from deskovky.envs.protocol import Game, State
from deskovky.errors import ConfigurationError

if TYPE_CHECKING:
    from deskovky.notebook.widget import Board


def board(
    game: str | Game | State | Any,
    white: str | Agent = "human",
    black: str | Agent = "minimax:depth=2",
    *,
    advisor: str | Agent | None = None,
    perspective: int | None = None,
    size: int = 480,
    seed: int | None = None,
    **game_options: Any,
) -> "Board":
    """Return a board to play on in a notebook, a widget.

    game: what is played: the id of a game; a `Game`; a state, from which play goes on; or an
        environment with a game in progress. State and environment are copied, not changed.
    white, black: who plays player 0 and player 1: ``"human"``, an agent or its spec.
    advisor: the agent whose policy and value the button "Analysis" shows; None is the agent that
        plays, if there is one.
    perspective: the player at the bottom; None is the human, player 0 if both or neither are.
    size: of the picture's longer side, in pixels.
    seed: decides all that is random in agents made from specs.
    game_options: `ruleset`, `setup` and `max_turns`, if `game` is an id.

    `state` of the board is a copy of the game; assign a state to go on from there. Raises
    ConfigurationError without the extra `notebook` and for values that cannot be used,
    UnknownGameError, AgentSpecError and CheckpointError as `dk.game` and `dk.agent` do.
    """
    try:
        from deskovky.notebook.widget import Board
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "deskovky":
            raise
        raise ConfigurationError(
            f"dk.board needs the package {error.name!r}: pip install 'deskovky[notebook]'"
        ) from error
    from deskovky.notebook.controller import Controller

    controller = Controller(
        game, white, black, advisor=advisor, perspective=perspective, seed=seed, **game_options
    )
    return Board(controller, size=size)
