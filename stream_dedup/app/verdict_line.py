"""One verdict as `watch --json` and `dedup` print it: the same keys in the same order, always all of them."""

import json
from dataclasses import asdict, dataclass

from stream_dedup.core.verdict import Judgement
from stream_dedup.kafka.transport import Headers

DECIMALS = 3
"""Of the similarity, as in the header `dedup-similarity`."""


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """What is printed of one article; None where it does not apply."""

    id: str
    verdict: str
    kind: str
    original_id: str | None
    distance: int | None
    similarity: float | None
    sequence: int
    position: str
    reason: str | None
    veto: str | None = None
    """Which facts kept a unique article apart from the one that `veto_original_id` names."""
    veto_original_id: str | None = None

    def to_json(self) -> str:
        """One line of ASCII: nothing in it moves a terminal's cursor."""
        return json.dumps(asdict(self))


def line_of_judgement(judgement: Judgement, article_id: str, position: str) -> VerdictLine:
    """The line of an article that was decided here."""
    original, veto = judgement.original, judgement.veto
    return VerdictLine(
        id=article_id,
        verdict=judgement.verdict.value,
        kind=judgement.kind.value,
        original_id=original.id if original else None,
        distance=original.distance if original else None,
        similarity=round(original.similarity, DECIMALS) if original else None,
        veto=str(veto) if veto else None,
        veto_original_id=veto.original_id if veto else None,
        sequence=judgement.sequence,
        position=position,
        reason=judgement.reason,
    )


def line_of_record(headers: Headers, article_id: str | None) -> VerdictLine | None:
    """The line of a record of an output topic, by its headers; None where it carries no evidence.

    Args:
        headers: of the record.
        article_id: what the article calls itself; without one it is named by its position.
    """
    found = {name: value.decode("utf-8", "replace") for name, value in headers if value is not None}
    try:
        position = found["dedup-position"]
        return VerdictLine(
            id=position if article_id is None else article_id,
            verdict=found["dedup-verdict"],
            kind=found["dedup-kind"],
            original_id=found.get("dedup-original-id"),
            distance=int(found["dedup-distance"]) if "dedup-distance" in found else None,
            similarity=float(found["dedup-similarity"]) if "dedup-similarity" in found else None,
            veto=found.get("dedup-veto"),
            veto_original_id=found.get("dedup-veto-original-id"),
            sequence=int(found["dedup-sequence"]),
            position=position,
            reason=found.get("dedup-reason"),
        )
    except (KeyError, ValueError):
        return None
