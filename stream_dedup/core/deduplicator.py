"""The library for programs without Kafka: does an article say nearly the same as one before?"""

from collections.abc import Iterable, Sequence
from itertools import islice

from stream_dedup.core.article import Article
from stream_dedup.core.decider import Decider
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.rules import Rules
from stream_dedup.core.scheme import Profile
from stream_dedup.core.sketch import Submission
from stream_dedup.core.verdict import Judgement
from stream_dedup.errors import SettingsError

BATCH = 1000
"""Articles decided at once: lookups of a batch cost a few times less for each than single ones."""
MIN_WORDS = 8
"""Fewer words say too little to be compared."""
MAX_ENTRIES = 5_000_000
"""1.3 GB at some 260 bytes an entry (one fingerprint), and as much again for a moment while runs are merged."""


class Deduplicator:
    """Remembers the articles that were new, and judges each next one against them.

    >>> from stream_dedup.core.article import Article
    >>> from stream_dedup.core.scheme import profile
    >>> deduplicator = Deduplicator(profile("strict"))
    >>> report = "Heavy rain flooded the lower town on Monday, and the mayor asked everyone to stay at home."
    >>> deduplicator.check(report, id="agency-1").kind.value
    'new'
    >>> again = deduplicator.check(report.upper(), id="portal-7")
    >>> again.verdict.value, again.kind.value, again.original.id
    ('duplicate', 'exact', 'agency-1')
    >>> [judgement.kind.value for judgement in deduplicator.check_many([Article(None, report), Article(None, "Rain.")])]
    ['exact', 'unfingerprintable']

    It is not safe to be called from several threads at once.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        window: int | None = None,
        max_entries: int = MAX_ENTRIES,
        min_words: int = MIN_WORDS,
        keep_revisions: bool = False,
        vetoes: bool = True,
    ) -> None:
        """Start with nothing remembered.

        Args:
            profile: the scheme, and how near two articles must be.
            window: how long an article can be an original, in ms of the times given; None: for ever.
            max_entries: how many articles are remembered at most; beyond that the oldest is forgotten.
            min_words: a text with fewer words, or none, is unfingerprintable, and never a duplicate.
            keep_revisions: near articles with the id of their original are unique, and remembered.
            vetoes: near articles whose numbers, dates or names were replaced are unique, and remembered.

        Raises:
            SettingsError: a value is out of its range.
        """
        if min_words < 1:
            raise SettingsError(f"The least number of words is {min_words}; choose at least 1.")
        rules = Rules(profile.radius, profile.threshold, window, max_entries, keep_revisions, vetoes)
        self._scheme = profile.scheme
        self._min_words = min_words
        self._decider = Decider(rules, estimated_jaccard)

    def check(self, text: str, *, id: str | None = None, time: int = 0) -> Judgement:  # noqa: A002 - the field's name
        """Judge one text, and remember it if it is new.

        Args:
            text: the article's text.
            id: its id; a near one with the same id is a revision. None: it is named `article-SEQUENCE`.
            time: its event time in ms since the epoch; matters only under a window.
        """
        return self._decide([Article(id, text, time)])[0]

    def check_many(self, articles: Iterable[Article]) -> list[Judgement]:
        """Judge articles in their order, with the same judgements as one by one, only faster.

        An article without a time has the time 0.
        """
        remaining = iter(articles)
        judgements: list[Judgement] = []
        while batch := list(islice(remaining, BATCH)):
            judgements += self._decide(batch)
        return judgements

    def _decide(self, articles: Sequence[Article]) -> tuple[Judgement, ...]:
        sketches = self._scheme.fingerprint([article.text for article in articles])
        submissions = [
            Submission(
                position=f"article-{sequence}",
                id=f"article-{sequence}" if article.id is None else article.id,
                time=article.time or 0,
                content=sketches.content(row, self._min_words),
            )
            for row, (sequence, article) in enumerate(enumerate(articles, self._decider.sequence))
        ]
        decision = self._decider.decide(submissions, self._decider.position + len(submissions))
        self._decider.apply(decision.delta)
        return decision.judgements
