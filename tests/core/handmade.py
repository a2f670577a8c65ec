"""Articles whose sketches are made by hand, so that a test says how near two of them are."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import xxhash
from numpy.typing import NDArray

from stream_dedup.core.delta import Entries, entries_of
from stream_dedup.core.fact import Fact
from stream_dedup.core.fact_sketch import fact_sketch
from stream_dedup.core.sketch import SIGNATURE_BYTES, Sketch, Submission
from stream_dedup.core.verdict import FactKind

SCHEMES = {"one": 1, "two": 2}
"""Handmade schemes and how many fingerprints each has."""


def equal_bytes(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.float64]:
    """A similarity that tests can set byte by byte: the share of equal bytes in two signatures of (n, 64)."""
    shares: NDArray[np.float64] = (left == right).mean(axis=1, dtype=np.float64)
    return shares


def number(*parts: object) -> int:
    """A 64-bit number that looks random and is the same on every run."""
    return xxhash.xxh3_64_intdigest(repr(parts).encode())


@cache
def sketch(topic: int, flipped: int = 0, edited: int = 0, scheme: str = "one", fact: str = "") -> Sketch:
    """An article about a topic, so many bits and signature bytes away from the topic's first one.

    The first fingerprint has its `flipped` lowest bits of a topic-specific order turned; all others twice as many.
    Its only fact is a number in one context, or it has none.
    """
    order = np.argsort([number("bit", topic, bit) for bit in range(64)]).tolist()
    masks = [sum(1 << bit for bit in order[: flipped * (1 + (column > 0))]) for column in range(SCHEMES[scheme])]
    signature = xxhash.xxh3_128_digest(str(topic).encode()) * 4
    turned = bytes(255 - byte for byte in signature[:edited])
    return Sketch(
        scheme=scheme,
        fingerprints=tuple(number(scheme, topic, column) ^ mask for column, mask in enumerate(masks)),
        signature=turned + signature[edited:SIGNATURE_BYTES],
        digest=xxhash.xxh3_128_digest(repr((topic, flipped, edited, fact)).encode()),
        facts=fact_sketch([Fact(FactKind.NUMBER, "price_dollars", fact)] if fact else [], words=0),
    )


def submission(content: Sketch, position: str, time: int = 0, id: str | None = None) -> Submission:  # noqa: A002 - the field's name
    """An article that names itself by its position unless it has an id."""
    return Submission(position=position, id=position if id is None else id, time=time, content=content)


def entries(sketches: Sequence[Sketch], first: int = 0, times: Sequence[int] | None = None) -> Entries:
    """Sketches of one scheme as entries with ascending sequences; their ids are `article-SEQUENCE`."""
    return entries_of(
        sketches[0].scheme,
        [
            (
                sequence,
                submission(one, f"raw-0-{sequence}", times[row] if times else sequence, f"article-{sequence}"),
                one,
            )
            for row, (sequence, one) in enumerate(enumerate(sketches, first))
        ],
    )
