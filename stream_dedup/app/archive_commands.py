"""`stream-dedup dedup`, `evaluate` and `tune`: an archive decided without a broker, and how well."""

from datetime import timedelta
from pathlib import Path

import click

from stream_dedup.app.formats import Format
from stream_dedup.app.options import config_option, option, read_settings, setting_option, switch_option
from stream_dedup.app.plain_text import plain
from stream_dedup.app.setting_types import parse_duration

_MOST_PROCESSES = 256


class _Window(click.ParamType):
    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        try:
            return parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


format_option = option(
    "--format",
    "form",
    type=click.Choice(["auto", *(form.value for form in Format)]),
    default="auto",
    show_default=True,
    help="auto: by the ending, JSON lines where it tells none. text: a folder of .txt files; lines: one text a line.",
)
processes_option = option(
    "--processes",
    type=click.IntRange(1, _MOST_PROCESSES),
    help="How many processes fingerprint.",
)


@click.command(short_help="Verdicts on files, without a broker: unique articles, groups.")
@click.argument("files", type=click.Path(exists=True, allow_dash=True), nargs=-1, required=True, metavar="FILE...")
@option("--keep", is_flag=True, help="Write the unique articles themselves, with all that they came with.")
@option("--groups", is_flag=True, help="Write originals with their duplicates, and the exact similarity of each two.")
@option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this .jsonl, .csv or .parquet file; JSON lines on the standard output without it.",
)
@format_option
@option(
    "--window", type=_Window(), help="How long a kept article can be an original, such as 72h; without it for ever."
)
@processes_option
@setting_option("profile")
@setting_option("radius")
@setting_option("threshold")
@switch_option("vetoes")
@setting_option("time_field")
@config_option
def dedup(
    *,
    files: tuple[str, ...],
    keep: bool,
    groups: bool,
    output: Path | None,
    form: str,
    window: timedelta | None,
    processes: int | None,
) -> None:
    """Decide about the articles of files without a broker, and write one JSON object for each.

    FILE is JSON lines, CSV or Parquet with an article a row, a folder of .txt files, or one text a line; .gz is read
    too, and - is the standard input. A bad row is rejected with the reason, the rest goes on, and the command ends
    with 1. Parquet needs pyarrow: pip install 'stream-dedup[parquet]'.

    \b
    Examples:
      stream-dedup dedup articles.jsonl
      stream-dedup dedup --window 72h --time-field published_at monday.jsonl tuesday.jsonl.gz
      stream-dedup dedup --keep --output unique.parquet archive.parquet
      stream-dedup dedup --groups --output groups.jsonl folder-of-texts
    """
    if keep and groups:
        raise click.UsageError("--keep and --groups are two outputs: choose one.")
    settings = read_settings()
    # Dictionaries take a while to load.
    from stream_dedup.app.dedup import Content, Job, dedup_files  # noqa: PLC0415
    from stream_dedup.app.in_processes import available_cores  # noqa: PLC0415

    job = Job(
        paths=files,
        form=_format(form),
        content=Content.KEEP if keep else Content.GROUPS if groups else Content.VERDICTS,
        output=output,
        window=window,
        processes=processes or available_cores(),
    )
    click.get_current_context().exit(dedup_files(settings, job))


profiles_option = option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME",
    help="Only this profile; may stand several times. All without it.",
)


@click.command(short_help="Measure profiles on articles whose reposts are known.")
@click.argument("articles", type=click.Path(exists=True))
@click.argument("pairs", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@option(
    "--labels",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Lines of id1, id2, label between tabs: different (merging them is false) or grey (not scored).",
)
@profiles_option
@option("--json", is_flag=True, help="An array of one JSON object a profile.")
@format_option
@processes_option
@config_option
def evaluate(
    *,
    articles: str,
    pairs: Path,
    labels: Path | None,
    profiles: tuple[str, ...],
    json: bool,
    form: str,
    processes: int | None,
) -> None:
    """Measure every profile on ARTICLES whose reposts are known: recall by similarity, false share, speed.

    PAIRS has lines of id1, id2, jaccard (0 to 1) between tabs, below a line with these names; further columns are left
    out. Articles are decided in the order of the file, without a window. The speed is that of one process, unless
    --processes says otherwise.

    \b
    Examples:
      stream-dedup evaluate news.jsonl.gz news.pairs.tsv
      stream-dedup evaluate news.jsonl news.pairs.tsv --labels news.labels.tsv --profile strict --json
    """
    settings = read_settings()
    from stream_dedup.app.evaluate import Evaluation, evaluate_profiles  # noqa: PLC0415 - dictionaries take a while

    asked = Evaluation(articles, _format(form), pairs, labels, chosen_profiles(profiles), processes or 1)
    click.get_current_context().exit(evaluate_profiles(settings, asked, as_json=json))


@click.command(short_help="What each profile would merge in your own articles.")
@click.argument("sample", type=click.Path(exists=True))
@profiles_option
@option(
    "--examples",
    type=click.IntRange(0, 100),
    default=3,
    show_default=True,
    help="Pairs shown on each side of each profile's border.",
)
@option("--json", is_flag=True, help="One JSON object.")
@format_option
@processes_option
@config_option
def tune(
    *, sample: str, profiles: tuple[str, ...], examples: int, json: bool, form: str, processes: int | None
) -> None:
    """Show what each profile would merge in your own articles, with pairs at the border, and recommend one.

    SAMPLE is a file of articles or a folder of texts, as `dedup` reads them; some thousand articles of a few days tell
    most. No labels are needed: pairs that profiles find are compared by their exact Jaccard similarity. It cannot tell
    that two bulletins of one template are about two events: look at the pairs that are just merged.

    \b
    Examples:
      stream-dedup tune yesterday.jsonl
      stream-dedup tune sample.csv --profile strict --examples 10
    """
    settings = read_settings()
    # Dictionaries take a while to load.
    from stream_dedup.app.tune import Sample  # noqa: PLC0415
    from stream_dedup.app.tune_report import tune_sample  # noqa: PLC0415

    asked = Sample(sample, _format(form), chosen_profiles(profiles), examples, processes or 1)
    click.get_current_context().exit(tune_sample(settings, asked, as_json=json))


def _format(chosen: str) -> Format | None:
    return None if chosen == "auto" else Format(chosen)


def chosen_profiles(chosen: tuple[str, ...]) -> tuple[str, ...]:
    """The profiles named on the command line, all where none is."""
    from stream_dedup.core.recipes import PROFILES  # noqa: PLC0415 - dictionaries take a while to load

    for name in chosen:
        if name not in PROFILES:
            raise click.UsageError(f"there is no profile {plain(name, 40)}: choose of {', '.join(PROFILES)}.")
    return chosen or tuple(PROFILES)
