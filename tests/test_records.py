"""Records of games: both forms hold a game whole, and what is wrong is refused by name."""

import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from toy_game import StripDraughts

import deskovky as dk
from deskovky.envs import GAMES, records, register_game
from deskovky.envs.protocol import Outcome, State, Termination
from deskovky.envs.records import Annotation, Record, RecordWriter, read_records, write_records
from deskovky.errors import RecordError

OPEN_TURN = "8/8/2m5/8/4m3/8/2m5/1M6 w"  # Gothic: b1d3f5 and on
PLACEMENT = "3t3/7/1Z5/7/7/7/3T3 w"  # Drakoburg: after b5a5 the turn a5a7,P@c2


@pytest.fixture(params=[*dk.games(), "strip_draughts_v0"])
def id(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "strip_draughts_v0":  # a game in Python

        def make(**options: object) -> StripDraughts:
            return StripDraughts(**{k: v for k, v in options.items() if v is not None})  # type: ignore[arg-type]

        register_game(request.param, make)
        yield request.param
        del GAMES[request.param]
    else:
        yield request.param


def random_state(id: str, seed: int, max_steps: int = 1000, **options: object) -> State:
    rng = np.random.default_rng(seed)
    state = dk.game(id, **options).state()  # type: ignore[arg-type]
    for _ in range(max_steps):
        if state.is_over:
            break
        state.apply(int(rng.choice(state.legal_actions())))
    return state


def assert_round_trips(record: Record) -> None:
    text, line = record.to_text(), record.to_json()
    assert Record.from_text(line) == record
    assert Record.from_text(line).to_json() == line
    assert Record.from_text(text).to_text() == text
    assert "\n" not in line and max(map(len, text.split("\n")[8:])) <= 80


@pytest.mark.parametrize("seed", range(3))
def test_random_games_come_back_the_same(id: str, seed: int) -> None:
    state = random_state(id, seed)
    record = Record.from_state(state, Player0="random", Seed=seed, Date="2026.11.30")
    assert record.fen is None and record.outcome == state.outcome is not None
    assert record.headers == {"Player0": "random", "Seed": str(seed), "Date": "2026.11.30"}
    assert_round_trips(record)
    again = Record.from_text(record.to_text())
    assert again == record
    assert again.state() == state and again.state().outcome == state.outcome


def test_every_state_of_a_game_comes_back(id: str) -> None:
    state = random_state(id, seed=5, max_steps=40)
    while state.history:  # among them states in mid-turn
        record = Record.from_state(state)
        assert Record.from_text(record.to_text()).state() == state
        state.undo()


def test_options_are_kept() -> None:
    variants: list[dict[str, object]] = [
        {"ruleset": dk.game("dobutsu_v0").rulesets[-1]},
        {"max_turns": 7},
    ]
    for options in variants:
        state = random_state("dobutsu_v0", 1, max_steps=9, **options)
        again = Record.from_text(Record.from_state(state).to_text())
        assert again.state() == state and again.state().game == state.game
    state = random_state("drakoburg_v0", 1, 20, setup=dk.game("drakoburg_v0").setups[1])
    assert Record.from_text(Record.from_state(state).to_text()).state() == state


def test_a_game_from_a_position() -> None:
    state = dk.game("dobutsu_v0").state("g1e/1cL/lC1/E1G[-] b - - 0 9")
    first = state.turns()[0]
    state.push(first)
    record = Record.from_state(state)
    assert record.fen == "g1e/1cL/lC1/E1G[-] b - - 0 9"
    assert record.to_text().splitlines()[-1].startswith(f"1... {first} ")
    assert_round_trips(record)
    assert record.state(0).fen() == record.fen


@pytest.mark.parametrize(
    ("id", "fen", "turns"),
    [
        ("gothic_draughts_v0", OPEN_TURN, ["b1d3f5"]),
        ("drakoburg_v0", PLACEMENT, ["b5a5", "d7e7", "a5a7,P@c2"]),
    ],
)
def test_turns_of_several_steps(id: str, fen: str, turns: list[str]) -> None:
    state = dk.game(id).state(fen)
    for turn in turns:
        state.push(turn)
    record = Record.from_state(state)
    assert record.turns == tuple(turns)
    assert_round_trips(record)
    assert [len(state.history) for state in record.states()] == list(range(len(turns) + 1))
    state.undo()
    assert state.is_turn_open
    open_record = Record.from_state(state)
    assert open_record.turns[-1] != turns[-1] and turns[-1].startswith(open_record.turns[-1])
    assert_round_trips(open_record)
    assert open_record.state() == state
    # A FEN in mid-turn: the record begins with the rest of the turn.
    rest = dk.game(id).state(state.fen())
    rest.push(rest.turns()[0])
    assert_round_trips(Record.from_state(rest))
    assert Record.from_state(rest).state() == rest


def test_states_are_those_of_the_turns() -> None:
    final = random_state("knight_draughts_v0", 2)
    record = Record.from_state(final)
    state = record.game().state()
    states = list(record.states())
    assert len(states) == len(record.turns) + 1
    for number, turn in enumerate(record.turns):
        assert states[number] == state == record.state(number)
        state.push(turn)
    assert states[-1] == final
    for number in (-1, len(record.turns) + 1):
        with pytest.raises(RecordError, match=f"no turn {number}: the record has"):
            record.state(number)


def annotated_record() -> Record:
    state = dk.game("dobutsu_v0").state()
    annotations = []
    for turn in ("b2b3", "a4a3", "b3b4+"):
        policy = np.zeros(state.game.num_actions)
        visits = np.zeros(state.game.num_actions, np.int32)
        action = state.action_from_text(turn)
        policy[action], policy[state.legal_actions()[0]] = 0.75, 0.25
        visits[action] = 12
        note = Annotation.of_search(state, policy=policy, visits=visits, value=0.5, time_s=0.125)
        annotations.append(note)
        state.push(turn)
    return Record.from_state(state, annotations=annotations, comment="a short game")


def test_annotations_are_kept_in_json() -> None:
    record = annotated_record()
    first = record.annotations[0]
    assert dict(first.policy or {}) == {"b2b3": 0.75, "c1c2": 0.25}
    assert list(first.policy or {}) == ["b2b3", "c1c2"]  # the likeliest first
    assert dict(first.visits or {}) == {"b2b3": 12, "c1c2": 0}
    assert (first.value, first.time_s, first.comment) == (0.5, 0.125, None)
    assert Record.from_text(record.to_json()) == record
    parts = json.loads(record.to_json())
    assert parts["annotations"][0] == {
        "value": 0.5,
        "policy": {"b2b3": 0.75, "c1c2": 0.25},
        "visits": {"b2b3": 12, "c1c2": 0},
        "time_s": 0.125,
    }
    assert (parts["result"], parts["termination"]) == ("1-0", "lion_captured")


def test_visits_alone_rank_the_actions() -> None:
    state = dk.game("dobutsu_v0").state()
    visits = np.zeros(state.game.num_actions, np.int32)
    visits[state.legal_actions()] = [1, 5, 3, 0]
    note = Annotation.of_search(state, visits=visits, top=2)
    texts = [state.action_to_text(action) for action in state.legal_actions()[[1, 2]].tolist()]
    assert note.policy is None and list((note.visits or {}).items()) == [
        (texts[0], 5),
        (texts[1], 3),
    ]


def test_comments_are_kept_in_the_text() -> None:
    comments = ["so {far} so good\\", 'a "bad" move }{ \\}', None]
    state = dk.game("dobutsu_v0").state()
    for turn in ("b2b3", "a4a3", "b3b4+"):
        state.push(turn)
    long = "x" * 75 + " [Event] is no header in a comment"
    record = Record.from_state(
        state,
        annotations=[Annotation(comment=comment) for comment in comments],
        comment=long,
        Event='the "best"\\ of 三',
    )
    assert_round_trips(record)
    text = record.to_text()
    assert Record.from_text(text) == record
    assert re.search(r"\n\[Event\] is no", text)  # a line of the comment begins like a header
    assert "1... a4a3" in text  # numbered again behind a comment
    assert Record.from_text(text.replace("\n", "\r\n")) == record


def test_what_people_write_is_read() -> None:
    text = """

[Game "dobutsu"]
[Event   "by hand"]

{nothing} {here}
1.b2b3 a4a3 {one}
{two}
2. b3b4+
1-0"""
    record = Record.from_text(text)
    assert record.game_id == "dobutsu" and record.ruleset == "standard"
    assert record.headers == {"Event": "by hand"} and record.comment == "nothing here"
    assert record.outcome == Outcome(0, Termination.LION_CAPTURED)
    assert [note.comment for note in record.annotations] == [None, "one two", None]
    assert record.state().game == dk.game("dobutsu_v0")


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(0, Termination.RESIGNATION),
        Outcome(1, Termination.RESIGNATION),
        Outcome(0, Termination.ILLEGAL_ACTION),
        Outcome(None, Termination.MAX_TURNS),
    ],
)
def test_games_that_no_rule_ended(outcome: Outcome) -> None:
    state = random_state("gothic_draughts_v0", 0, max_steps=5)
    assert state.to_move == 1
    record = Record.from_state(state, outcome=outcome)
    assert record.outcome == outcome
    assert_round_trips(record)
    assert Record.from_text(record.to_text()) == record


