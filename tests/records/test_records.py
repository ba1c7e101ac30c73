"""Records replay to the same bits; an error names the line and the broken rule."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fiveup_env.records import Recorder, RecordError, parse_record, read_record
from fiveup_env.rules.actions import DRAW, PASS
from fiveup_env.rules.match import Match
from tests.records.support import played
from tests.rules.support import PLAYERS, uneven_deal

TEXTS = [played(players, seed, match=None).text() for players, seed in ((2, 5), (3, 1), (4, 2))]


def lines_of(recorder: Recorder) -> list[dict]:
    return [json.loads(line) for line in recorder.text().splitlines()]


def text_of(lines: list[dict]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def refused(text: str | bytes, match: str | None = None) -> RecordError:
    with pytest.raises(RecordError, match=match) as caught:
        parse_record(text)
    assert str(caught.value).startswith(f"line {caught.value.line}: ") and "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("seed", range(4))
def test_a_record_replays_to_the_same_bits(num_players, seed):
    recorder = played(num_players, seed)
    record = parse_record(recorder.text())
    assert record.final == recorder.match and record.final.winner is not None
    assert len(record.moves) == recorder.moves and record.start == Match(num_players, seed=seed)
    match = Match(num_players, seed=seed)
    for move, before, after in record.positions():
        assert before == match and (move.seat, move.round_number) == (match.turn, match.round_number)
        assert match.play(move.action) == move.events
        assert after.scores == match.scores and after.layout.tiles[: len(before.layout.tiles)] == before.layout.tiles
    assert match == record.final
    again = Recorder(record.start, record.players, policy_seed=record.policy_seed)
    for move in record.moves:
        again.play(move.action, move.info)
    assert again.text() == recorder.text()


@pytest.mark.parametrize("num_players", PLAYERS)
def test_deals_by_hand_small_variants_and_scores(num_players):
    rng = random.Random(num_players)
    for _ in range(10):
        match = uneven_deal(rng, num_players)
        recorder = played(num_players, rng.randrange(1000), rng.choice([0, 1, 5, 60]), match)
        record = parse_record(recorder.text())
        assert record.start == match and record.final == recorder.match
    small = Match(2, seed=9, hand_size=2, target=4, max_pip=2, scores=[5, -10])
    recorder = played(2, 3, match=small)
    assert parse_record(recorder.text()).final == recorder.match


@pytest.mark.parametrize("moves", [0, 1, 7, 40])
def test_a_file_of_an_unfinished_match(moves, tmp_path):
    recorder = played(3, 8, moves)
    recorder.save(tmp_path / "match.jsonl")
    record = read_record(tmp_path / "match.jsonl")
    assert record.final == recorder.match and record.final.winner is None and len(record.moves) == moves
    assert [path.name for path in tmp_path.iterdir()] == ["match.jsonl"]
    with pytest.raises(OSError, match="nothing"):
        read_record(tmp_path / "nothing.jsonl")


def test_a_record_needs_a_fresh_match_and_a_name_per_seat():
    match = Match(2, seed=0)
    for names in ("ab", ["a"], ["a", ""], ["a", 3], ["a", "x" * 201]):
        with pytest.raises(ValueError, match="players must be 2 names"):
            Recorder(match, names)
    match.play(match.legal_actions()[0])
    with pytest.raises(ValueError, match="a record starts in round 1 before the first move"):
        Recorder(match)


def test_illegal_actions_change_nothing():
    recorder = played(4, 1, 1)
    before = recorder.text()
    for action in (DRAW, PASS, 500, -1, "3"):
        with pytest.raises(ValueError, match=r"action|may not"):
            recorder.play(action)
    with pytest.raises(ValueError, match="info"):
        recorder.play(recorder.match.legal_actions()[0], {"mood": 1})
    assert recorder.text() == before


# thoughts of a player


def test_thoughts_come_back():
    recorder = Recorder(Match(2, seed=0))
    legal = recorder.match.legal_actions()
    thought = {
        "probabilities": {str(legal[0]): 0.25, str(legal[1]): 0.75},
        "values": {str(legal[0]): -3.5},
        "value": 2.0,
        "win": [0.25, 0.75],
        "belief": [{"0|0": 1.0}, {}],
        "note": "“greedy”",
    }
    recorder.play(legal[0], thought)
    assert parse_record(recorder.text()).moves[0].info == thought


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"probabilities": {"119": 1.0}}, "not a legal action"),
        ({"probabilities": {"0": 1.5}}, "not a legal action|not a number from 0 to 1"),
        ({"win": [0.5]}, "must have 2 entries"),
        ({"win": [0.5, float("nan")]}, "not a number"),
        ({"belief": [{}, {"9|9": 1.0}]}, "must map tiles"),
        ({"value": True}, "not a number"),
        ({"note": 3}, "must be text"),
        ({"mood": 1}, "there is no info"),
        ([], "must be a mapping"),
    ],
)
def test_thoughts_are_checked(info, message):
    with pytest.raises(ValueError, match=message):
        Recorder(Match(2, seed=0)).play(Match(2, seed=0).legal_actions()[0], info)


# broken rules


def broken(change, kind: str, which: int = 0, seed: int = 2) -> RecordError:
    """The error of a record in which one line of a type was changed."""
    lines = lines_of(played(4, seed))
    at = [i for i, line in enumerate(lines) if line["type"] == kind][which]
    change(lines, at)
    error = refused(text_of(lines))
    assert error.line == at + 1, error
    return error


def put(**values):
    return lambda lines, at: lines[at].update(values)


def drop(lines, at):
    del lines[at]


@pytest.mark.parametrize(
    ("kind", "change", "rule"),
    [
        ("deal", put(opener=9), "R2.3, R2.5"),
        ("deal", put(boneyard=[]), "R2.1"),
        ("deal", put(round=2), "R2.1"),
        ("deal", drop, "R2.1"),
        ("move", put(seat=7), "R2.4"),
        ("move", put(action=DRAW), "R3.2"),
        ("move", put(action=PASS), "R3.2"),
        ("move", put(action=40), "R2.4"),
        ("move", put(action="40"), None),
        ("move", put(action=True), None),
        ("move", put(text="lead [6|6]!"), None),
        ("event", put(net=50), "R5.2, R7.4, R8.3"),
        ("event", put(accepted=False), "R6.1"),
        ("event", put(accepted=1), "R6.1"),
        ("event", put(scores=[5, 5]), "R6.1"),
        ("event", drop, "R5.2, R7.4, R8.3"),
        ("round", put(winner=5), "R8.5, D8"),
        ("round", put(hands=None), "D5"),
        ("round", put(end="exact"), "R3.3, R6.2, R7.0"),
        ("round", drop, "R3.3, R6.2, R7.0"),
        ("end", put(winner=None), "R6.2, R9.1"),
        ("end", put(scores=[61, 0]), "R9.1"),
        ("record", put(version=2), None),
        ("record", put(version=0), None),
        ("record", put(version=True), None),
        ("record", put(more=1), None),
        ("record", put(variant={}), None),
        ("record", put(seed=-1), "R1.1, R2.1"),
        ("record", put(scores=[1, 0]), "R1.1, R2.1"),
        ("record", put(players=["a"]), "R1.1, R2.1"),
        ("record", put(policy_seed=-1), None),
        ("record", drop, None),
    ],
)
def test_a_line_that_breaks_a_rule(kind, change, rule):
    """R2.1, R2.3, R2.4, R2.5, R3.2, R3.3, R5.2, R6.1, R6.2, R7.0, R7.4, R8.3, R8.5, R9.1, D5, D8."""
    assert broken(change, kind).rule == rule


def test_a_lead_in_the_middle_and_a_tile_not_held():
    """R2.4, R3.1: only the opening placement is a lead; only what is held and fits is laid."""
    lines = lines_of(played(4, 2, 30))
    at = [i for i, line in enumerate(lines) if line["type"] == "move" and line["action"] < DRAW][3]
    for action, rule in ((3, "R2.4"), *((a, "R3.1") for a in range(35, 77))):
        record = parse_record(text_of(lines))
        before = next(b for move, b, _ in record.positions() if move.line == at + 1)
        if action in before.legal_actions():
            continue
        changed = [dict(line) for line in lines]
        changed[at]["action"] = action
        error = refused(text_of(changed))
        assert (error.line, error.rule) == (at + 1, rule)


def test_newer_and_older_versions_are_named():
    lines = lines_of(played(2, 0, 3))
    for version, message in ((2, "version 2: this fiveup-env reads version 1"), (0, "there is no version 0")):
        refused(text_of([{**lines[0], "version": version}, *lines[1:]]), message)


def test_nothing_may_follow_the_end():
    """R6.2, R9.1."""
    text = played(2, 0, 3).text()
    assert refused(text + text, "continues after its end").rule == "R9.1"
    lines = lines_of(played(2, 0))
    move = next(line for line in lines if line["type"] == "move")
    assert refused(text_of([*lines[:-1], move, lines[-1]])).rule == "R6.2"


NO_RECORDS = (
    *("", "\n", "{", "[]", "null", '{"type": 1}', '{"type": "move"}', '{"type": "record"}', "NaN", "9" * 9999),
    *("[" * 100000, '{"type": "record", "type": "record"}', b"\xff\xfe", "\ufeff" + TEXTS[0], "\ud800"),
    TEXTS[0].replace("\n", "\r"),
)


@pytest.mark.parametrize("text", NO_RECORDS, ids=range(len(NO_RECORDS)))
def test_other_text_is_refused(text):
    refused(text)


# fuzz: a changed text is refused with a line, or it is the same record


def refused_or_the_same(changed: str | bytes, text: str) -> None:
    try:
        record = parse_record(changed)
    except RecordError:
        refused(changed)
        return
    original = parse_record(text)
    assert (record.start, record.moves, record.final) == (original.start, original.moves, original.final)


def fuzzed(test):
    """Run a test on examples of all three texts."""
    return pytest.mark.parametrize("text", TEXTS, ids=PLAYERS)(settings(max_examples=60)(given(data=st.data())(test)))


@fuzzed
def test_cut(text, data):
    refused(text[: data.draw(st.integers(0, len(text) - 2))])


@fuzzed
def test_flipped(text, data):
    raw = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    refused_or_the_same(bytes(raw), text)


@fuzzed
def test_reordered_lost_and_doubled_lines(text, data):
    lines = text.splitlines(keepends=True)
    i, j = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    how = data.draw(st.sampled_from(["swap", "move", "lose", "double"]))
    if how == "swap":
        lines[i], lines[j] = lines[j], lines[i]
    elif how == "move":
        lines.insert(j, lines.pop(i))
    elif how == "lose":
        del lines[i]
    else:
        lines.insert(j, lines[i])
    changed = "".join(lines)
    if changed != text and how in ("lose", "double"):
        refused(changed)
    else:
        refused_or_the_same(changed, text)
