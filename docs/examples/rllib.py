"""Self-play with RLlib's PPO and action masks: one module plays both sides.

pip install "ray[rllib]" torch; python docs/examples/rllib.py
"""

import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env
from torch import nn

import deskovky as dk
from deskovky.agents import Agent
from deskovky.train.evaluate import evaluate


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """A perceptron that gives a policy, over the legal actions alone, and a value."""

    def setup(self):
        inputs = self.observation_space["observation"].shape
        width = self.model_config["width"]
        self.body = nn.Sequential(
            nn.Flatten(), nn.Linear(torch.Size(inputs).numel(), width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
        )  # fmt: skip
        self.policy = nn.Linear(width, self.action_space.n)
        self.value = nn.Linear(width, 1)

    def _forward(self, batch, **kwargs):
        observation = batch[Columns.OBS]
        features = self.body(observation["observation"])
        logits = self.policy(features).masked_fill(observation["action_mask"] == 0, -1e9)
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: features}

    def compute_values(self, batch, embeddings=None):
        if embeddings is None:
            embeddings = self.body(batch[Columns.OBS]["observation"])
        return self.value(embeddings).squeeze(-1)


class ModuleAgent(Agent):
    """Plays the likeliest action of a trained module."""

    def __init__(self, module):
        self.module = module

    def act(self, state):
        observation = {"observation": state.observation(), "action_mask": state.legal_action_mask()}
        batch = {key: torch.from_numpy(array)[None] for key, array in observation.items()}
        with torch.no_grad():
            outputs = self.module.forward_inference({Columns.OBS: batch})
        return int(outputs[Columns.ACTION_DIST_INPUTS].argmax())


def train(game, iterations):
    register_env(game, lambda options: PettingZooEnv(dk.make(game, **options)))
    config = (
        PPOConfig()
        .environment(game, disable_env_checking=True)  # the check knows no masks
        .env_runners(num_env_runners=0, num_envs_per_env_runner=16)
        .multi_agent(policies={"self"}, policy_mapping_fn=lambda *args, **kwargs: "self")
        .rl_module(rl_module_spec=RLModuleSpec(MaskedModule, model_config={"width": 128}))
        .training(train_batch_size_per_learner=2048, minibatch_size=256, num_epochs=4)
        .training(lr=1e-3, entropy_coeff=0.01)
        .debugging(seed=0)
    )
    algorithm = config.build_algo()
    for _ in range(iterations):
        algorithm.train()
    agent = ModuleAgent(algorithm.get_module("self"))
    algorithm.stop()
    return agent


if __name__ == "__main__":
    agent = train("dobutsu_v0", iterations=20)
    for opponent in ("random", "greedy"):
        match = evaluate("dobutsu_v0", agent, opponent)
        print(f"{match.score:.0%} against {opponent}")
