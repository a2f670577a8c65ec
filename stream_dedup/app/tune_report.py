"""`tune` for people and for programs: figures, pairs at the border side by side, the advice."""

import json
from collections.abc import Sequence
from dataclasses import asdict

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from stream_dedup.app.console import console
from stream_dedup.app.differing import around_difference
from stream_dedup.app.plain_text import plain
from stream_dedup.app.settings import Settings
from stream_dedup.app.tune import Advice, Example, Merges, Sample, advise, try_profiles
from stream_dedup.core.scoring import OTHER, SAME

TEXT_SHOWN = 240
"""Characters of a text in an example."""
ID_SHOWN = 40
VETO_SHOWN = 120


def tune_sample(settings: Settings, sample: Sample, *, as_json: bool) -> int:
    """Try the profiles on the sample and print what comes of it.

    Raises:
        StreamDedupError: an id stands twice.
        click.FileError: the sample cannot be read.
    """
    merges = try_profiles(settings, sample)
    advice = advise(merges)
    if as_json:
        click.echo(json.dumps(_record(merges, advice), indent=2))
        return 0
    out = console()
    out.print(_figures(merges))
    for one in merges:
        for title, examples in (("just merged", one.above), ("just left apart", one.below)):
            if examples:
                out.print(_side_by_side(f"{plain(one.profile, ID_SHOWN)}: {title}", examples))
    out.print(Text.assemble("Take ", (plain(advice.profile, ID_SHOWN), "bold green"), f": {advice.reason}."))
    return 0


def _record(merges: Sequence[Merges], advice: Advice) -> dict[str, object]:
    profiles = [
        asdict(one) | {"duplicates": one.duplicates, "share": round(one.duplicates / max(1, one.articles), 4)}
        for one in merges
    ]
    for profile in profiles:
        same, between, unlike = profile.pop("bands")
        profile |= {"jaccard_70": same, "jaccard_30_70": between, "jaccard_below_30": unlike}
        for example in (*profile["above"], *profile["below"]):
            for name in ("article_text", "original_text"):
                example[name] = example[name][:TEXT_SHOWN]
    return {"profiles": profiles, "advice": asdict(advice)}


def _figures(merges: Sequence[Merges]) -> Table:
    table = Table("profile", box=SIMPLE_HEAD)
    for name in (
        "articles",
        "duplicates",
        "share",
        "the same\ntext",
        f"Jaccard\n{SAME:g} and more",
        f"\n{OTHER:g} to {SAME:g}",
        f"\nbelow {OTHER:g}",
        "reposts\nleft apart",
        "articles\na second",
    ):
        table.add_column(name, justify="right")
    for one in merges:
        counts = (one.exact, *one.bands, one.reposts_left, one.articles_per_second)
        table.add_row(
            plain(one.profile, ID_SHOWN),
            f"{one.articles:,}",
            f"{one.duplicates:,}",
            f"{one.duplicates / max(1, one.articles):.1%}",
            *(f"{count:,}" for count in counts),
        )
    return table


def _side_by_side(title: str, examples: Sequence[Example]) -> Table:
    table = Table("earlier", "later", box=SIMPLE_HEAD, title=title, title_justify="left", expand=True)
    for one in examples:
        measures = f"{one.distance} bits, Jaccard {one.jaccard:.3f}, estimated {one.similarity:.3f}"
        measures += f", {plain(one.veto, VETO_SHOWN)}" if one.veto else ""
        table.add_row(plain(one.original, ID_SHOWN), f"{plain(one.article, ID_SHOWN)} ({measures})", style="dim")
        table.add_row(*around_difference(one.original_text, one.article_text, TEXT_SHOWN), end_section=True)
    return table
