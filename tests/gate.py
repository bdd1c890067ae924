"""A gate for other processes: each that arrives is told of, and waits there until it is let go."""

import socket

from patience import HANGS


class Gate:
    def __init__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.listening.settimeout(HANGS)

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.listening.close()

    @property
    def wait(self):
        """What a process runs to arrive, an expression of Python: it ends when it is let go."""
        address = self.listening.getsockname()
        return f"__import__('socket').create_connection({address!r}).recv(1)"

    def arrived(self):
        """The next process, when it is there."""
        connection, _address = self.listening.accept()
        connection.settimeout(HANGS)
        return Waiting(connection)


class Waiting:
    """A process at the gate."""

    def __init__(self, connection):
        self.connection = connection

    def let_go(self):
        self.connection.close()

    def wait_until_gone(self):
        """The process has ended without having been let go."""
        try:
            assert self.connection.recv(1) == b""
        except ConnectionError:
            pass
