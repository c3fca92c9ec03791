"""The things that benchmarks time, ours and our peers': `python benchmarks/workloads.py NAME`.

Each function prepares its subject and returns a callable that does a piece of work and returns how
many units it did (steps, nodes, simulations). The program repeats that for some CPU seconds and
prints one line of JSON. `run.py` starts it in a process of its own for every single measurement.
"""

import atexit
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Work = Callable[[], int]

NUM_ENVS = 1024
BATCH = 64  # games searched at once
NUM_SIMULATIONS = 32


# --- Vectors of games, random legal play, observations and masks written, autoreset ---------------


def vector(game: str = "dobutsu_v0", num_threads: int = 1) -> Work:
    import deskovky as dk

    games = dk.make_vec(game, num_envs=NUM_ENVS, num_threads=num_threads, seed=0)
    games.reset()

    def work() -> int:
        for _ in range(50):
            games.step(games.sample_actions())
        return 50 * NUM_ENVS

    return work


def vector_2_threads() -> Work:
    return vector(num_threads=2)


def vector_pgx() -> Work:
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make("animal_shogi")
    step_fn = jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def step(state: Any, key: Any) -> Any:
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        key, sampling, stepping = jax.random.split(key, 3)
        actions = jax.random.categorical(sampling, logits)
        return step_fn(state, actions, jax.random.split(stepping, NUM_ENVS)), key

    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), NUM_ENVS))
    key = jax.random.PRNGKey(1)

    def work() -> int:
        nonlocal state, key
        for _ in range(5):
            state, key = step(state, key)
        jax.block_until_ready(state.observation)
        return 5 * NUM_ENVS

    return work


# --- The PettingZoo loop: last, a masked choice, step ---------------------------------------------


def aec_loop(env: Any, is_sampled: bool = False) -> Work:
    """The choice is Gymnasium's `sample(mask)`, or one that costs next to nothing."""
    from random import random

    def work() -> int:
        steps = 0
        while steps < 2000:
            env.reset(seed=0)
            for agent in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                elif is_sampled:
                    env.step(env.action_space(agent).sample(observation["action_mask"]))
                else:
                    legal = observation["action_mask"].nonzero()[0]
                    env.step(legal[int(random() * len(legal))])
                steps += 1
        return steps

    return work


def aec(is_sampled: bool = False) -> Work:
    import deskovky as dk

    return aec_loop(dk.make("dobutsu_v0"), is_sampled)


def aec_sampled() -> Work:
    return aec(is_sampled=True)


def aec_nothing_sampled() -> Work:
    return aec_nothing(is_sampled=True)


def aec_connect_four_sampled() -> Work:
    return aec_connect_four(is_sampled=True)


def aec_nothing(is_sampled: bool = False) -> Work:
    """An environment of the same shapes that does nothing: the floor of the loop itself."""
    import numpy as np
    from gymnasium import spaces
    from pettingzoo import AECEnv

    class Nothing(AECEnv[str, Any, Any]):
        metadata = {"name": "nothing", "render_modes": [], "is_parallelizable": False}

        def __init__(self) -> None:
            self.possible_agents = ["player_0", "player_1"]
            self.spaces = {agent: spaces.Discrete(132) for agent in self.possible_agents}
            mask = np.zeros(132, np.int8)
            mask[:8] = 1
            self.seen = {"observation": np.zeros((17, 4, 3), np.float32), "action_mask": mask}

        def action_space(self, agent: str) -> Any:
            return self.spaces[agent]

        def observe(self, agent: str) -> Any:
            return self.seen

        def reset(self, seed: int | None = None, options: Any = None) -> None:
            self.agents = list(self.possible_agents)
            self.agent_selection = "player_0"
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
            self.terminations = dict.fromkeys(self.agents, False)
            self.truncations = dict.fromkeys(self.agents, False)
            self.infos = {agent: {} for agent in self.agents}
            self.num_steps = 0

        def step(self, action: Any) -> None:
            if self.terminations[self.agent_selection]:
                self.agents.remove(self.agent_selection)
            self.agent_selection = "player_1" if self.agent_selection == "player_0" else "player_0"
            self.num_steps += 1
            if self.num_steps == 40:
                self.terminations = dict.fromkeys(self.possible_agents, True)

    return aec_loop(Nothing(), is_sampled)