def test_the_game_of_an_environment_that_an_illegal_action_ended() -> None:
    env = dk.make("dobutsu_v0", illegal="lose")
    env.reset(seed=0)
    env.step(env.state_object.action_from_text("b2b3"))
    env.step(0 if not env.state_object.legal_action_mask()[0] else 1)
    record = Record.from_state(env.state_object, outcome=env.outcome)
    assert record.outcome == Outcome(0, Termination.ILLEGAL_ACTION)
    assert Record.from_text(record.to_text()) == record


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(None, Termination.RESIGNATION),
        Outcome(1, Termination.ILLEGAL_ACTION),  # the one to move is who has acted
        Outcome(0, Termination.MAX_TURNS),
        Outcome(0, Termination.NO_PIECES),
        Outcome(None, Termination.QUIET_LIMIT),
    ],
)
def test_outcomes_that_the_rules_deny(outcome: Outcome) -> None:
    state = random_state("gothic_draughts_v0", 0, max_steps=5)
    with pytest.raises(RecordError, match="by the rules the game goes on"):
        Record.from_state(state, outcome=outcome)


def test_a_game_that_is_over_has_the_outcome_of_the_rules() -> None:
    state = annotated_record().state()
    with pytest.raises(RecordError, match="1/2-1/2 by max_turns, the rules say 1-0 by lion_capt"):
        Record.from_state(state, outcome=Outcome(None, Termination.MAX_TURNS))
    assert Record.from_state(state).outcome == state.outcome


