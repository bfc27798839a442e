# SPDX-License-Identifier: BSD-2-Clause
"""The process that gpuprobe watches: drives the rows it is told, each in a child of its own.

usage: caller.py LIBRARY LAYER MAJOR drive|ask RESULTS [SYMBOL ...]

With `ask`, functions are only called with nothing, for their result.

RESULTS gets a line of JSON for each row: pid and what gpuprobe must say of it, or what went wrong.
The children stay until they are killed, so that what is in flight or alive at their
end can be seen.
"""
import json
import os
import signal
import sys
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from decode import case, passing, rules, table  # noqa: E402

LONGEST = 300  # seconds that a child stays at most, should nobody kill it


def drive(library, row):
    """What to expect of the row, or why it could not be driven."""
    driven = case.Case(library, row)
    try:
        rules.drive(driven)
    except case.NoRule:
        return driven, {"no_rule": True}
    except case.Failed as failed:
        return driven, {"failed": str(failed), "code": failed.code}
    except Exception:  # a mistake in a rule fails that row, not the others
        return driven, {"failed": traceback.format_exc(), "code": None}
    return driven, {"expected": driven.result()}


def ask(library, row):
    """What the function answers to zeroes."""
    values = [passing.nothing(argument.type) for argument in row.arguments]
    return None, {"code": library.call(row, values)}


MODES = {"drive": drive, "ask": ask}


def stay(_kept):
    """Until it is killed, with what was passed to calls as it is."""
    while True:
        signal.pause()


def child(work, library, row, report):
    """Drives a row, says so, and waits to be killed with its memory as it is."""
    signal.alarm(LONGEST)
    quiet = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(quiet, descriptor)
    kept, told = work(library, row)
    with os.fdopen(report, "w") as pipe:
        json.dump({"symbol": row.symbol, "pid": os.getpid(), **told}, pipe)
    stay(kept)


def main(path, layer, major, mode, results, *symbols):
    rows = table.in_library(layer, int(major))
    library = passing.Library(path, rows)
    with open(results, "w", encoding="utf-8") as lines:
        for symbol in symbols:
            reading, writing = os.pipe()
            pid = os.fork()
            if not pid:
                os.close(reading)
                child(MODES[mode], library, rows[symbol], writing)
            os.close(writing)
            with os.fdopen(reading) as pipe:
                told = pipe.read()
            print(told or json.dumps({"symbol": symbol, "pid": pid, "failed": "it died",
                                      "code": None}), file=lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
