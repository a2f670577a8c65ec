"""What one batch changes: the articles kept, as arrays (`Entries`), and the rest of the small state (`Delta`)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

from stream_dedup.core.rules import Rules
from stream_dedup.core.sketch import DIGEST_BYTES, FACT_BYTES, SIGNATURE_BYTES, Sketch, Submission


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """n kept articles of one scheme, in order of sequence; no Python object for each, since there are millions."""

    scheme: str
    fingerprints: NDArray[np.uint64]
    """(n, fingerprints of the scheme)."""
    signatures: NDArray[np.uint8]
    """(n, SIGNATURE_BYTES)."""
    digests: NDArray[np.uint64]
    """(n, 2): the digest's two halves, read as little-endian numbers."""
    facts: NDArray[np.uint8]
    """(n, FACT_BYTES)."""
    times: NDArray[np.int64]
    """(n,) event times in ms since the epoch."""
    sequences: NDArray[np.int64]
    """(n,) places in the total order, ascending."""
    positions: NDArray[np.uint64]
    """(n,) xxh3_64 of the raw position; tells a replay from a repost."""
    id_bytes: NDArray[np.uint8]
    """(total,): all ids as UTF-8, one after the other."""
    id_ends: NDArray[np.int64]
    """(n,): where each id ends in `id_bytes`; it starts where the one before ends."""

    def __len__(self) -> int:
        return len(self.sequences)

    def id_at(self, row: int) -> str:
        """The id of one entry."""
        start = int(self.id_ends[row - 1]) if row else 0
        return self.id_bytes[start : int(self.id_ends[row])].tobytes().decode("utf-8", "surrogatepass")

    def take(self, mask: NDArray[np.bool_]) -> "Entries":
        """The entries that a mask of shape (n,) chooses, in the same order; not copied where it chooses all."""
        if mask.all():
            return self
        rows = np.flatnonzero(mask)
        lengths = np.diff(self.id_ends, prepend=0)
        return Entries(
            scheme=self.scheme,
            fingerprints=self.fingerprints.take(rows, axis=0),
            signatures=self.signatures.take(rows, axis=0),
            digests=self.digests.take(rows, axis=0),
            facts=self.facts.take(rows, axis=0),
            times=self.times.take(rows),
            sequences=self.sequences.take(rows),
            positions=self.positions.take(rows),
            id_bytes=self.id_bytes[np.repeat(mask, lengths)],
            id_ends=np.cumsum(lengths.take(rows), dtype=np.int64),
        )


def position_hash(position: str) -> int:
    """The 64-bit hash by which an entry knows the article's position."""
    return xxhash.xxh3_64_intdigest(position.encode("utf-8", "surrogatepass"))


def entries_of(scheme: str, sketched: Sequence[tuple[int, Submission, Sketch]]) -> Entries:
    """The entries that one or more fingerprinted articles of a scheme become if they are kept.

    Args:
        scheme: the scheme's name.
        sketched: sequence, article and its sketch, in order of sequence.
    """
    ids = [submission.id.encode("utf-8", "surrogatepass") for _, submission, _ in sketched]
    sketches = [sketch for _, _, sketch in sketched]
    return Entries(
        scheme=scheme,
        fingerprints=np.array([sketch.fingerprints for sketch in sketches], np.uint64),
        signatures=_rows([sketch.signature for sketch in sketches], SIGNATURE_BYTES),
        digests=_rows([sketch.digest for sketch in sketches], DIGEST_BYTES).view("<u8").astype(np.uint64),
        facts=_rows([sketch.facts for sketch in sketches], FACT_BYTES),
        times=np.array([submission.time for _, submission, _ in sketched], np.int64),
        sequences=np.array([sequence for sequence, _, _ in sketched], np.int64),
        positions=np.array([position_hash(submission.position) for _, submission, _ in sketched], np.uint64),
        id_bytes=np.frombuffer(b"".join(ids), np.uint8),
        id_ends=np.cumsum([len(one) for one in ids], dtype=np.int64),
    )


def _rows(values: Sequence[bytes], width: int) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(values), np.uint8).reshape(len(values), width)


def no_entries(scheme: str, fingerprints: int) -> Entries:
    """Entries without a row, for a scheme with so many fingerprints."""
    return Entries(
        scheme=scheme,
        fingerprints=np.empty((0, fingerprints), np.uint64),
        signatures=np.empty((0, SIGNATURE_BYTES), np.uint8),
        digests=np.empty((0, 2), np.uint64),
        facts=np.empty((0, FACT_BYTES), np.uint8),
        times=np.empty(0, np.int64),
        sequences=np.empty(0, np.int64),
        positions=np.empty(0, np.uint64),
        id_bytes=np.empty(0, np.uint8),
        id_ends=np.empty(0, np.int64),
    )


def joined(parts: Sequence[Entries]) -> Entries:
    """One or more parts of the same scheme, one after the other."""
    shifts = np.cumsum([0, *(len(part.id_bytes) for part in parts)])
    return Entries(
        scheme=parts[0].scheme,
        fingerprints=np.concatenate([part.fingerprints for part in parts]),
        signatures=np.concatenate([part.signatures for part in parts]),
        digests=np.concatenate([part.digests for part in parts]),
        facts=np.concatenate([part.facts for part in parts]),
        times=np.concatenate([part.times for part in parts]),
        sequences=np.concatenate([part.sequences for part in parts]),
        positions=np.concatenate([part.positions for part in parts]),
        id_bytes=np.concatenate([part.id_bytes for part in parts]),
        id_ends=np.concatenate([part.id_ends + shift for part, shift in zip(parts, shifts, strict=False)]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Delta:
    """What one batch changes, and the whole small state after it, so that any delta of a changelog can be the first."""

    start: int
    """Next input offset before the batch."""
    end: int
    """Next input offset after the batch."""
    sequence: int
    """Next sequence after the batch."""
    clock: tuple[int, ...]
    """The (up to five) highest event times taken so far, ascending, in ms since the epoch."""
    entries: tuple[Entries, ...]
    """What was kept, one for each scheme that kept something."""
    evicted_below: int
    """Entries with a lower sequence have left by the limit on entries."""
    rules: Rules
    """In force for this batch and from then on."""
