"""`stream-dedup compare`: what two texts share, and what each profile says of them."""

import click

from stream_dedup.app.archive_commands import chosen_profiles, profiles_option
from stream_dedup.app.options import config_option, option, read_settings


@click.command(short_help="Why two texts are called the same, or not.")
@click.argument("a")
@click.argument("b")
@option("--text", is_flag=True, help="A and B are the texts themselves.")
@option(
    "--in",
    "within",
    type=click.Path(exists=True),
    help="A and B are ids of articles in this file or folder, as `dedup` prints them.",
)
@profiles_option
@option("--json", is_flag=True, help="One JSON object with everything.")
@config_option
def compare(*, a: str, b: str, text: bool, within: str | None, profiles: tuple[str, ...], json: bool) -> None:
    """Show why two texts are called the same or not: words, fingerprints, similarity, sentences, verdicts.

    A and B are files: a .json or .jsonl one holds one article, any other is a text; - is the standard input. A comes
    first, and B is judged against it.

    \b
    Examples:
      stream-dedup compare first.txt second.txt
      stream-dedup compare agency-17 portal-4 --in articles.jsonl --profile strict
      stream-dedup compare --text "Heavy rain flooded the valley." "Heavy rain has flooded the valley." --json
    """
    if text and within is not None:
        raise click.UsageError("--text and --in say two things about A and B: choose one.")
    settings = read_settings()
    # Dictionaries take a while to load.
    from stream_dedup.app.compare import Given, compare_named, named_texts  # noqa: PLC0415
    from stream_dedup.app.compare_report import print_json, print_report  # noqa: PLC0415

    given = Given.TEXTS if text else Given.FILES if within is None else Given.IDS
    left, right = named_texts(settings, given, (a, b), within)
    report = compare_named(settings, left, right, chosen_profiles(profiles))
    (print_json if json else print_report)(report)