def aec_connect_four(is_sampled: bool = False) -> Work:
    from pettingzoo.classic import connect_four_v3

    return aec_loop(connect_four_v3.env(), is_sampled)


def state_api(game_id: str = "dobutsu_v0") -> Work:
    """Random play through the Python State, without observations."""
    from random import random

    import deskovky as dk

    game = dk.game(game_id)

    def work() -> int:
        steps = 0
        while steps < 2000:
            state = game.state()
            while not state.is_over:
                actions = state.legal_actions()
                state.apply(actions[int(random() * len(actions))])
                steps += 1
        return steps

    return work


# --- Perft ----------------------------------------------------------------------------------------


PERFT_DEPTHS = {
    "dobutsu_v0": 8,
    "xiangqi_v0": 4,
    "drakoburg_v0": 4,
    "gothic_draughts_v0": 5,
    "ossetian_draughts_v0": 9,
    "knight_draughts_v0": 4,
    "medieval_battle_v0": 5,
}


def perft(game_id: str) -> Work:
    """Rulesets as Fairy-Stockfish has them, where it has the game."""
    import deskovky as dk

    rulesets = {"dobutsu_v0": "fairy", "xiangqi_v0": "axf"}
    game = dk.game(game_id, ruleset=rulesets.get(game_id))
    return lambda: game.perft(PERFT_DEPTHS[game_id])


def perft_fairy_stockfish(game_id: str) -> Work:
    """Fairy-Stockfish's program, large-board build; see build_fairy_stockfish.sh."""
    program = os.environ["FAIRY_STOCKFISH"]
    variant = game_id.removesuffix("_v0")
    commands = (
        f"setoption name UCI_Variant value {variant}\nposition startpos\n"
        f"go perft {PERFT_DEPTHS[game_id]}\nquit\n"
    )

    def work() -> int:
        done = subprocess.run([program], input=commands, capture_output=True, text=True, check=True)
        return int(done.stdout.split("Nodes searched:")[1].split()[0])

    return work


# --- Search ---------------------------------------------------------------------------------------


def mcts(game_id: str, simulations: int = 1000) -> Work:
    import deskovky as dk

    state = dk.game(game_id).state()
    agent = dk.agent(f"mcts:simulations={simulations}", seed=0)

    def work() -> int:
        agent.act(state)
        return simulations

    return work


def mcts_openspiel(game_id: str, simulations: int = 1000) -> Work:
    """OpenSpiel's C++ bot with one random rollout a leaf."""
    import pyspiel

    game = pyspiel.load_game(game_id)
    evaluator = pyspiel.RandomRolloutEvaluator(1, 0)
    bot = pyspiel.MCTSBot(game, evaluator, 2.0, simulations, 1000, True, 0, False)
    state = game.new_initial_state()

    def work() -> int:
        bot.step(state)
        return simulations

    return work


def state_openspiel(game_id: str, is_observed: bool = False) -> Work:
    """Random play through OpenSpiel's Python State, with or without observation tensors."""
    from random import random

    import pyspiel

    game = pyspiel.load_game(game_id)

    def work() -> int:
        steps = 0
        while steps < 1000:
            state = game.new_initial_state()
            while not state.is_terminal() and steps < 1000:
                actions = state.legal_actions()
                if is_observed:
                    state.observation_tensor()
                state.apply_action(actions[int(random() * len(actions))])
                steps += 1
        return steps

    return work


def state_openspiel_observed(game_id: str) -> Work:
    return state_openspiel(game_id, is_observed=True)


def minimax(game_id: str, nodes: int = 50_000) -> Work:
    """Search the start and positions after 20 random turns; quiescence counts."""
    import deskovky as dk
    from deskovky import _core

    games = dk.make_vec(game_id, 8, seed=0, opening_turns=20)
    states = [dk.game(game_id).state(), *(games.state(i) for i in range(8))]
    return lambda: sum(_core.minimax(state, nodes=nodes).nodes for state in states)


