"""Ends a window test in which nothing happens any more, however crowded the machine is.

Quiet: the window has turns, but the test waits in vain. No thread except that of the window has
used the processor for a long time (drawing also uses some), so nothing will change, because a
thread with work gets processor time on any machine. Watchdog: the window has no turns because it is
blocked. Another process then takes a picture, has all stacks printed, and ends Blender, which may
no longer be able to end by itself."""

import faulthandler
import os
import signal
import subprocess
import time

from patience import HANGS

IDLE = 120  # seconds
TURN = 1  # second that a turn counts at most: the whole machine may be stopped for a while
NOISE = 0.02  # seconds of the processor that threads without work use in that time
BEAT = 50  # turns between two signs of life
DOG = """
while true; do
  read -r -t "$1" _ && continue
  [ $? -gt 128 ] || exit 0
  import -window root "$2/hung.png"
  echo "Timeout (the window is blocked)!" >&2
  kill -USR1 "$PPID"
  sleep 5
  kill -KILL "$PPID"
  exit
done
"""


class Quiet:
    """Queried by the thread of the window in each turn."""

    def __init__(self, clock=time.monotonic):
        self.clock = clock
        self.begin()

    def begin(self):
        self.idle, self.used, self.latest = 0, self.of_others(), self.clock()

    def of_others(self):
        return time.process_time() - time.thread_time()

    def is_hung(self):
        now = self.clock()
        self.idle += min(now - self.latest, TURN)
        self.latest = now
        if self.of_others() - self.used > NOISE:
            self.begin()
        return self.idle > IDLE


class Watchdog:
    """beat() is a sign of life. Without one for this many seconds, the process is killed."""

    def __init__(self, pictures, seconds=HANGS):
        faulthandler.register(signal.SIGUSR1)
        command = ["bash", "-c", DOG, "watchdog", str(seconds), str(pictures)]
        self.dog = subprocess.Popen(command, stdin=subprocess.PIPE)
        self.turns = 0

    def beat(self):
        self.turns += 1
        if self.turns % BEAT == 1:
            os.write(self.dog.stdin.fileno(), b"\n")

    def end(self):
        self.dog.stdin.close()
        self.dog.wait()
