"""Both stages together, without a broker: every kind, every rule of time, every header."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

import pytest
from structlog.testing import capture_logs

from stream_dedup.core.decider import Decider
from stream_dedup.core.delta import Delta
from stream_dedup.core.verdict import Kind, Verdict
from stream_dedup.errors import BrokerRefusedError, LogRefusedError, TransactionFailedError
from stream_dedup.kafka.changelog import ChangelogRecord
from stream_dedup.kafka.decide_stage import CROWD, DecidedBatch
from stream_dedup.kafka.memory import MemoryBroker, MemorySource
from stream_dedup.kafka.raw_progress import NO_PROGRESS
from stream_dedup.kafka.records import size_of
from stream_dedup.kafka.transport import Input, Message, Record
from stream_dedup.kafka.trimming import Trimmer
from stream_dedup.testing import CHANGELOG, FINGERPRINTED, HOUR, OUTPUTS, RAW, STATISTICS, Output, StreamDriver, Trial

NEWS = (
    "市图书馆新馆昨天上午在城东新区正式对外开放。新馆总建筑面积约四万二千平方米，设有阅览座位三千余个，藏书一百八十万册。"
    "开放首日，不少市民早早在门口排队等候入馆。馆长介绍，新馆采用自助借还系统，读者凭身份证即可办理借阅手续，全程不到一分钟。"
    "儿童阅览区设在一层，配有绘本剧场和手工教室，每周末举办亲子阅读活动。二层为地方文献区，收藏了本地方志和老报纸的数字化副本。"
    "为方便夜间读者，新馆将开放时间延长至晚上十点，周一闭馆检修。图书馆还计划在各街道增设自助书屋，年底前全部投入使用。"
)
NEAR = NEWS + "（编辑：夜班）"
OTHER = (
    "The river rose above its banks on Thursday night after two days of heavy rain, and the lower town was flooded "
    "before the evening was over. Volunteers carried sandbags to the old bridge while the fire brigade pumped water "
    "out of the cellars of the market hall. Schools near the harbour will stay closed until Monday, the council said."
)
FILLER = (
    "{0} 号车站的候车厅今天完成翻新，第 {0} 期工程随即开始，预计 {0} 周后结束，届时将新增 {0} 个座位和 {0} 处无障碍通道"
)


def _article(text: str, **fields: str | int) -> dict[str, str | int]:
    return {"id": "a", "text": text, **fields}


def _one(driver: StreamDriver) -> Output:
    (output,) = driver.read()
    return output


@pytest.fixture
def driver() -> Iterator[StreamDriver]:
    """A driver with the settings of production and the first article already kept."""
    with StreamDriver() as driver:
        driver.pipe(_article(NEWS, id="original"))
        assert _one(driver).header("dedup-kind") == "new"
        yield driver


SPACED = "  " + NEWS.replace("。", "。\n \t")
WIDE = NEWS.replace("，", ",").replace("。", "．")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        pytest.param(_article(OTHER), Kind.NEW, id="another article"),
        pytest.param(_article(NEWS), Kind.EXACT, id="the same text"),
        pytest.param(_article(NEWS, id="original"), Kind.EXACT, id="the same article again"),
        pytest.param(_article(SPACED), Kind.EXACT, id="other white space"),
        pytest.param(_article(WIDE), Kind.EXACT, id="other punctuation"),
        pytest.param(_article(NEWS, title="Another headline"), Kind.EXACT, id="another headline"),
        pytest.param(_article(NEAR), Kind.NEAR, id="an editor's line"),
        pytest.param(_article(NEAR, id="original"), Kind.REVISION, id="another text of the same article"),
        pytest.param(_article("快讯"), Kind.UNFINGERPRINTABLE, id="too short"),
        pytest.param(_article(" \n"), Kind.UNFINGERPRINTABLE, id="blank"),
        pytest.param(None, Kind.TOMBSTONE, id="null"),
        pytest.param(b"{broken", Kind.UNREADABLE, id="broken JSON"),
        pytest.param(b"[1]", Kind.UNREADABLE, id="not an object"),
        pytest.param({"id": "a"}, Kind.UNREADABLE, id="no text"),
        pytest.param({"text": 7}, Kind.UNREADABLE, id="text is a number"),
    ],
)
def test_kinds(driver: StreamDriver, value: dict[str, str | int] | bytes | None, kind: Kind) -> None:
    """Each kind goes to its topic with its verdict, and what came in goes out untouched."""
    driver.pipe(
        value, key=b"\x00k", headers=(("own", b"\xff"), ("own", None)), partition=3, timestamp=1_700_000_000_123
    )
    sent = driver.broker.log("articles.raw", 3).records[-1]
    output = _one(driver)
    verdict = {Kind.EXACT: "duplicate", Kind.NEAR: "duplicate", Kind.REVISION: "duplicate", Kind.UNREADABLE: "rejected"}
    assert output.header("dedup-kind") == kind
    assert output.header("dedup-verdict") == verdict.get(kind, "unique")
    assert output.record.topic == OUTPUTS[Verdict(output.header("dedup-verdict") or "")]
    assert (output.record.key, output.record.value) == (sent.key, sent.value)
    assert output.record.timestamp == sent.timestamp
    assert output.record.headers[:2] == (("own", b"\xff"), ("own", None))
    assert output.header("dedup-position") == f"articles.raw-3-{sent.offset}"
    assert (output.header("dedup-reason") is not None) == (kind is Kind.UNREADABLE)
    assert (output.header("dedup-original-id") == "original") == (verdict.get(kind) == "duplicate")
    fingerprinted = kind not in {Kind.UNFINGERPRINTABLE, Kind.TOMBSTONE, Kind.UNREADABLE}
    assert (output.header("dedup-fingerprint") is not None) == fingerprinted


def test_the_original_is_told_with_the_evidence(driver: StreamDriver) -> None:
    """A duplicate names its original's id, sequence and time, and how near it is."""
    driver.pipe(_article(NEAR))
    output = _one(driver)
    assert output.header("dedup-original-sequence") == "0"
    assert output.header("dedup-original-time") == str(driver.now)
    assert int(output.header("dedup-distance") or "99") <= 3
    assert 0.55 <= float(output.header("dedup-similarity") or "0") < 1


