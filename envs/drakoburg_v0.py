"""Drakoburg as a PettingZoo module: `env()`, and `raw_env()`, which is the same."""

from deskovky.envs.aec import env_function

env = raw_env = env_function("drakoburg_v0")
