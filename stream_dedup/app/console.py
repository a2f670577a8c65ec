"""Where tables for people go: the terminal in its width and colours, or a pipe as plain text."""

import sys

from rich.console import Console

WIDTH_PIPED = 120
"""Columns of what does not go to a terminal."""


def console() -> Console:
    """The standard output. Texts are taken as they are: no markup, no emoji codes, no guessed colours."""
    width = None if sys.stdout.isatty() else WIDTH_PIPED
    return Console(width=width, markup=False, emoji=False, highlight=False)