OTHER_FACTS = NEWS.replace("四万二千", "五万二千").replace("三千", "五千")


def test_replaced_facts_are_told_with_the_article_they_kept_apart(driver: StreamDriver) -> None:
    """The near article is unique, and says which facts differ and from which article's."""
    driver.pipe(_article(OTHER_FACTS, id="b"))
    output = _one(driver)
    assert output.header("dedup-kind") == "new"
    assert output.header("dedup-veto") == "2 of 4 numbers replaced"
    assert output.header("dedup-veto-original-id") == "original"
    assert output.header("dedup-original-id") is None


def test_vetoes_outlive_a_restart(driver: StreamDriver) -> None:
    """The facts are restored from the changelog with the rest."""
    driver.restart()
    driver.pipe(_article(OTHER_FACTS, id="b"))
    assert _one(driver).header("dedup-veto") == "2 of 4 numbers replaced"


@pytest.mark.parametrize(
    ("trial", "article_id", "kind"),
    [
        pytest.param(Trial(vetoes=False), "b", Kind.NEAR, id="vetoes off"),
        pytest.param(Trial(), "original", Kind.REVISION, id="a revision"),
    ],
)
def test_where_no_veto_applies(trial: Trial, article_id: str, kind: Kind) -> None:
    """With vetoes off, and to an article that has its original's id, other facts make no difference."""
    with StreamDriver(trial) as driver:
        driver.pipe(_article(NEWS, id="original"))
        driver.pipe(_article(OTHER_FACTS, id=article_id))
        output = driver.read()[1]
    assert output.header("dedup-kind") == kind
    assert output.header("dedup-veto") is None


