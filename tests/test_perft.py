"""The native engine reproduces every perft number on record (tests/perft/<game>.perft).

Entries of more than MAX_NODES nodes are counted in the long run only.
"""

import pytest
from perft_data import PerftEntry, read_perft

import deskovky as dk

MAX_NODES = 60_000_000


def entries(is_long: bool) -> list[object]:
    return [
        pytest.param(id, entry, id=f"{id}-{entry}")
        for id in dk.games()
        for entry in read_perft(id.rpartition("_v")[0])
        if (entry.nodes > MAX_NODES) == is_long
    ]


def check(id: str, entry: PerftEntry) -> None:
    assert dk.game(id, ruleset=entry.ruleset).perft(entry.depth, entry.fen) == entry.nodes


@pytest.mark.parametrize(("id", "entry"), entries(is_long=False))
def test_perft(id: str, entry: PerftEntry) -> None:
    check(id, entry)


@pytest.mark.long
@pytest.mark.parametrize(("id", "entry"), entries(is_long=True))
def test_long_perft(id: str, entry: PerftEntry) -> None:
    check(id, entry)


@pytest.mark.parametrize("id", dk.games())
def test_perft_of_nothing_is_one_and_of_less_an_error(id: str) -> None:
    assert dk.game(id).perft(0) == 1
    with pytest.raises(dk.ConfigurationError):
        dk.game(id).perft(-1)
