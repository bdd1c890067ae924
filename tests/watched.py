"""Runs a command with its output in a log, and stops the command if it hangs, that is, if the log
has not grown for some minutes. The exit code is the command's own, or 124 if the command was
stopped.

usage: watched.py LOG MINUTES COMMAND...

Each test writes to the log when it ends, so MINUTES must only exceed the longest test of a run. A
command that hangs first gets SIGABRT, at which Python prints its stacks (faulthandler), so the log
names the test."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

GIVEN_UP = 124  # as coreutils' timeout
LOOK = 5.0  # seconds between two looks at the log
GRACE = 10.0  # seconds to write where it stands, and to end


def start(command, output):
    """Starts the command in a process group of its own, which can be ended as a whole."""
    return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, preexec_fn=os.setpgrp)


def end(process, number):
    """Sends the signal to the whole group, and kills the processes that remain."""
    send(process, number)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    send(process, signal.SIGKILL)
    process.wait()


def send(process, number):
    # What is root's stays: sudo, which gets the signal too, ends it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def watch(process, log, minutes):
    """Watches the command and returns the exit code."""
    size, silent = -1, 0.0
    while True:
        try:
            code = process.wait(LOOK)
            return code if code >= 0 else 128 - code
        except subprocess.TimeoutExpired:
            silent += LOOK
        if (grown := log.stat().st_size) != size:
            size, silent = grown, 0.0
        elif silent >= 60 * minutes:
            end(process, signal.SIGABRT)
            with log.open("a") as file:
                file.write(f"\ngiven up: nothing was written here for {minutes:g} minutes\n")
            return GIVEN_UP


def main(argv):
    log, minutes, *command = argv
    with open(log, "wb") as output:
        process = start(command, output)

    def stop(number, _frame):
        end(process, signal.SIGTERM)
        sys.exit(128 + number)

    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, stop)
    return watch(process, Path(log), float(minutes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