def test_sequences_count_every_record(driver: StreamDriver) -> None:
    """Rejected ones, tombstones and duplicates have a place in the total order as well."""
    for value in (b"{", None, _article(NEWS), _article(OTHER)):
        driver.pipe(value)
    assert [output.sequence for output in driver.read()] == [1, 2, 3, 4]


def test_headers_that_pose_as_evidence_do_not_pass(driver: StreamDriver) -> None:
    """An incoming `dedup-*` header is removed, even from a record that is rejected."""
    for value in (_article(OTHER), b"{"):
        driver.pipe(value, headers=(("dedup-verdict", b"forged"), ("dedup-handover", b"forged")))
        headers = _one(driver).record.headers
        assert b"forged" not in [content for _, content in headers]


def test_a_header_key_that_is_not_utf8_is_rejected_with_its_bytes_written_out(driver: StreamDriver) -> None:
    """Value and key stay as they are; the header's key becomes readable, and the reason names it."""
    key = b"\xfftag".decode("utf-8", "surrogateescape")
    driver.pipe(_article(OTHER), headers=((key, b"1"),))
    output = _one(driver)
    assert output.header("dedup-verdict") == "rejected"
    assert output.record.headers[0] == ("\\xfftag", b"1")
    assert "UTF-8" in (output.header("dedup-reason") or "")


def test_a_replay_is_never_a_duplicate_of_itself() -> None:
    """When the same raw records are fingerprinted again, each gets the verdict that it had."""
    with StreamDriver(Trial(partitions=1)) as driver:
        for text in (NEWS, NEAR, OTHER):
            driver.pipe(_article(text))
        first = driver.read()
        of = Input("trial.fingerprint", RAW, 0)
        driver.broker.set_committed(of, 0, asyncio.run(driver.broker.marks(of.group, RAW))[0])
        again = driver.read()
    assert [output.header("dedup-kind") for output in first] == ["new", "revision", "new"]
    for before, after in zip(first, again, strict=True):
        for name in ("dedup-kind", "dedup-position", "dedup-original-id", "dedup-original-sequence"):
            assert before.header(name) == after.header(name)


def _fill(driver: StreamDriver, time: int, count: int = 5) -> list[Output]:
    """Unlike articles with this event time: five of them move the clock there."""
    for number in range(count):
        driver.pipe(_article(FILLER.format(time % 1_000_003 + number * 37), id=f"f{number}"), timestamp=time)
    return driver.read()


@pytest.mark.parametrize(
    ("later", "kind"),
    [
        pytest.param(72 * HOUR - 1, Kind.EXACT, id="window not over"),
        pytest.param(72 * HOUR, Kind.NEW, id="window over: |---72 h---|"),
    ],
)
def test_the_window_counts_from_the_original(driver: StreamDriver, later: int, kind: Kind) -> None:
    """An original is live while clock - its time < window, to the millisecond."""
    now = driver.now + later
    driver.now = now
    _fill(driver, now)
    driver.pipe(_article(NEWS, id="again"), timestamp=now)
    assert _one(driver).header("dedup-kind") == kind


def test_four_articles_from_the_future_cannot_empty_the_window(driver: StreamDriver) -> None:
    """The clock is the fifth highest event time."""
    then = driver.now
    driver.advance(300 * HOUR)  # so that the future is not limited by the wall clock
    _fill(driver, then + 200 * HOUR, count=4)
    driver.pipe(_article(NEWS, id="again"), timestamp=then)
    assert _one(driver).header("dedup-kind") == "exact"


