"""`stream-dedup reset`: the way out when workers refuse to go on."""

import click

from stream_dedup.app.options import config_option, option, read_settings, setting_option


@click.command(short_help="Mend what workers refuse to go on with.")
@option(
    "--from",
    "place",
    metavar="PLACE",
    required=True,
    help="changelog, committed, earliest, latest, or a time such as 2026-01-31T06:00.",
)
@option("--yes", is_flag=True, help="Do not ask.")
@option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@option("--json", is_flag=True, help="The plan as one JSON object.")
@setting_option("bootstrap_servers")
@setting_option("group")
@config_option
def reset(*, place: str, yes: bool, dry_run: bool, json: bool) -> None:
    """Set where a deployment goes on, with all of its workers stopped; exit code 9 tells when that is needed.

    \b
    PLACE is where reading goes on:
      changelog   where the changelog says that it ended; the index is kept
      committed   where the groups' offsets stand, with an empty index
      earliest    at the first article that the raw topic still holds, with an empty index
      latest      after the last one, with an empty index
      a time      at the first article with this timestamp or a later one (ISO 8601, without a zone UTC), likewise

    It shows what is read again (those articles come out again) and what is left out, and asks.

    \b
    Examples:
      stream-dedup reset --from changelog --dry-run
      stream-dedup reset --from 2026-01-31T06:00 --yes
    """
    settings = read_settings()
    from stream_dedup.app.reset import Manner, parse_place, reset_deployment  # noqa: PLC0415 - aiokafka is for those who run

    parsed = parse_place(place)
    if parsed is None:
        raise click.BadParameter(f"{place!r} is no place and no time.", param_hint="--from")
    reset_deployment(settings, parsed, Manner(yes=yes, dry_run=dry_run, as_json=json))
