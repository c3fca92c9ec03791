"""Agents from text: ``agent("minimax:depth=4")``.

A spec is a name and, after a colon, options ``key=value`` with commas between. An agent that is
loaded from a file takes its path first, and options after a question mark:
``"alphazero:runs/x/best.pt?simulations=64"``.
"""

import importlib
import inspect
import re
import types
import typing
from collections.abc import Callable
from types import NoneType
from typing import Any

from deskovky.agents.protocol import Agent
from deskovky.envs.support import what_there_is
from deskovky.errors import AgentSpecError, ConfigurationError

AGENTS: dict[str, str | Callable[..., Agent]] = {
    "random": "deskovky.agents.random_agent:RandomAgent",
    "greedy": "deskovky.agents.greedy:GreedyAgent",
    "minimax": "deskovky.agents.minimax:MinimaxAgent",
    "mcts": "deskovky.agents.mcts:MctsAgent",
    "alphazero": "deskovky.agents.alphazero:AlphaZeroAgent",
    "ppo": "deskovky.agents.ppo:PPOAgent",
    "pretrained": "deskovky.agents.pretrained:PretrainedAgent",
    "oracle": "deskovky.agents.oracle:OracleAgent",
}
"""The registered agents: name -> factory, or ``"module:factory"``, imported when first used."""


def register_agent(name: str, factory: str | Callable[..., Agent]) -> None:
    """Register an agent, so that `agent`, environments and evaluation know it by its name.

    `factory` returns an Agent; a text ``"module:factory"`` is imported when first used. It takes
    the keyword `seed` and its options as keywords, annotated int, float, bool or str (or one of
    them and None), and if its agent is loaded from a file, the positional parameter `path`.
    Raises AgentSpecError if the name is taken or holds a character that specs give a meaning.

    >>> from deskovky.agents.random_agent import RandomAgent
    >>> register_agent("monkey", RandomAgent)
    >>> agent("monkey", seed=1).name
    'random'
    """
    if not name or set(name) & set(":?,= "):
        raise AgentSpecError(f"agent name {name!r}: expected a word without : ? , = or blank")
    if name in AGENTS:
        raise AgentSpecError(f"agent {name!r} is registered already")
    AGENTS[name] = factory


def agents() -> tuple[str, ...]:
    """Return the names of all registered agents.

    >>> "minimax" in agents()
    True
    """
    return tuple(AGENTS)


def agent(spec: str, seed: int | None = None) -> Agent:
    """Return the agent that a spec describes.

    spec: see the module; ``"random"``, ``"greedy"``, ``"minimax:depth=4"``,
    ``"minimax:nodes=100000"``, ``"minimax:time_ms=100"``, ``"mcts:simulations=800"``,
    ``"pretrained:dobutsu_v0?simulations=64"``, ``"alphazero:PATH?simulations=64"``,
    ``"ppo:PATH"``, ``"oracle:epsilon=0.1"``, or of an agent registered by you.
    seed: decides all that is random in it; None draws one from the system.

    Raises AgentSpecError, naming what is wrong and what there is, for an unknown agent, option or
    value; CheckpointError for a file that holds no such agent, TableError if a game's solution is
    missing.

    >>> agent("minimax", seed=1).name
    'minimax:depth=4'
    """
    if not isinstance(spec, str):
        raise AgentSpecError(f"agent spec {spec!r} is not a text")
    name, _, rest = spec.partition(":")
    if name not in AGENTS:
        raise AgentSpecError(f"{in_spec(spec)}no agent {name!r}; {what_there_is(name, AGENTS)}")
    factory = load(spec, name)
    types_of_options = option_types(factory)
    arguments: list[str] = []
    if "path" in inspect.signature(factory).parameters:
        path, _, rest = rest.partition("?")
        if not path:
            raise AgentSpecError(f"{in_spec(spec)}expected a path, as in {name}:PATH")
        arguments.append(path)
    options = parse_options(spec, rest, types_of_options)
    try:
        return factory(*arguments, seed=seed, **options)
    except ConfigurationError as error:
        raise AgentSpecError(f"{in_spec(spec)}{error}") from error


def spec_text(name: str, path: str | None = None, **options: object) -> str:
    """Return the text of a spec. Options that are None are left out.

    >>> spec_text("minimax", depth=4, nodes=None)
    'minimax:depth=4'
    >>> spec_text("alphazero", "best.pt", simulations=64)
    'alphazero:best.pt?simulations=64'
    """
    given = [f"{key}={value}" for key, value in options.items() if value is not None]
    given = [item.removesuffix(".0") for item in given]
    if path is None:
        return f"{name}:{','.join(given)}" if given else name
    return f"{name}:{path}?{'&'.join(given)}" if given else f"{name}:{path}"


def in_spec(spec: str) -> str:
    return f"agent spec {spec!r}: "


def load(spec: str, name: str) -> Callable[..., Agent]:
    """Return the factory of a registered agent, importing it if need be."""
    factory = AGENTS[name]
    if isinstance(factory, str):
        module, _, attribute = factory.partition(":")
        try:
            factory = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            raise AgentSpecError(
                f"{in_spec(spec)}{name} needs the package {error.name!r}: "
                f"pip install 'deskovky[train]'"
            ) from error
    return typing.cast(Callable[..., Agent], factory)


def option_types(factory: Callable[..., Agent]) -> dict[str, type]:
    """Return the options of a factory and what each is, None left aside."""
    found: dict[str, type] = {}
    for parameter in inspect.signature(factory, eval_str=True).parameters.values():
        if parameter.kind is not parameter.KEYWORD_ONLY or parameter.name == "seed":
            continue
        kinds = [parameter.annotation]
        if isinstance(parameter.annotation, types.UnionType):  # such as int | None
            kinds = [kind for kind in typing.get_args(parameter.annotation) if kind is not NoneType]
        if len(kinds) == 1 and kinds[0] in READERS:
            found[parameter.name] = kinds[0]
    return found


def read_bool(text: str) -> bool:
    return {"true": True, "1": True, "false": False, "0": False}[text.lower()]


def read_int(text: str) -> int:
    if not re.fullmatch("-?[0-9]{1,19}", text):  # int() takes " 3", "1_0" and other digits too
        raise ValueError(text)
    value = int(text)
    if abs(value) >= 1 << 63:
        raise ValueError("more than 64 bits")
    return value


READERS: dict[type, tuple[Callable[[str], Any], str]] = {
    int: (read_int, "a whole number"),
    float: (float, "a number"),
    bool: (read_bool, "true or false"),
    str: (str, "a text"),
}


def parse_options(spec: str, text: str, types_of_options: dict[str, type]) -> dict[str, Any]:
    """Return the options in ``"key=value,key=value"``; an ampersand is as good as a comma."""
    options: dict[str, Any] = {}
    for item in re.split("[,&]", text) if text else ():
        key, equals, value = item.partition("=")
        if key not in types_of_options:
            known = what_there_is(key, types_of_options)
            raise AgentSpecError(f"{in_spec(spec)}no option {key!r}; {known}")
        if key in options:
            raise AgentSpecError(f"{in_spec(spec)}option {key!r} is given twice")
        read, expected = READERS[types_of_options[key]]
        try:
            options[key] = read(value)
        except (ValueError, KeyError):
            equals = ""
        if not equals or not value:
            raise AgentSpecError(f"{in_spec(spec)}{key} = {value!r}: expected {expected}")
    return options
