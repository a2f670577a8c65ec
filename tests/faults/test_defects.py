"""The tables that `make faults` and `make defects` go through."""

import pytest

from stream_dedup.kafka.points import Point
from tests.faults.cases import PLACES
from tests.faults.defects import ROOT, DoesNotApplyError, changed
from tests.faults.known_defects import DEFECTS, Change, Defect


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_each_defect_still_applies(defect: Defect) -> None:
    """The source moves on: a defect that no longer applies would pass for caught, or for harmless."""
    assert all(file.read_text() != source for file, source in changed(defect, ROOT).items())


def test_a_defect_that_does_not_apply_is_refused() -> None:
    """The message names the defect, the file and the text."""
    gone = Defect("gone", (Change("errors.py", "no such text", ""),), ())
    with pytest.raises(DoesNotApplyError, match=r'"gone" does not apply: errors\.py has 0 times.*no such text'):
        changed(gone, ROOT)


def test_the_matrix_has_every_point() -> None:
    """A new point is killed at, too."""
    assert {point for point, _ in PLACES} == set(Point)
