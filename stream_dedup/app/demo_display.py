"""How the demo shows itself: a live table on a terminal, plain lines elsewhere, a summary at the end."""

import contextlib
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from stream_dedup.app.plain_text import plain
from stream_dedup.app.statistics import duplicate_rate
from stream_dedup.app.watch import Shown, readable
from stream_dedup.core.verdict import Kind, Verdict

ROWS = 18
"""Of the live table: it fits a terminal of 24 lines with its head and the line below."""
REMEMBERED = 10_000
"""Headlines of articles that later ones may repeat."""
CELL = 80
"""Characters of a cell; the terminal shows fewer."""
COLOURS = {Verdict.UNIQUE.value: "green", Verdict.DUPLICATE.value: "yellow", Verdict.REJECTED.value: "red"}
COLUMNS = (
    ("#", 4, None),
    ("verdict", max(len(verdict) for verdict in Verdict), None),
    ("kind", max(len(kind) for kind in Kind), None),
    ("article", None, 4),
    ("original", None, 3),
)
"""Of the live table: name, width where the content is known, share of the rest where it is not."""
NEXT = """
What next:
  your own articles            stream-dedup demo articles.jsonl
  the same without a broker    stream-dedup dedup articles.jsonl
  a filter that stays          stream-dedup run --embedded
  articles in, verdicts out    stream-dedup publish articles.jsonl; stream-dedup watch --from-start"""


class Display:
    """Counts the verdicts and shows them."""

    def __init__(self, console: Console, live: Live, activate: str | None) -> None:
        self._console = console
        self._activate = activate
        self._live = live
        self._begun = time.monotonic()
        self._verdicts: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._rows: deque[Shown] = deque(maxlen=ROWS)
        self._headlines: OrderedDict[str, str] = OrderedDict()

    def step(self, what: str) -> None:
        """Say what is going on before the first verdict."""
        if self._console.is_terminal:
            self._live.update(Text(f"{what} ..."))
        else:
            self._console.print(f"{what} ...", highlight=False)

    def show(self, verdict: Shown) -> None:
        """Show one verdict and the rate so far."""
        line = verdict.line
        self._verdicts[line.verdict] += 1
        self._kinds[line.kind] += 1
        self._rows.append(verdict)
        if line.verdict == Verdict.UNIQUE:
            self._headlines[line.id] = verdict.headline
        if len(self._headlines) > REMEMBERED:
            self._headlines.popitem(last=False)
        if self._console.is_terminal:
            self._live.update(Group(self._table(), Text(self._so_far())))
        else:
            self._console.print(Text.from_ansi(f"{self._rate():>6}  {readable(verdict)}"), soft_wrap=True)

    def summary(self) -> None:
        """Say what came of it all."""
        self._live.stop()
        kinds = ", ".join(f"{number} {kind}" for kind, number in self._kinds.most_common())
        seconds = time.monotonic() - self._begun
        so_far = "" if self._console.is_terminal else f"{self._so_far()}\n"  # there it stands below the table
        self._console.print(
            f"\n{self._verdicts.total()} articles in {seconds:.1f} s: {kinds}.\n{so_far}{_next(self._activate)}",
            highlight=False,
            soft_wrap=True,
        )

    def _so_far(self) -> str:
        unique, duplicates = self._verdicts[Verdict.UNIQUE], self._verdicts[Verdict.DUPLICATE]
        rejected = self._verdicts[Verdict.REJECTED]
        return (
            f"{unique} unique, {duplicates} duplicates, {rejected} rejected: duplicate rate {duplicates} / "
            f"({unique} + {duplicates}) = {self._rate()}"
        )

    def _rate(self) -> str:
        rate = duplicate_rate(self._verdicts[Verdict.UNIQUE], self._verdicts[Verdict.DUPLICATE])
        return "-" if rate is None else f"{rate:.1%}"

    def _table(self) -> Table:
        table = Table(expand=True, box=SIMPLE_HEAD, pad_edge=False)
        for name, width, ratio in COLUMNS:
            table.add_column(name, width=width, ratio=ratio, no_wrap=True, overflow="ellipsis")
        for verdict in self._rows:
            line = verdict.line
            original = "" if line.original_id is None else self._headlines.get(line.original_id, line.original_id)
            table.add_row(
                str(line.sequence),
                Text(line.verdict, style=COLOURS.get(line.verdict, "")),
                line.kind,
                Text(verdict.headline),
                Text(plain(original if line.reason is None else line.reason, CELL)),
            )
        return table


def _next(activate: str | None) -> str:
    return NEXT if activate is None else NEXT.replace(":\n", f":\n  this terminal's commands     {activate}\n", 1)


@contextlib.contextmanager
def demo_display(activate: str | None) -> Iterator[Display]:
    """A display on stdout, whose table stays when it ends.

    Args:
        activate: the command that makes ours known to this terminal; None where it is known.
    """
    console = Console()
    # Without a terminal rich would print the last table once more at the end.
    live = Live(console=console, refresh_per_second=8) if console.is_terminal else Live(console=Console(quiet=True))
    with live:
        yield Display(console, live, activate)