def test_times_in_the_future_are_limited(driver: StreamDriver) -> None:
    """However many articles are dated 2099, the clock is at most the wall clock plus the allowed skew."""
    _fill(driver, 4_070_908_800_000)
    driver.pipe(_article(NEWS, id="again"))
    output = _one(driver)
    assert output.header("dedup-kind") == "exact"
    assert driver.decide_stage.decider.clock.now == driver.now + driver.trial.future_skew


def test_rejected_records_and_tombstones_do_not_move_the_clock(driver: StreamDriver) -> None:
    """Only articles tell the time."""
    driver.advance(100 * HOUR)
    for value in (b"{", None) * 5:
        driver.pipe(value)
    driver.read()
    driver.pipe(_article(NEWS, id="again"))
    assert _one(driver).header("dedup-kind") == "exact"


def test_an_article_older_than_the_window_is_judged_and_not_kept(driver: StreamDriver) -> None:
    """It is late when nothing near is there, a duplicate when it is; a second one of its kind is late again."""
    driver.advance(100 * HOUR)
    now = driver.now
    _fill(driver, now)
    driver.pipe(_article(OTHER, id="late-1"), timestamp=now - 72 * HOUR)
    driver.pipe(_article(OTHER, id="late-2"), timestamp=now - 72 * HOUR)
    assert [output.header("dedup-kind") for output in driver.read()] == ["late", "late"]


def test_state_does_not_expire_by_wall_clock(driver: StreamDriver) -> None:
    """Idle for a year, restarted: the window runs in event time, so the original is still there."""
    driver.advance(365 * 24 * HOUR)
    driver.read()
    driver.restart()
    driver.pipe(_article(NEWS, id="again"), timestamp=driver.now - 365 * 24 * HOUR)
    assert _one(driver).header("dedup-kind") == "exact"


def test_verdicts_depend_on_neither_batches_nor_restarts() -> None:
    """One batch, many, or a restart after each article: the same outputs byte for byte."""
    texts = [NEWS, NEAR, OTHER, OTHER + " More follows.", NEWS, "快讯", FILLER.format(3), FILLER.format(4), NEAR]

    def run(batch_records: int, *, restarts: bool) -> list[Message]:
        with StreamDriver(Trial(partitions=1, batch_records=batch_records)) as driver:
            outputs = []
            for number, text in enumerate(texts):
                driver.pipe(_article(text, id=f"id-{number}"))
                if restarts:
                    outputs += driver.read()
                    driver.restart()
            outputs += driver.read()
            records = [output.record for output in outputs]
            return [Message(r.topic, r.partition, r.timestamp, r.key, r.value, r.headers) for r in records]

    whole = run(1000, restarts=False)
    assert run(1, restarts=False) == whole
    assert run(2, restarts=False) == whole
    assert run(1000, restarts=True) == whole


TEN_DAYS = 10 * 24 * HOUR
IN_2012 = 1_325_376_000_000


@pytest.mark.parametrize("start", [IN_2012, 1_700_000_000_000], ids=["an archive of 2012", "live"])
@pytest.mark.parametrize(
    ("stopped", "idle"),
    [
        pytest.param(TEN_DAYS, 0, id="stopped for ten days"),
        pytest.param(0, TEN_DAYS, id="idle for ten days"),
    ],
)
def test_a_pause_changes_no_verdict(start: int, stopped: int, idle: int) -> None:
    """Articles of five days, twice: the second ones are repeats inside the window, whenever a worker gets to them."""

    def run(*, stopped: int, idle: int, now: int) -> list[Message]:
        with StreamDriver(Trial(partitions=1), now=now) as driver:
            outputs = []
            for number in range(60):
                time = start + number * 2 * HOUR
                driver.pipe(_article(FILLER.format(number % 25 * 37), id=f"{number}"), timestamp=time)
                if number == 40:
                    driver.advance(idle)
                    outputs += driver.read()
                    driver.advance(stopped)
                    driver.restart()
            outputs += driver.read()
            records = [output.record for output in outputs]
            return [Message(r.topic, r.partition, r.timestamp, r.key, r.value, r.headers) for r in records]

    undisturbed = run(stopped=0, idle=0, now=start + 120 * HOUR)
    kinds = {value for record in undisturbed for name, value in record.headers if name == "dedup-kind"}
    assert kinds == {b"new", b"exact"}
    assert run(stopped=stopped, idle=idle, now=1_700_000_000_000 + 120 * HOUR) == undisturbed