# --- Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["games.pgn", "games.jsonl"])
def test_files_of_many_games(tmp_path: Path, name: str) -> None:
    games = [Record.from_state(random_state(id, 3), Event=id) for id in dk.games()]
    games.append(annotated_record() if name.endswith("l") else games[0])
    path = tmp_path / name
    write_records(path, games)
    assert list(read_records(path)) == list(read_records(str(path))) == games
    with open(path, encoding="utf-8") as file:
        assert list(read_records(file)) == games
    assert os.listdir(tmp_path) == [name]
    write_records(tmp_path / "again", read_records(path))
    if name.endswith(".pgn"):
        assert (tmp_path / "again").read_bytes() == path.read_bytes()
    else:
        assert len(path.read_text().splitlines()) == len(games)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())  # as some editors do
    assert list(read_records(path)) == games


def test_games_come_one_by_one() -> None:
    def lines() -> Iterator[str]:
        while True:
            yield annotated_record().to_json() + "\n"

    reader = read_records(lines())
    assert next(reader) == next(reader)


def test_files_are_written_aside(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text("before")
    with pytest.raises(RecordError), RecordWriter(path) as writer:
        writer.write(annotated_record())
        assert path.read_text() == "before"
        writer.write(Record(game_id="chess_v0"))
    assert path.read_text() == "before"
    (kept,) = read_records(tmp_path / "games.pgn.tmp")  # only whole games
    assert kept.state() == annotated_record().state()
    write_records(path, [annotated_record()])
    assert len(list(read_records(path))) == 1
    with pytest.raises(IsADirectoryError, match="is a folder"):
        RecordWriter(tmp_path)


def test_an_illegal_turn_is_named(tmp_path: Path) -> None:
    good = annotated_record()
    path = tmp_path / "games.pgn"
    path.write_text(good.to_text() + "\n" + good.to_text().replace("a4a3", "a4a2"))
    reader = read_records(path)
    assert next(reader).state() == good.state()
    message = r"games.pgn: game 2 \(line 10\): turn 2: 'a4a2' is not a whole legal turn in '.*; leg"
    with pytest.raises(RecordError, match=message):
        next(reader)
    path.write_text(good.to_json() + "\n\n" + good.to_json().replace('"a4a3"', '"a4a2"'))
    with pytest.raises(RecordError, match=r"games.pgn: game 2 \(line 3\): turn 2: 'a4a2' is not"):
        list(read_records(path))


def changed(old: str, new: str) -> str:
    text = annotated_record().to_text()
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected one game, not 0"),
        ("b2b3 1-0", "Game is missing"),
        ("\0\0\0", "no result behind the turns"),
        (changed("dobutsu_v0", "chess_v0"), "no game 'chess_v0'"),
        (changed("standard", "other"), "other"),
        (changed('"256"', '"many"'), "MaxTurns 'many'"),
        (changed('"256"', '"0"'), "max_turns = 0"),
        (changed('[Result "1-0"]', '[FEN "nonsense w"]'), "FEN field"),
        (changed('[Result "1-0"]', '[Result "0-1"]'), "the header says 0-1, the turns end in 1-0"),
        (changed("1-0", "0-1"), "record says 0-1 by lion_captured, the rules say 1-0 by lion_capt"),
        (changed("lion_captured", "try"), "says 1-0 by try, the rules say 1-0 by lion_captured"),
        (changed(" b3b4+ 1-0", " 1-0"), "but by the rules the game goes on"),
        (changed(" b3b4+ 1-0", " b3b4+"), "no result behind the turns"),
        (changed(" 1-0", " 1-0 b4b3"), "'b4b3' after the result 1-0"),
        (changed(" 1-0", " {1-0"), "brace without its partner"),
        (changed(" 1-0", " } 1-0"), "brace without its partner"),
        (changed('[Setup "default"]', "[Setup default]"), "is no header"),
        (changed('[Setup "default"]', '[Game "dobutsu_v0"]'), "header Game is given twice"),
        (changed('[Setup "default"]', '[event "x"]'), "header 'event'"),
        (changed('[Setup "default"]', '[Event "\0"]'), r"holds the character '\\x00'"),
        (changed("b2b3", "b2\0b3"), r"turn 1: 'b2\\x00b3' holds the character"),
        (changed("b2b3", "b" * 10_000), "turn 1: longer than 1000 characters: 'bbb"),
        (changed("a short game", "\x1b[31m"), "comment: .* holds the character"),
        (changed("b2b3", "( 1. b2b3 )"), r"turn 1: '\(' is not a whole legal turn"),
        (annotated_record().to_text() * 2, "expected one game, not 2"),
    ],
)
def test_bad_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(RecordError, match=message) as info:
        Record.from_text(text)
    assert len(str(info.value)) < 1000 and "\0" not in str(info.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "expected an object of format"),
        ({"version": 2}, "version 2: expected 1"),
        ({"more": 1}, "unknown fields: 'more'"),
        ({"game": 3}, "game: expected a text, not 3"),
        ({"game": "chess_v0"}, "no game 'chess_v0'"),
        ({"setup": None}, "setup: expected a text"),
        ({"max_turns": 10**30}, "max_turns = 10000"),
        ({"max_turns": 7.5}, "expected a whole number"),
        ({"max_turns": True}, "max_turns = True"),
        ({"fen": 5}, "FEN: expected a text"),
        ({"fen": "x\ud800"}, "holds the character"),
        ({"headers": []}, "headers: expected a dict"),
        ({"headers": {"Event": 5}}, "header Event: expected a text"),
        ({"headers": {"FEN": "x"}}, "header 'FEN'"),
        ({"turns": "b2b3"}, "turns: expected a list"),
        ({"turns": [1]}, "turn 1: expected a text"),
        ({"turns": ["1-0"]}, "cannot be the text of a turn"),
        ({"turns": ["1.b2b3"]}, "cannot be the text of a turn"),
        ({"turns": ["b2b3 a4a3"]}, "cannot be the text of a turn"),
        ({"turns": []}, "3 annotations of 0 turns"),
        ({"turns": [], "annotations": []}, "by the rules the game goes on"),
        ({"annotations": [1, 2, 3]}, "1 is no object"),
        ({"annotations": [{"x": 1}]}, "unknown fields 'x'"),
        ({"annotations": [{"value": 2}]}, "value = 2: expected a number from -1 to 1"),
        ({"annotations": [{"value": "1"}]}, "value = '1'"),
        ({"annotations": [{"policy": [0.5]}]}, "policy: expected numbers by text"),
        ({"annotations": [{"policy": {"b2b3": 1.5}}]}, "policy of 'b2b3' = 1.5"),
        ({"annotations": [{"visits": {"b2b3": 0.5}}]}, "0.5 is no whole number"),
        ({"annotations": [{"time_s": -1}]}, "time_s = -1"),
        ({"result": "2-0"}, "result '2-0'"),
        ({"result": "*"}, r"result '\*' with termination 'lion_captured'"),
        ({"result": "*", "termination": None}, "says that the game goes on, the rules say 1-0"),
        ({"result": "0-1", "termination": None}, "says 0-1 by lion_captured, the rules say 1-0"),
        ({"termination": ["try"]}, "Termination: expected a text"),
        ({"termination": "boredom"}, "says 1-0 by boredom, the rules say"),
    ],
)
def test_bad_json_is_refused(change: dict[str, object], message: str) -> None:
    parts = json.loads(annotated_record().to_json()) | change
    with pytest.raises(RecordError, match=message) as info:
        Record.from_text(json.dumps(parts))
    assert len(str(info.value)) < 1000