def alphazero() -> Work:
    """Gumbel search of BATCH games with the default network, untrained."""
    import numpy as np

    import deskovky as dk
    from deskovky._core import GumbelSearch
    from deskovky.agents.alphazero import run_search
    from deskovky.agents.network import PolicyValueNetwork, network_config, one_thread

    game = dk.game("dobutsu_v0")
    network = PolicyValueNetwork(network_config(game, width=192))  # as large as mctx's
    games = dk.make_vec("dobutsu_v0", BATCH, seed=0, opening_turns=6)
    games.reset()
    states = [games.state(i) for i in range(BATCH)]
    search = GumbelSearch(NUM_SIMULATIONS, max_considered_actions=16, gumbel_scale=1.0)
    rng = np.random.default_rng(0)

    def work() -> int:
        with one_thread():
            run_search(search, network.evaluate, states, int(rng.integers(2**32)))
        return BATCH * NUM_SIMULATIONS

    return work


def selfplay_job(game_id: str) -> Any:
    """Some steps of self-play, with the options and the network of `deskovky train alphazero`."""
    import deskovky as dk
    from deskovky.agents.network import PolicyValueNetwork, network_config
    from deskovky.train.alphazero import Args, Job

    game = dk.game(game_id)
    args = Args(Path(), game=game_id, steps_per_iteration=4, device="cpu")
    network = PolicyValueNetwork(network_config(game))
    weights = network.state_dict()
    return Job(args, game, network.config, weights, [], args.num_simulations, (0,))


def selfplay(game_id: str) -> Work:
    """Self-play in this process; the unit is a position."""
    from deskovky.agents.network import one_thread
    from deskovky.train.alphazero import play

    job = selfplay_job(game_id)

    def work() -> int:
        with one_thread():
            play(job)
        return job.args.num_games * job.args.steps_per_iteration

    return work


def selfplay_workers(make_workers: Callable[[], Any]) -> Work:
    """Self-play of two workers at once, with what it takes to hand over jobs and games."""
    job = selfplay_job("dobutsu_v0")
    jobs = [job._replace(seed=(worker,)) for worker in range(2)]
    workers = make_workers()
    atexit.register(workers.close)

    def work() -> int:
        for future in workers.submit(jobs):
            future.result()
        return 2 * job.args.num_games * job.args.steps_per_iteration

    return work


def selfplay_processes() -> Work:
    from deskovky.train.alphazero import LocalWorkers

    return selfplay_workers(LocalWorkers)


def selfplay_ray() -> Work:
    from deskovky.train.alphazero import play
    from deskovky.train.ray_workers import RayWorkers

    return selfplay_workers(lambda: RayWorkers(play, "local", 2))


def alphazero_mctx() -> Work:
    """mctx's Gumbel policy on Pgx, with a network of the same form and size, one compiled call."""
    import jax
    import jax.numpy as jnp
    import mctx
    import pgx

    env = pgx.make("animal_shogi")
    width, num_blocks, num_actions = 192, 2, env.num_actions
    num_inputs = int(jnp.prod(jnp.array(env.observation_shape)))
    sizes = [(num_inputs, width), *[(width, width)] * (2 * num_blocks), (width, num_actions + 1)]
    keys = jax.random.split(jax.random.PRNGKey(0), len(sizes))
    weights = [0.05 * jax.random.normal(key, size) for key, size in zip(keys, sizes, strict=True)]

    def network(observations: Any) -> Any:
        x = jax.nn.relu(observations.reshape(observations.shape[0], -1) @ weights[0])
        for block in range(num_blocks):
            first, second = weights[1 + 2 * block : 3 + 2 * block]
            x = jax.nn.relu(x + jax.nn.relu(x @ first) @ second)
        out = x @ weights[-1]
        return out[:, :-1], jnp.tanh(out[:, -1])

    def masked(logits: Any, mask: Any) -> Any:
        return jnp.where(mask, logits, jnp.finfo(logits.dtype).min)

    def recurrent_fn(_: Any, key: Any, actions: Any, state: Any) -> Any:
        player = state.current_player
        state = jax.vmap(env.step)(state, actions)
        logits, values = network(state.observation)
        reward = state.rewards[jnp.arange(BATCH), player]
        values = jnp.where(state.terminated, 0.0, values)
        discount = jnp.where(state.terminated, 0.0, -1.0)
        return mctx.RecurrentFnOutput(
            reward=reward,
            discount=discount,
            prior_logits=masked(logits, state.legal_action_mask),
            value=values,
        ), state

    @jax.jit
    def search(state: Any, key: Any) -> Any:
        logits, values = network(state.observation)
        root = mctx.RootFnOutput(prior_logits=logits, value=values, embedding=state)
        return mctx.gumbel_muzero_policy(
            (),
            key,
            root,
            recurrent_fn,
            NUM_SIMULATIONS,
            invalid_actions=~state.legal_action_mask,
            max_num_considered_actions=16,
        ).action

    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(1), BATCH))
    key = jax.random.PRNGKey(2)

    def work() -> int:
        nonlocal key
        key, used = jax.random.split(key)
        jax.block_until_ready(search(state, used))
        return BATCH * NUM_SIMULATIONS

    return work