@pytest.mark.parametrize(
    ("routes", "kinds", "topics"),
    [
        pytest.param(
            {Kind.REVISION: Verdict.UNIQUE},
            ["new", "revision", "exact"],
            ["unique", "unique", "duplicates"],
            id="corrections go on, and are originals themselves",
        ),
        pytest.param(
            dict.fromkeys((Kind.NEAR, Kind.EXACT, Kind.UNREADABLE), Verdict.UNIQUE),
            ["new", "revision", "exact"],
            ["unique", "duplicates", "unique"],
            id="only marks",
        ),
    ],
)
def test_routes(routes: dict[Kind, Verdict], kinds: list[str], topics: list[str]) -> None:
    """A setting maps each kind to a topic; a revision that goes to unique is kept."""
    with StreamDriver(Trial(routes=routes)) as driver:
        for text in (NEWS, NEAR, NEAR if routes.get(Kind.REVISION) else NEWS):
            driver.pipe(_article(text))
        outputs = driver.read()
    assert [output.header("dedup-kind") for output in outputs] == kinds
    assert [output.record.topic for output in outputs] == [f"articles.{topic}" for topic in topics]


def test_a_record_that_the_output_refuses_is_rejected_and_cut(driver: StreamDriver) -> None:
    """The broker's limit is found out, the record's beginning goes to rejected with the reason, the rest goes on."""
    driver.pipe(_article(OTHER + " " + "x" * (driver.trial.max_message_bytes + 10), id="big"), headers=(("own", b"1"),))
    size = size_of(driver.broker.log(RAW, 0).records[-1])
    driver.pipe(_article(OTHER, id="small"))
    outputs = {output.header("dedup-kind"): output for output in driver.read()}
    assert outputs.keys() == {"unreadable", "new"}
    assert f"the broker refuses a record of {size} bytes" in (outputs["unreadable"].header("dedup-reason") or "")
    assert (outputs["unreadable"].record.value or b"").startswith(b'{"id":"big"')


def test_keyless_records_go_by_their_raw_partition(driver: StreamDriver) -> None:
    """So that articles of one raw partition stay in order on the output."""
    for partition in range(4):
        driver.pipe(None, partition=partition)
    assert [output.record.partition for output in driver.read()] == [0, 1, 2, 3]


def test_one_batch_is_one_changelog_and_one_statistics_record(driver: StreamDriver) -> None:
    """They are written with the outputs, by wall clock, whatever the articles' times are."""
    before = {topic: len(driver.broker.log(topic, 0).records) for topic in (CHANGELOG, STATISTICS)}
    for _ in range(7):
        driver.pipe(_article(NEWS), timestamp=0, partition=2)
    driver.advance(5)
    driver.read()
    for topic, count in before.items():
        records = driver.broker.log(topic, 0).records
        assert len(records) == count + 1
        assert records[-1].timestamp == driver.now
    assert {record.timestamp for record in driver.broker.log(FINGERPRINTED, 0).records[-7:]} == {driver.now}


def test_a_broken_chain_is_refused() -> None:
    """A changelog from which a record is missing does not restore an index."""
    with StreamDriver(Trial(batch_records=1)) as driver:
        for number in range(4):
            driver.pipe(_article(FILLER.format(number), id=f"{number}"))
        driver.read()
        del driver.broker.log(CHANGELOG, 0).records[2]
        driver.restart()
        driver.pipe(_article(NEWS))
        with pytest.raises(LogRefusedError, match=r"chain of stream-dedup\.index is broken"):
            driver.read()


