"""The rules of deciding: the settings that verdicts depend on."""

from dataclasses import dataclass, fields
from datetime import timedelta

from stream_dedup.core.block_table import MAX_RADIUS
from stream_dedup.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that verdicts depend on.

    Raises:
        SettingsError: a value is out of its range.
    """

    radius: int
    """Hamming distance in bits up to which a kept article is a candidate, 0 to MAX_RADIUS."""
    threshold: float
    """Estimated Jaccard similarity that a candidate must reach, 0 to 1."""
    window: int | None
    """How long a kept article can be an original, in ms of event time; None: for ever."""
    max_entries: int
    """How many kept articles are live at most; beyond that the oldest by sequence leaves."""
    keep_revisions: bool
    """Revisions are unique and kept, rather than duplicates."""
    vetoes: bool
    """Replaced facts keep a near article from being a duplicate, unless it has its original's id."""

    def __post_init__(self) -> None:
        if not 0 <= self.radius <= MAX_RADIUS:
            raise SettingsError(f"The radius is {self.radius} bits; choose 0 to {MAX_RADIUS}.")
        if not 0 <= self.threshold <= 1:
            raise SettingsError(f"The threshold is {self.threshold}; choose a Jaccard similarity from 0 to 1.")
        if self.window is not None and self.window <= 0:
            raise SettingsError(f"The window is {self.window} ms; choose at least 1 ms, or none.")
        if self.max_entries < 1:
            raise SettingsError(f"The limit on entries is {self.max_entries}; choose at least 1.")

    def may_revive(self, earlier: "Rules") -> bool:
        """Whether an entry that was dead by its age under earlier rules could be live under these."""
        if earlier.window is None:
            return False
        return self.window is None or self.window > earlier.window

    def changes(self, earlier: "Rules") -> dict[str, str]:
        """What differs from earlier rules, old and new value by the rule's name, as people write them."""
        names = [field.name for field in fields(self)]
        pairs = {name: (_written(earlier, name), _written(self, name)) for name in names}
        return {name: f"{old} -> {new}" for name, (old, new) in pairs.items() if old != new}


def _written(rules: Rules, name: str) -> str:
    value = getattr(rules, name)
    if value is None:
        return "none"
    return str(timedelta(milliseconds=value)) if name == "window" else str(value)
