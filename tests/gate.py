"""Provides a gate for other processes: a test waits until a process arrives at the gate, and the
process waits until the test opens the gate."""

import select
import shutil
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from unittest import SkipTest

from paths import environment
from patience import HANGS, wait_until

HOLD = Path(__file__).with_name("hold.py")


class Gate:
    def __init__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.listening.settimeout(HANGS)
        self.folder, self.waiting = tempfile.TemporaryDirectory(), []

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.open()
        self.folder.cleanup()

    @property
    def wait(self):
        """A Python expression that a process evaluates to arrive at the gate; it returns when the
        process is let go."""
        address = self.listening.getsockname()
        return f"__import__('socket').create_connection({address!r}).recv(1)"

    def environment(self, moment):
        """The environment of a Blender that should be held at a moment (hold.py), if Blender is the
        module bpy. An executable also needs `-P HOLD`."""
        shutil.copy(HOLD, Path(self.folder.name, "sitecustomize.py"))
        host, port = self.listening.getsockname()
        return {"HOLD_GATE": f"{host}:{port}", "HOLD_AT": moment, "PYTHONPATH": self.folder.name}

    def hold_commands(self, monkeypatch, moment="open"):
        """Holds processes that this one starts from now on when they first open a .glb file, or at
        another moment of hold.py."""
        if sys.platform == "win32":
            raise SkipTest("the unpacked Python of this bed does not read PYTHONPATH")
        held = self.environment(moment)
        monkeypatch.syspath_prepend(held["PYTHONPATH"])
        held["PYTHONPATH"] = environment()["PYTHONPATH"]
        for name, value in held.items():
            monkeypatch.setenv(name, value)

    def arrived(self, started=None):
        """Waits for the next process at the gate and returns it. started: a Popen, which must not
        end before."""
        wait_until(lambda: self.is_asked() or (started and started.poll() is not None))
        if not self.is_asked():
            raise AssertionError((started.args, started.returncode, *started.communicate()))
        connection, _address = self.listening.accept()
        connection.settimeout(HANGS)
        self.waiting.append(Waiting(connection))  # a connection that nobody knows is closed
        return self.waiting[-1]

    def is_asked(self):
        return bool(select.select([self.listening], [], [], 0)[0])

    def open(self):
        """Lets all processes go, also later ones."""
        self.listening.close()
        for each in self.waiting:
            each.let_go()


class Waiting:
    """A process at the gate."""

    def __init__(self, connection):
        self.connection = connection

    def let_go(self):
        self.connection.close()

    def wait_until_gone(self):
        """Waits until the process has ended without having been let go."""
        with suppress(ConnectionError):
            assert self.connection.recv(1) == b""
