"""Trained agents that come with the package.

    agent("pretrained:dobutsu_v0?simulations=64")

The weights of a game stand beside this file as GAME.safetensors; GAME.md is the card that says how
they were trained and how strong they are. Both are written by `deskovky train pretrained`.
"""

from pathlib import Path

from deskovky.agents.alphazero import AlphaZeroAgent
from deskovky.agents.checkpoint import WEIGHTS_SUFFIX
from deskovky.agents.registry import spec_text
from deskovky.envs import canonical_id
from deskovky.errors import AgentSpecError, UnknownGameError

FOLDER = Path(__file__).parent


def pretrained_games() -> tuple[str, ...]:
    """Return the ids of the games that a trained agent comes with."""
    return tuple(sorted(path.stem for path in FOLDER.glob(f"*{WEIGHTS_SUFFIX}")))


class PretrainedAgent(AlphaZeroAgent):
    """The trained agent of a game.

    path: the id of the game.
    simulations, gumbel_scale, device, seed: as for AlphaZeroAgent.

    Raises AgentSpecError if no agent was trained for that game, CheckpointError if its weights are
    damaged.
    """

    def __init__(
        self,
        path: str,
        *,
        simulations: int = 64,
        gumbel_scale: float = 0.0,
        device: str = "auto",
        seed: int | None = None,
    ) -> None:
        try:
            game = canonical_id(path)
        except UnknownGameError as error:
            raise AgentSpecError(f"agent spec 'pretrained:{path}': {error}") from None
        if game not in pretrained_games():
            raise AgentSpecError(
                f"agent spec 'pretrained:{path}': no agent was trained for {game}; there are: "
                + (", ".join(pretrained_games()) or "none")
            )
        super().__init__(
            FOLDER / f"{game}{WEIGHTS_SUFFIX}",
            simulations=simulations,
            gumbel_scale=gumbel_scale,
            device=device,
            seed=seed,
        )
        self._name = spec_text(
            "pretrained", game, simulations=simulations, gumbel_scale=gumbel_scale or None
        )