# --- Dobutsu solved; all but `solve` need the table of `deskovky solve dobutsu_v0` ---------------


def solve() -> Work:
    """The complete solution, once; the unit is the whole."""
    import numpy as np

    from deskovky import _core

    table = np.zeros(_core.num_dobutsu_entries(), np.uint8)
    cpu, wall = cpu_seconds(), time.perf_counter()
    _core.solve_dobutsu(table, 1, lambda stage, done, total: None)
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    print(json.dumps({"units": 1, "cpu_s": cpu, "wall_s": wall}))
    raise SystemExit


def solved_positions() -> tuple[Any, Any]:
    """The oracle, and 65,536 observations of random games."""
    import numpy as np

    import deskovky as dk

    games = dk.make_vec("dobutsu_v0", num_envs=NUM_ENVS, seed=0, copy=True)
    games.reset(seed=0)
    observations = []
    for _ in range(64):
        observations.append(games.step(games.sample_actions())[0])
    return dk.oracle("dobutsu_v0"), np.concatenate(observations)


def oracle_values() -> Work:
    oracle, observations = solved_positions()
    return lambda: len(oracle.values(observations).values)


def oracle_action_values() -> Work:
    oracle, observations = solved_positions()
    return lambda: len(oracle.action_values(observations).values)


def oracle_open() -> Work:
    from deskovky.envs.dobutsu import solution

    path = solution.table_path()

    def work() -> int:
        solution.open_table(path)
        return 1

    return work


# --- Starting -------------------------------------------------------------------------------------


def import_peers() -> Work:
    return one_process("import gymnasium, pettingzoo")


def import_deskovky() -> Work:
    return one_process("import gymnasium, pettingzoo, deskovky")


def one_process(code: str) -> Work:
    def work() -> int:
        subprocess.run([sys.executable, "-c", code], check=True)
        return 1

    return work


def first_step() -> Work:
    """make, reset and the first step of a fresh process; the unit is one second of it."""
    import deskovky as dk

    start = time.perf_counter()
    env = dk.make("dobutsu_v0")
    env.reset(seed=0)
    env.step(int(env.state_object.legal_actions()[0]))
    seconds = time.perf_counter() - start
    print(json.dumps({"units": 1, "cpu_s": seconds, "wall_s": seconds}))
    raise SystemExit


def cpu_seconds() -> float:
    """CPU seconds of this process, all its threads and the programs that it ran."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main() -> None:
    name, seconds = sys.argv[1], float(sys.argv[2])
    function, _, game = name.partition(":")
    work = globals()[function](game) if game else globals()[function]()
    work()  # warm up: compilation, caches
    units = 0
    cpu, wall = cpu_seconds(), time.perf_counter()
    # Other processes that work for this one do not count as its CPU time until they end.
    while cpu_seconds() - cpu < seconds and time.perf_counter() - wall < 3 * seconds:
        units += work()
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    print(json.dumps({"units": units, "cpu_s": cpu, "wall_s": wall}))


if __name__ == "__main__":
    main()
