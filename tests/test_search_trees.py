"""Golden search trees: whole searches under fixed seeds, compared with the files in search_trees/.

After a change that is meant to change searches, write the files anew and read the difference:

    python tests/test_search_trees.py --write
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference.dobutsu import Dobutsu
from toy_game import StripDraughts

from deskovky import _core
from deskovky.envs import game
from deskovky.envs.protocol import State

FOLDER = Path(__file__).parent / "search_trees"

STATES: dict[str, Callable[[], State]] = {
    "dobutsu_start": lambda: game("dobutsu_v0").state(),
    "dobutsu_middle": lambda: game("dobutsu_v0").state("1le/1g1/1E1/1LG[Cc] b - - 2 7"),
    "dobutsu_fairy": lambda: game("dobutsu_v0", ruleset="fairy").state("g1e/1cL/lC1/E1G[-] w"),
    "strip_draughts": lambda: StripDraughts().state("PPp1p1/P2p1p w - 0 1"),
}
DEPTH = 5
SIMULATIONS = 120
SEED = 42


def mcts_tree(state: State) -> dict[str, Any]:
    """Return the tree of a search as nested dictionaries; values are those of player 0."""
    result = _core.mcts(state, simulations=SIMULATIONS, exploration=1.4, seed=SEED)
    nodes = list(
        zip(
            result.node_parents.tolist(),
            result.node_actions.tolist(),
            result.node_visits.tolist(),
            result.node_values.tolist(),
            result.node_is_proven.tolist(),
            strict=True,
        )
    )
    children: dict[int, list[int]] = {}
    for i, (parent, *_) in enumerate(nodes):
        children.setdefault(parent, []).append(i)

    def tree(i: int, here: State) -> dict[str, Any]:
        _, _, visits, value, is_proven = nodes[i]
        node: dict[str, Any] = {"visits": visits, "value": value}
        if is_proven:
            node["proven"] = True
        below = {}
        for child in sorted(children.get(i, []), key=lambda child: nodes[child][1]):
            action = nodes[child][1]
            if nodes[child][2] > 0:
                after = here.copy()
                after.apply(action)
                below[f"{action} {here.action_to_text(action)}"] = tree(child, after)
        if below:
            node["to_move"] = here.to_move
            node["children"] = below
        return node

    return {"action": result.action, "value": result.value, "tree": tree(0, state.copy())}


def minimax_lines(state: State) -> list[dict[str, Any]]:
    """Return what the search finds at each depth."""
    lines = []
    for depth in range(1, DEPTH + 1):
        result = _core.minimax(state, depth=depth, seed=SEED)
        texts = []
        end = state.copy()
        for action in result.principal_variation:
            texts.append(end.action_to_text(action))
            end.apply(action)
        lines.append(
            {
                "depth": result.depth,
                "action": result.action,
                "score": result.score,
                "nodes": result.nodes,
                "principal_variation": " ".join(texts),
            }
        )
    return lines


def searches(name: str) -> dict[str, Any]:
    state = STATES[name]()
    return {
        "fen": state.fen(),
        "minimax": minimax_lines(state),
        "mcts": mcts_tree(state),
    }


def stored(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", STATES)
def test_searches_are_those_of_the_file(name: str) -> None:
    assert searches(name) == stored(name)


def test_every_file_is_used() -> None:
    others = "gumbel_"  # of test_gumbel.py
    files = {path.stem for path in FOLDER.glob("*.json") if not path.stem.startswith(others)}
    assert files == set(STATES)


def test_python_rules_grow_the_same_tree() -> None:
    """A game in Python and the same one in C++ are walked alike under the same seed."""
    assert mcts_tree(Dobutsu().state()) == stored("dobutsu_start")["mcts"]


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    for name in STATES:
        (FOLDER / f"{name}.json").write_text(
            json.dumps(searches(name), indent=1) + "\n", encoding="utf-8"
        )