@pytest.mark.parametrize(
    "line",
    ["{", "{}", '{"a": NaN}', "{]", '{"a":' * 100_000, '{"format": ' + "9" * 5000 + "}"],
    ids=range(6),
)
def test_what_is_no_json_is_refused(line: str) -> None:
    with pytest.raises(RecordError, match=r"game 1 \(line 1\): not a"):
        Record.from_text(line)


def test_a_result_needs_a_reason() -> None:
    with pytest.raises(RecordError, match="the result is 1-0, but the rules let the game go on"):
        Record.from_text('[Game "dobutsu"]\n\n1. b2b3 1-0')


def test_an_unknown_field_missing_from_json_is_named() -> None:
    for name in ("game", "result"):
        parts = json.loads(annotated_record().to_json())
        del parts[name]
        with pytest.raises(RecordError, match=f"{name} is missing"):
            Record.from_text(json.dumps(parts))


def test_huge_games_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_GAME_CHARS", 10_000)
    path = tmp_path / "huge"
    for text in ("x" * 20_000, "[Game]\n" * 20_000, '{"format": "' + "x" * 20_000):
        path.write_text(text)
        with pytest.raises(RecordError, match="longer than 10000 characters"):
            list(read_records(path))


def test_the_folder_of_a_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "games.jsonl"
    write_records(path, [annotated_record()])
    assert list(read_records(path)) == [annotated_record()]


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "games"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="games: not UTF-8"):
        list(read_records(path))
    with pytest.raises(FileNotFoundError):
        list(read_records(tmp_path / "none"))


def test_files_with_faults_are_read_right_or_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "games"
    forms = [annotated_record().to_text().encode(), annotated_record().to_json().encode()]
    inserts = [
        b"{",
        b"}",
        b'"',
        b"[",
        b"]",
        b"\\",
        b"1-0",
        b"null",
        b"1e999",
        b"\0",
        b" * ",
        b"2...",
    ]
    num_read = 0
    for index in range(400):
        data = bytearray(forms[index % 2])
        where = int(rng.integers(len(data)))
        change = index // 2 % 3
        if change == 0:
            data[where] = int(rng.integers(256))
        elif change == 1:
            del data[where : where + int(rng.integers(1, 9))]
        else:
            data[where:where] = inserts[int(rng.integers(len(inserts)))]
        path.write_bytes(data)
        try:
            games = list(read_records(path))
        except RecordError:
            continue
        for game in games:
            num_read += 1
            assert Record.from_text(game.to_json()) == game
            assert Record.from_text(game.to_text()).to_text() == game.to_text()
    assert 10 < num_read < 390


def test_lines_of_an_open_file_are_read_as_they_are() -> None:
    assert list(read_records(io.StringIO("\n\n"))) == []