@pytest.fixture
def _marks_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A place to trim at after each changelog record."""
    monkeypatch.setattr("stream_dedup.kafka.replica.MARK_EVERY", 1)


@pytest.mark.usefixtures("_marks_everywhere")
def test_trimming_keeps_what_a_restart_needs(driver: StreamDriver) -> None:
    """Decided input and outlived changelog records go; the index restored from the rest is the same."""
    for _ in range(8):
        driver.advance(24 * HOUR)
        _fill(driver, driver.now)
    driver.advance(60_000)
    driver.read()
    assert driver.broker.log(FINGERPRINTED, 0).records == []
    assert driver.broker.log(CHANGELOG, 0).start > 0
    before = driver.decide_stage.decider.digest()
    driver.restart()
    driver.read()
    assert driver.decide_stage.decider.digest() == before


def test_a_flood_is_counted(driver: StreamDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch says how many of its articles had more near entries than are verified."""
    monkeypatch.setattr("stream_dedup.core.candidates.MAX_VERIFIED", 0)
    driver.pipe(_article(NEWS))
    driver.read()
    stage = driver.decide_stage
    driver.pipe(_article(NEAR, id="b"))
    driver.read()
    record = driver.broker.log(FINGERPRINTED, 0).records[-1]
    assert stage.process([record, record]).truncated == 2
    assert stage.process([record]).truncated == 1


