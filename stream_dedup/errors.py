"""The one tree of errors, each with the exit code its command ends with.

A message is one sentence with the numbers in it, and says what to do.
"""

from typing import ClassVar


class StreamDedupError(Exception):
    """Anything this project raises on purpose; `exit_code` is the command's."""

    exit_code: ClassVar[int] = 1


class SettingsError(StreamDedupError):
    """A setting that cannot be used."""

    exit_code = 3


class BrokerUnreachableError(StreamDedupError):
    """No broker answers at the address."""

    exit_code = 4


class TopicMissingError(StreamDedupError):
    """A topic that must exist does not."""

    exit_code = 5


class TopicSettingsError(StreamDedupError):
    """A topic exists, but with settings under which articles could be lost."""

    exit_code = 6


class PortInUseError(StreamDedupError):
    """The web port is taken."""

    exit_code = 7


class LocalBrokerError(StreamDedupError):
    """The local broker could not be fetched or started."""

    exit_code = 8


class LogRefusedError(StreamDedupError):
    """Offsets, changelog and logs contradict each other: going on would drop or repeat articles."""

    exit_code = 9


class OffsetGoneError(LogRefusedError):
    """A log no longer holds the offset that is to be read next."""


class RecipeMismatchError(StreamDedupError):
    """The segmenter or dictionary of this machine gives other words than the scheme's name promises."""

    exit_code = 10


class BrokerRefusedError(StreamDedupError):
    """The broker answers, but refuses what is asked of it: rights, versions."""

    exit_code = 11


class WorkersRunError(StreamDedupError):
    """Workers run, and what is asked for needs them stopped."""

    exit_code = 12


class DeltaRefusedError(StreamDedupError):
    """A delta does not start where the index stands."""


class TransactionFailedError(StreamDedupError):
    """A transaction did not commit, or it is not known whether it did."""


class FencedError(StreamDedupError):
    """Another owner has taken the transactional id."""


class RecordTooLargeError(StreamDedupError):
    """The broker refuses a message for its size."""
