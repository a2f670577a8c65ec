"""A worker as `stream-dedup run` runs it, with a fault.

usage: python -m tests.faults.dying_worker FAULT

FAULT is a `Fault` as JSON; the settings come from the environment.
"""

import sys

from stream_dedup.app.load_settings import load_settings
from stream_dedup.app.logs import configure_logs
from stream_dedup.app.process import end_child, run_main
from stream_dedup.app.run import work
from tests.faults.fault import armed, decode_fault

if __name__ == "__main__":
    settings = load_settings({})
    configure_logs(settings.log_format)
    end_child(lambda: run_main(work(settings, armed(decode_fault(sys.argv[1])))))
