"""The native engine reproduces every perft number on record (tests/perft/<game>.perft), and so do
the reference rules up to a million nodes.

Entries of many nodes are counted in the long run only.
"""

import pytest
from perft_data import PerftEntry, parse_perft, read_perft
from reference import REFERENCES

import deskovky as dk

MAX_NODES = 60_000_000
REFERENCE_MAX_NODES, REFERENCE_LONG_MAX_NODES = 10_000, 1_000_000


def entries(min_nodes: int = 0, max_nodes: int | None = None) -> list[object]:
    return [
        pytest.param(id, entry, id=f"{id}-{entry}")
        for id in dk.games()
        for entry in read_perft(id.rpartition("_v")[0], min_nodes, max_nodes)
    ]


def check(id: str, entry: PerftEntry) -> None:
    assert dk.game(id, ruleset=entry.ruleset).perft(entry.depth, entry.fen) == entry.nodes


@pytest.mark.parametrize(("id", "entry"), entries(max_nodes=MAX_NODES))
def test_perft(id: str, entry: PerftEntry) -> None:
    check(id, entry)


@pytest.mark.long
@pytest.mark.parametrize(("id", "entry"), entries(min_nodes=MAX_NODES + 1))
def test_long_perft(id: str, entry: PerftEntry) -> None:
    check(id, entry)


def check_reference(id: str, entry: PerftEntry) -> None:
    game = REFERENCES[id](ruleset=entry.ruleset)
    assert game.perft(entry.depth, entry.fen) == entry.nodes


@pytest.mark.parametrize(("id", "entry"), entries(max_nodes=REFERENCE_MAX_NODES))
def test_perft_of_the_reference(id: str, entry: PerftEntry) -> None:
    check_reference(id, entry)


@pytest.mark.long
@pytest.mark.parametrize(
    ("id", "entry"), entries(REFERENCE_MAX_NODES + 1, REFERENCE_LONG_MAX_NODES)
)
def test_long_perft_of_the_reference(id: str, entry: PerftEntry) -> None:
    check_reference(id, entry)


@pytest.mark.parametrize("id", dk.games())
def test_perft_tables_cover_every_ruleset(id: str) -> None:
    entries = read_perft(id.rpartition("_v")[0])
    assert {entry.ruleset for entry in entries} == set(dk.game(id).rulesets)


@pytest.mark.parametrize(
    "text", ["ruleset a\n1 4", "1 4", "ruleset a\nfen b\nsource c\n1 four", "depth 3"]
)
def test_a_damaged_perft_table_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        parse_perft(text)


@pytest.mark.parametrize("id", dk.games())
def test_perft_of_nothing_is_one_and_of_less_an_error(id: str) -> None:
    assert dk.game(id).perft(0) == 1
    with pytest.raises(dk.ConfigurationError):
        dk.game(id).perft(-1)
