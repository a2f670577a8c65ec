"""The oracle: the rules of deciding written plainly, one article and one loop at a time."""

from dataclasses import dataclass, field

import numpy as np

from stream_dedup.core.candidates import MAX_VERIFIED
from stream_dedup.core.rules import Rules
from stream_dedup.core.sketch import Sketch, Submission
from stream_dedup.core.verdict import VERDICT_OF, FactKind, Judgement, Kind, Original, Replaced, Verdict, Veto
from tests.core.handmade import equal_bytes


@dataclass
class Kept:
    """One kept article."""

    sequence: int
    article: Submission
    sketch: Sketch


@dataclass
class PlainDecider:
    """Decides one article at a time and remembers what it kept."""

    rules: Rules
    kept: list[Kept] = field(default_factory=list)
    ever_kept: list[int] = field(default_factory=list)
    """Sequences of all that was kept, whatever has become of it."""
    times: list[int] = field(default_factory=list)
    max_verified: int = MAX_VERIFIED
    truncated: int = 0
    """Articles with more near entries than are verified."""
    sequence: int = 0

    def judge(self, article: Submission) -> Judgement:
        """Judge one article, and keep it if it is to be kept."""
        sequence, self.sequence = self.sequence, self.sequence + 1
        content = article.content
        if isinstance(content, Sketch) or content.kind is Kind.UNFINGERPRINTABLE:
            self.times.append(article.time)
        self.kept = [entry for entry in self.kept if not self.passed(entry.article.time)]
        if not isinstance(content, Sketch):
            return Judgement(sequence, content.kind, VERDICT_OF[content.kind], reason=content.reason)
        return self._compared(sequence, article, content)

    def change(self, rules: Rules) -> None:
        """Other rules from here on; what has left stays away."""
        self.kept = [entry for entry in self.kept if not self.passed(entry.article.time)]
        self.rules = rules

    def passed(self, time: int) -> bool:
        """Whether the fifth highest time is a window or more after this one."""
        if self.rules.window is None or len(self.times) < 5:
            return False
        return sorted(self.times)[-5] - time >= self.rules.window

    def _compared(self, sequence: int, article: Submission, sketch: Sketch) -> Judgement:
        same_scheme = [entry for entry in self.kept if entry.sketch.scheme == sketch.scheme]
        others = [entry for entry in same_scheme if entry.article.position != article.position]
        own = [entry for entry in same_scheme if entry.article.position == article.position]
        exact = [self._evidence(sketch, entry) for entry in others if entry.sketch.digest == sketch.digest]
        near = self._nearest(sketch, same_scheme)
        near = [one for one in near if one.sequence in {entry.sequence for entry in others}]
        near = [one for one in near if one.similarity >= self.rules.threshold]
        vetoed = [one for one in near if self._vetoed(article, sketch, one)]
        near = [one for one in near if one not in vetoed]
        exact, near, vetoed = (
            sorted(some, key=lambda one: (one.distance, -one.similarity, one.sequence))
            for some in (exact, near, vetoed)
        )
        best = (exact or near)[:1]
        veto = Veto(vetoed[0].id, (Replaced(FactKind.NUMBER, 1, 1),)) if vetoed and not best else None
        kind = self._kind(article, bool(exact), best)
        kept = kind is Kind.NEW or (kind is Kind.REVISION and self.rules.keep_revisions)
        replay = any(entry.sketch.digest == sketch.digest for entry in own)
        if kept and not replay and not self.passed(article.time):
            self.kept.append(Kept(sequence, article, sketch))
            self.ever_kept.append(sequence)
            self.kept = self.kept[-self.rules.max_entries :]
        return Judgement(sequence, kind, Verdict.UNIQUE if kept else VERDICT_OF[kind], best[0] if best else None, veto)

    def _nearest(self, sketch: Sketch, entries: list[Kept]) -> list[Original]:
        """Those within the radius that are another text; not more than are verified."""
        near = [self._evidence(sketch, entry) for entry in entries if entry.sketch.digest != sketch.digest]
        near = [one for one in near if one.distance <= self.rules.radius]
        self.truncated += len(near) > self.max_verified
        return sorted(near, key=lambda one: (one.distance, one.sequence))[: self.max_verified]

    def _vetoed(self, article: Submission, sketch: Sketch, original: Original) -> bool:
        """Handmade articles have one fact or none; two that have another each are apart."""
        theirs = next(entry.sketch.facts for entry in self.kept if entry.sequence == original.sequence)
        both = any(sketch.facts) and any(theirs)
        return self.rules.vetoes and both and sketch.facts != theirs and article.id != original.id

    def _kind(self, article: Submission, exact: bool, best: list[Original]) -> Kind:  # noqa: FBT001 - a plain oracle
        if exact:
            return Kind.EXACT
        if best:
            return Kind.REVISION if best[0].id == article.id else Kind.NEAR
        return Kind.LATE if self.passed(article.time) else Kind.NEW

    def _evidence(self, sketch: Sketch, entry: Kept) -> Original:
        pairs = zip(sketch.fingerprints, entry.sketch.fingerprints, strict=True)
        ours, theirs = (np.frombuffer(one.signature, np.uint8)[None, :] for one in (sketch, entry.sketch))
        return Original(
            id=entry.article.id,
            sequence=entry.sequence,
            time=entry.article.time,
            distance=min((left ^ right).bit_count() for left, right in pairs),
            similarity=1.0 if sketch.digest == entry.sketch.digest else float(equal_bytes(ours, theirs)[0]),
        )
