"""A batch of folded texts cut into runs at once; the same runs as `text.runs`, as places in arrays.

the 电脑软体 rose 3.5%  ->  letters  the电脑软体rose35
                          ends        3    7   11 12 13
                          kinds       word han word word word
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.characters import DIGIT, HAN, KIND, STRANGE, UNSPACED, WORD, character_bits, codes_of
from stream_dedup.core.compiled import compiled


class Runs(NamedTuple):
    """All r runs of n texts, in order, their letters one after the other; a tuple, which compiled loops can take."""

    letters: NDArray[np.uint32]
    """(letters,) codes of the characters of all runs."""
    letter_ends: NDArray[np.int64]
    """(n,) where each text's letters end."""
    ends: NDArray[np.int64]
    """(r,) where each run's letters end; it begins where the one before ends."""
    kinds: NDArray[np.uint8]
    """(r,) HAN, UNSPACED, WORD or STRANGE."""
    digits: NDArray[np.bool_]
    """(r,) whether there is a digit in the run."""
    run_ends: NDArray[np.int64]
    """(n,) where each text's runs end."""
    sizes: NDArray[np.int64]
    """(n, STRANGE + 1) how many letters each text has of each kind."""

    @property
    def mostly_unspaced(self) -> NDArray[np.bool_]:
        """(n,) whether half the letters or more are Han or of another script without spaces."""
        without: NDArray[np.bool_] = (
            self.sizes[:, HAN] + self.sizes[:, STRANGE] + self.sizes[:, UNSPACED] >= (self.sizes[:, WORD])
        )
        return without

    @property
    def per_text(self) -> NDArray[np.int64]:
        """(n,) how many runs each text has."""
        return np.diff(self.run_ends, prepend=0)

    @property
    def letters_per_text(self) -> NDArray[np.int64]:
        """(n,) how many letters each text has."""
        return np.diff(self.letter_ends, prepend=0)

    @property
    def rows(self) -> NDArray[np.int64]:
        """(r,) which text each run is of."""
        return np.repeat(np.arange(len(self.run_ends)), self.per_text)

    @property
    def are_words(self) -> NDArray[np.bool_]:
        """(r,) whether each run is a word by itself."""
        words: NDArray[np.bool_] = self.kinds == WORD
        return words

    def strings(self, wanted: NDArray[np.bool_]) -> list[str]:
        """Those of the r runs that are wanted, (r,)."""
        ends = self.ends[wanted]
        starts = ends - np.diff(self.ends, prepend=0)[wanted]
        text = self.letters.tobytes().decode("utf-32-le")
        return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def runs_of(folded: Sequence[str]) -> Runs:
    """The runs of n texts that are folded (see text.fold)."""
    codes = codes_of("".join(folded))
    size, texts = len(codes), len(folded)
    text_ends = np.cumsum(np.fromiter(map(len, folded), np.int64, texts))
    runs = Runs(
        letters=np.empty(size, dtype=np.uint32),
        letter_ends=np.empty(texts, dtype=np.int64),
        ends=np.empty(size, dtype=np.int64),
        kinds=np.empty(size, dtype=np.uint8),
        digits=np.empty(size, dtype=np.bool_),
        run_ends=np.empty(texts, dtype=np.int64),
        sizes=np.zeros((texts, STRANGE + 1), dtype=np.int64),
    )
    letters, found = _split(codes, text_ends, character_bits(), runs)
    return runs._replace(
        letters=runs.letters[:letters], ends=runs.ends[:found], kinds=runs.kinds[:found], digits=runs.digits[:found]
    )


@compiled
def _split(
    codes: NDArray[np.uint32], text_ends: NDArray[np.int64], bits: NDArray[np.uint16], runs: Runs
) -> tuple[int, int]:
    """Fill the arrays of runs; how many letters and runs there are."""
    letter = run = place = 0
    for row in range(len(text_ends)):
        open_kind = 0
        while place < text_ends[row]:
            code = codes[place]
            of = bits[code]
            kind = of & KIND
            place += 1
            # Strange characters and those of words make one run, of the kind that its first one has.
            if kind != open_kind and not (kind >= WORD and open_kind >= WORD):
                if kind:
                    runs.kinds[run] = kind
                    runs.digits[run] = False
                    run += 1
                open_kind = kind
            if kind:
                runs.letters[letter] = code
                letter += 1
                runs.ends[run - 1] = letter
                runs.digits[run - 1] |= of & DIGIT != 0
                runs.sizes[row, runs.kinds[run - 1]] += 1
        runs.letter_ends[row] = letter
        runs.run_ends[row] = run
    return letter, run