def test_a_crowded_block_is_told_of_when_it_doubles(driver: StreamDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each growth, not with each batch."""
    sizes = [3, CROWD - 1, CROWD, CROWD, 2 * CROWD - 1, 2 * CROWD, CROWD, 3 * CROWD]
    with capture_logs() as logs:
        for size in sizes:
            monkeypatch.setattr(Decider, "largest_block", size)
            asyncio.run(driver.decide_stage.tidy())
    assert [line["largest_block"] for line in logs if line["log_level"] == "warning"] == [CROWD, 2 * CROWD]


def test_marks_of_the_changelog_are_far_apart(driver: StreamDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after so many records, not one a round: a year's window would hold millions of them."""
    marks = []
    mark = Trimmer.mark

    def marked(trimmer: Trimmer, offset: int) -> None:
        marks.append(offset)
        mark(trimmer, offset)

    monkeypatch.setattr("stream_dedup.kafka.replica.MARK_EVERY", 3)
    monkeypatch.setattr(Trimmer, "mark", marked)
    stage = driver.decide_stage
    asyncio.run(stage.open(stage.decider.position))
    marks.clear()
    for number in range(9):
        position = stage.decider.position
        delta = Delta(position, position + 1, position + 1, (), (), 0, stage.decider.rules)
        record = ChangelogRecord(delta, {}, "", NO_PROGRESS)
        stage.applied(DecidedBatch([], record=record), {(CHANGELOG, 0): 2 * number + 1})
        driver.advance(60_000)
        asyncio.run(stage.tidy())
    assert marks == [5, 11, 17]


@pytest.mark.usefixtures("_marks_everywhere")
@pytest.mark.parametrize("error", [TransactionFailedError("no answer"), BrokerRefusedError("no right to delete")])
def test_trimming_that_fails_is_made_up_for(
    driver: StreamDriver, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Deciding goes on in its session, the log says why, and the next round deletes what this one did not."""

    async def refuse(_topic: str, _partition: int, _offset: int) -> None:
        raise error

    def day() -> None:
        driver.advance(24 * HOUR)
        _fill(driver, driver.now)

    with monkeypatch.context() as patched, capture_logs() as logs:
        patched.setattr(driver.broker, "delete_before", refuse)
        for _ in range(8):
            day()
        assert driver.broker.log(FINGERPRINTED, 0).start == driver.broker.log(CHANGELOG, 0).start == 0
    assert {line["event"] for line in logs if line["log_level"] == "warning"} == {
        "what is decided could not be deleted; trying again later"
    }
    decided = driver.decide_stage.decider.position
    driver.advance(60_000)
    driver.read()
    assert driver.broker.log(FINGERPRINTED, 0).start == decided
    assert driver.broker.log(CHANGELOG, 0).start > 0


def test_an_owner_that_slept_knows_what_it_has_not_applied(driver: StreamDriver) -> None:
    """It may go on tidying before it hears of the new owner; owner again, it applies what that one wrote."""
    slept = driver.decide_stage
    driver.restart()
    _fill(driver, driver.now)
    driver.advance(60_000)
    asyncio.run(slept.tidy())
    asyncio.run(slept.open(driver.decide_stage.decider.position))
    assert slept.decider.digest() == driver.decide_stage.decider.digest()


class _Breaking(MemorySource):
    """Gives something once, and then its connection breaks."""

    given = False

    async def fetch(self, max_records: int, wait: float) -> Sequence[Record]:
        """The next records, the first time."""
        if self.given:
            raise TransactionFailedError("the connection broke")
        self.given = True
        return await super().fetch(max_records, wait)


@pytest.mark.usefixtures("_marks_everywhere")
@pytest.mark.parametrize(
    ("rounds", "hours", "trimmed"),
    [
        pytest.param(3, 1, False, id="the standby goes on"),
        pytest.param(9, 24, True, id="its next records are trimmed"),
    ],
)
def test_a_restore_that_breaks_off_goes_on_from_there(
    driver: StreamDriver, monkeypatch: pytest.MonkeyPatch, *, rounds: int, hours: int, trimmed: bool
) -> None:
    """However often: what is applied already is not applied again, and not taken for a broken chain."""

    async def breaking(topic: str, partition: int, offset: int) -> MemorySource:
        return _Breaking(driver.broker, topic, partition, offset)

    slept = driver.decide_stage
    driver.restart()
    for _ in range(rounds):
        driver.advance(hours * HOUR)
        _fill(driver, driver.now)
    assert (driver.broker.log(CHANGELOG, 0).start > 0) == trimmed
    committed = driver.decide_stage.decider.position
    monkeypatch.setattr("stream_dedup.kafka.restore.SLICE", 1)
    with monkeypatch.context() as patched:
        patched.setattr(driver.broker, "source", breaking)
        for _ in range(2):
            with pytest.raises(TransactionFailedError):
                asyncio.run(slept.open(committed))
    asyncio.run(slept.open(committed))
    assert slept.decider.digest() == driver.decide_stage.decider.digest()


FINGERPRINT_OF = Input("trial.fingerprint", RAW, 0)


def _lose(broker: MemoryBroker) -> None:
    broker.lose_committed(FINGERPRINT_OF)


def _set(offset: int) -> Callable[[MemoryBroker], None]:
    return lambda broker: broker.set_committed(FINGERPRINT_OF, offset)


def _make_anew(topic: str) -> Callable[[MemoryBroker], None]:
    def make(broker: MemoryBroker) -> None:
        broker.create_topic(topic, 4)
        for partition in range(4):
            broker.log(topic, partition).end = 1000  # more than was there before

    return make


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        pytest.param(_lose, "no committed offset for articles.raw-0, yet .* up to offset 3: .*lost", id="offset lost"),
        pytest.param(_set(1), "articles.raw-0 was set to 1 .* up to offset 3: .* repeated", id="set back"),
        pytest.param(_set(4), "articles.raw-0 was set to 4 .* up to offset 3: .* left out", id="set forward"),
        pytest.param(_make_anew(RAW), "articles.raw has the id id-.*it was made anew", id="raw topic made anew"),
        pytest.param(_make_anew(FINGERPRINTED), "was made anew, and those that waited", id="its output made anew"),
    ],
)
def test_what_happened_to_one_partition_is_noticed(
    driver: StreamDriver, fault: Callable[[MemoryBroker], None], says: str
) -> None:
    """A lost offset, one that was set, a topic made anew: told from a partition added later and from going on."""
    for text in (NEAR, OTHER):
        driver.pipe(_article(text))
    driver.read()
    driver.pipe(_article(NEWS, id="unread"))
    fault(driver.broker)
    driver.restart()
    with pytest.raises(LogRefusedError, match=says):
        driver.read()


def test_a_partition_without_articles_may_lose_its_offset(driver: StreamDriver) -> None:
    """Nothing of it was read: it begins at its earliest article, as one that was added later."""
    driver.broker.lose_committed(Input("trial.fingerprint", RAW, 3))
    driver.restart()
    driver.pipe(_article(OTHER), partition=3)
    assert _one(driver).header("dedup-position") == "articles.raw-3-0"


def test_an_offset_set_to_where_reading_ended_is_taken(driver: StreamDriver) -> None:
    """Nothing is dropped or repeated, whoever has committed it; from then on it is the stage's own."""
    _set(1)(driver.broker)
    driver.restart()
    assert driver.read() == []
    assert asyncio.run(driver.broker.marks(FINGERPRINT_OF.group, RAW))[0]


def test_an_offset_chosen_before_the_first_start_is_taken() -> None:
    """Whoever sets it wants to begin there; the log says so."""
    with StreamDriver() as driver, capture_logs() as logs:
        driver.pipe(_article(NEWS))
        driver.pipe(_article(OTHER))
        _set(1)(driver.broker)
        assert _one(driver).header("dedup-position") == "articles.raw-0-1"
    assert "offset 1 was set for articles.raw-0" in logs[0]["event"]


def test_the_input_made_anew_is_not_gone_on_with(driver: StreamDriver) -> None:
    """Positions of the changelog lead nowhere in another topic, however many records it has."""
    _make_anew(FINGERPRINTED)(driver.broker)
    with pytest.raises(LogRefusedError, match="positions are of a topic with the id"):
        asyncio.run(driver.decide_stage.open(driver.decide_stage.decider.position))


def test_the_very_first_record_may_be_refused() -> None:
    """What an aborted first transaction leaves in a log is no sign of a lost index or of lost offsets."""
    limit = 2_000
    with StreamDriver(Trial(partitions=1, max_message_bytes=limit, batch_records=1)) as driver:
        driver.pipe(_article("x" * 3 * limit, id="big"))
        driver.pipe(_article("词" * limit, id="bigger than the internal topic takes"))
        driver.pipe(_article(OTHER))
        assert [output.header("dedup-kind") for output in driver.read()] == ["unreadable", "unreadable", "new"]


@pytest.mark.parametrize(("texts", "end"), [((), 0), ((NEAR, OTHER, NEWS), 1)], ids=["empty", "shorter"])
def test_a_changelog_made_anew_under_a_standby_is_refused(driver: StreamDriver, texts: tuple[str], end: int) -> None:
    """Its index would be right now, and lost at the next start."""
    for text in texts:
        driver.pipe(_article(text))
        driver.read()
        driver.advance(60_000)
    driver.broker.create_topic(CHANGELOG, 1)
    driver.broker.log(CHANGELOG, 0).end = end
    with pytest.raises(LogRefusedError, match=rf"stream-dedup\.index ends at offset {end}, but .* brought up to \d"):
        asyncio.run(driver.decide_stage.open(driver.decide_stage.decider.position))


def test_a_first_start_that_is_repeated_warns_of_nothing() -> None:
    """Before the first batch there is neither an offset nor a changelog, however often the partition is taken."""
    with StreamDriver() as driver, capture_logs() as logs:
        for _ in range(2):
            assert asyncio.run(driver.decide_stage.open(None)) == 0
            assert len(driver.decide_stage.decider) == 0
    assert [line["event"] for line in logs if line["log_level"] == "warning"] == []
