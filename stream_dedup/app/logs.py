"""Logging: one line an event on stderr, for people on a terminal and as JSON elsewhere."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Literal, TextIO

import structlog

from stream_dedup.app.plain_text import plain

LONGEST_VALUE = 2000
"""Characters of one value in a log line; offsets, topics and sentences are far shorter."""
_LIBRARY_LEVELS = {
    # It calls what it retries itself an error, such as a topic's leader not being known for a moment; what it cannot
    # get over is raised, and ours to say.
    "aiokafka": logging.CRITICAL,
    "faust": logging.ERROR,
    "mode": logging.ERROR,
    "aiohttp": logging.ERROR,
    "asyncio": logging.ERROR,
}


def configure_logs(log_format: Literal["auto", "console", "json"], stream: TextIO | None = None) -> None:
    """Send every log line of this process to the stream, stderr if none is given."""
    out = sys.stderr if stream is None else stream
    for_people = log_format == "console" or (log_format == "auto" and out.isatty())
    shared: list[structlog.types.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _bound,
    ]
    renderer: structlog.types.Processor = (
        structlog.dev.ConsoleRenderer(colors=out.isatty()) if for_people else structlog.processors.JSONRenderer()
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    for library, level in _LIBRARY_LEVELS.items():
        logging.getLogger(library).setLevel(level)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def _bound(_logger: object, _method: str, event: MutableMapping[str, object]) -> MutableMapping[str, object]:
    """Every text on one line and of bounded length; a traceback keeps its lines."""
    for key, value in event.items():
        if isinstance(value, str):
            lines = value.splitlines() if key == "exception" else [value]
            event[key] = "\n".join(plain(line, LONGEST_VALUE) if line.strip() else "" for line in lines)
    return event
