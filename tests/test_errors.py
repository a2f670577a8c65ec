"""The tree of errors."""

from stream_dedup import errors


def _leaves() -> list[type[errors.StreamDedupError]]:
    return errors.StreamDedupError.__subclasses__()


def test_exit_codes_tell_errors_apart() -> None:
    """A script can tell from the exit code alone which thing is wrong: no two codes that are set are equal."""
    own = [error.exit_code for error in _leaves() if "exit_code" in vars(error)]
    assert len(own) == len(set(own))
    assert not {0, 1, 2} & set(own), "0 is success, 1 any failure, 2 wrong usage of a command"
