"""What `reset` does: show the plan, ask, carry it out."""

import sys
import time
from dataclasses import dataclass
from typing import Literal

import click
import msgspec
from rich import box
from rich.table import Table

from stream_dedup.app.connections import connection_of
from stream_dedup.app.console import console
from stream_dedup.app.logs import configure_logs
from stream_dedup.app.process import run_main
from stream_dedup.app.setting_types import milliseconds
from stream_dedup.app.settings import Settings
from stream_dedup.app.stages import rules_of
from stream_dedup.core.event_time import UNPARSABLE, parse_time
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.verdict import Kind
from stream_dedup.errors import WorkersRunError
from stream_dedup.kafka.client import KafkaBroker, connect
from stream_dedup.kafka.observer import Stage
from stream_dedup.kafka.reset import (
    Deployment,
    Edge,
    Moment,
    carry_out,
    plan_with_the_index,
    plan_without_the_index,
)
from stream_dedup.kafka.reset_plan import Plan
from stream_dedup.kafka.transport import Input

CHANGELOG: Literal["changelog"] = "changelog"
Place = Edge | Moment | Literal["changelog"]


@dataclass(frozen=True, slots=True)
class Manner:
    """How it is done."""

    yes: bool
    """Nobody is asked."""
    dry_run: bool
    """Nothing is done."""
    as_json: bool


def parse_place(written: str) -> Place | None:
    """Where reading goes on, None where it cannot be read."""
    if written == CHANGELOG:
        return CHANGELOG
    if written in set(Edge):
        return Edge(written)
    moment = parse_time(written)
    return None if moment is None or moment is UNPARSABLE else Moment(moment)


def reset_deployment(settings: Settings, place: Place, manner: Manner) -> None:
    """Plan, show, ask and do.

    Raises:
        WorkersRunError: a worker runs.
        click.UsageError: there is nobody to ask.
    """
    configure_logs(settings.log_format)
    of = deployment_of(settings)
    plans: list[Plan] = []

    async def planned() -> None:
        async with connect(connection_of(settings)) as broker:
            await _nobody_works(broker, of)
            plans.append(await _plan(broker, of, place))

    async def done() -> None:
        async with connect(connection_of(settings)) as broker:
            await _nobody_works(broker, of)
            await carry_out(broker, of, plans[0], lambda: time.time_ns() // 1_000_000)

    run_main(planned())
    if manner.as_json:
        click.echo(msgspec.json.encode(to_record(plans[0], of)).decode())
    else:
        show(plans[0], of)
    if manner.dry_run:
        return
    if not manner.yes:
        if not sys.stdin.isatty():
            raise click.UsageError("there is nobody to ask: --yes does it, --dry-run only shows it.")
        click.confirm("Do it?", abort=True, err=True)
    run_main(done())
    click.echo("Done. Start the workers.", err=True)


def deployment_of(settings: Settings) -> Deployment:
    """What is reset, by the settings."""
    return Deployment(
        fingerprint_group=f"{settings.group}.{Stage.FINGERPRINT}",
        decide=Input(f"{settings.group}.{Stage.DECIDE}", settings.fingerprinted_topic, 0),
        raw=settings.raw_topic,
        changelog=settings.index_topic,
        outputs=(settings.unique_topic, settings.duplicates_topic, settings.rejected_topic),
        rules=rules_of(settings, milliseconds(settings.window)),
        routes={kind: settings.topic_of(kind) for kind in Kind},
    )


async def _nobody_works(broker: KafkaBroker, of: Deployment) -> None:
    for group in (of.fingerprint_group, of.decide.group):
        if members := await broker.members(group):
            raise WorkersRunError(
                f"the group {group} has {members} member{'s' if members > 1 else ''}: stop all workers first, and wait "
                "until the session timeout of killed ones has passed"
            )


async def _plan(broker: KafkaBroker, of: Deployment, place: Place) -> Plan:
    if place == CHANGELOG:
        return await plan_with_the_index(broker, of, estimated_jaccard, _nothing)
    return await plan_without_the_index(broker, of, place)


def _nothing() -> None:
    """Reading the changelog takes seconds."""


def to_record(plan: Plan, of: Deployment) -> dict[str, object]:
    """The plan for programs."""
    return {
        "raw": [
            {
                "topic": of.raw,
                "partition": step.partition,
                "ended": step.ended,
                "next": step.next,
                "again": step.again,
                "left_out": step.left_out,
            }
            for step in plan.raw
        ],
        "index": "emptied" if plan.empties else "kept",
        "entries": plan.entries,
        "position": plan.position,
        "lost_undecided": plan.undecided,
        "next_sequence": plan.record.delta.sequence,
    }


def show(plan: Plan, of: Deployment) -> None:
    """The plan for people."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("", "read up to", "goes on at", "read again", "left out"):
        table.add_column(column, justify="left" if not column else "right")
    for step in plan.raw:
        ended = "not known" if step.ended is None else f"{step.ended:,}"
        table.add_row(f"{of.raw}-{step.partition}", ended, f"{step.next:,}", f"{step.again:,}", f"{step.left_out:,}")
    console().print(table)
    index = "is emptied" if plan.empties else f"is kept, with {plan.entries:,} articles"
    click.echo(f"The index {index}; the next article gets the sequence {plan.record.delta.sequence:,}.")
    if plan.undecided:
        click.echo(f"{plan.undecided:,} offsets that waited to be decided are left; their articles are read again.")
    if sum(step.again for step in plan.raw):
        click.echo("What is read again comes out again.")
