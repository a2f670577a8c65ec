"""The library for programs without Kafka: is this article nearly the same as one before?"""

from collections.abc import Iterable, Sequence
from itertools import batched
from typing import Protocol

from stream_dedup.core.article import Article
from stream_dedup.core.candidates import Similarity
from stream_dedup.core.decider import Decider, Rules
from stream_dedup.core.sketch import SetAside, Sketch, Sketches, Submission
from stream_dedup.core.verdict import Judgement, Kind
from stream_dedup.errors import SettingsError
