"""Every profile in the stream: near copies found, evidence that is true, and a restart that changes nothing."""

import pytest

from stream_dedup.core.recipes import PROFILES
from stream_dedup.core.scheme import profile
from stream_dedup.testing import StreamDriver, Trial
from tests.core.languages import LANGUAGES

STORY, OTHER = (" ".join(story) for story in LANGUAGES["German"])


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_in_the_stream(name: str) -> None:
    """The headers name the scheme and give all fingerprints; distance and similarity are those of the two articles."""
    chosen = profile(name)
    copy = STORY + " Ende."
    with StreamDriver(Trial(profile=chosen)) as driver:
        driver.pipe({"id": "story", "text": STORY})
        driver.read()
        driver.restart()
        for text in (OTHER, STORY.upper(), copy):
            driver.pipe({"id": text[-6:], "text": text})
        other, exact, near = driver.read()
    assert [output.header("dedup-kind") for output in (other, exact, near)] == ["new", "exact", "near"]
    assert [output.header("dedup-original-id") for output in (other, exact, near)] == [None, "story", "story"]
    assert near.header("dedup-scheme") == chosen.scheme.name
    sketches = chosen.scheme.fingerprint([STORY, copy])
    told = [int(value, 16) for value in (near.header("dedup-fingerprint") or "").split(",")]
    assert told == sketches.fingerprints[1].tolist()
    pairs = zip(*sketches.fingerprints.tolist(), strict=True)
    assert int(near.header("dedup-distance") or "") == min((left ^ right).bit_count() for left, right in pairs)
    assert int(near.header("dedup-distance") or "") <= chosen.radius
    assert chosen.threshold <= float(near.header("dedup-similarity") or "") < 1
