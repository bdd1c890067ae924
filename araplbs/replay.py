"""Solves a problem stored in a file, without Blender:

    python -m araplbs.replay FILE.npz [--threads N] [--output WEIGHTS.npz]

`save` writes the arguments of araplbs.Solver to such a file, as *Report a Problem* in Blender does.
The file contains only arrays and numbers: no names, textures or code (NumPy reads it without
pickle). The program prints a few lines about the problem. It writes only the file --output,
completely or not at all, and replaces only weights files that it wrote itself.
"""

import argparse
import json
import os
import re
import secrets
import shutil
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from .arrays import NotArrays, open_regular, read_arrays
from .base.engine import engine

FORMAT = "araplbs problem 1"
LEFT_OUT = {"threads", "progress"}  # specific to the machine and the caller rather than the problem
WANTED = {"vertices": 2, "triangles": 2, "bone_heads": 2}  # dimensions of the required arrays
WEIGHTS = "araplbs weights 1"
MARK = re.compile(rb"PK\x03\x04.{26}araplbs_weights\.npy", re.DOTALL)  # how such a file begins
MOST_LETTERS, MOST_LINES = 200, 50  # letters of text from other sources in `about`


class NoProblem(ValueError):
    """The file was not created by `save`, or was created by a newer version."""


def save(path, arguments, about=None):
    """Writes the keyword arguments of araplbs.Solver. about: further JSON-compatible data to store
    with them."""
    arrays = {}
    shape = {name: _pack(v, arrays) for name, v in arguments.items() if name not in LEFT_OUT}
    head = {"format": FORMAT, "version": engine.__version__, "arguments": shape}
    head["about"] = about or {}
    text = np.frombuffer(json.dumps(head).encode(), np.uint8)
    with open(path, "wb") as file:
        np.savez_compressed(file, problem=text, **arrays)


def load(path):
    """Returns (arguments, about) from a file created by `save`. Raises NoProblem and OSError."""
    with open_regular(path) as file:
        try:
            arrays = read_arrays(file)
        except NotArrays as reason:
            raise NoProblem(f"{path} is not a problem file: {reason}") from None
    try:
        head = _head(arrays)
        arguments = {name: _unpack(v, arrays) for name, v in head["arguments"].items()}
        if head["format"] != FORMAT:
            raise NoProblem(f"{path} is of another version: {head['format']}")
        for name in LEFT_OUT & arguments.keys():
            raise NotArrays(f"it contains the argument '{name}'")
        for name, dimensions in WANTED.items():
            value = arguments.get(name)
            if not isinstance(value, np.ndarray) or value.ndim != dimensions:
                raise NotArrays(f"its '{name}' is not a table of numbers")
    except NoProblem:
        raise
    except NotArrays as reason:
        raise NoProblem(f"{path} is not a problem file: {reason}") from None
    except RecursionError:
        raise NoProblem(f"{path} is not a problem file: it is nested too deeply") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NoProblem(f"{path} is not a problem file: {error!r}") from None
    return arguments, {"version": head.get("version"), **head.get("about", {})}


def _head(arrays):
    """Lines about the arguments. Raises NotArrays."""
    text = arrays["problem"]
    if text.dtype != np.uint8 or text.ndim != 1:
        raise NotArrays("its 'problem' is not text")
    head = json.loads(bytes(text).decode())
    kinds = {"format": str, "arguments": dict, "about": dict}
    for name, kind in kinds.items():
        if not isinstance(head, dict) or not isinstance(head.get(name, {}), kind):
            raise NotArrays(f"its '{name}' was not written by this program")
    return head


def _pack(value, arrays):
    """Converts a value to JSON-compatible data. Its arrays are added to `arrays`."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_pack(each, arrays) for each in value]
    if isinstance(value, dict):
        return {"dict": {str(key): _pack(each, arrays) for key, each in value.items()}}
    array = np.asarray(value)
    if array.dtype == object:
        raise TypeError(f"a problem file cannot contain {type(value).__name__}")
    name = f"array{len(arrays)}"
    arrays[name] = array
    return {"array": name}


def _unpack(value, arrays):
    if isinstance(value, list):
        return tuple(_unpack(each, arrays) for each in value)
    if isinstance(value, dict) and "array" in value:
        return arrays[value["array"]]
    if isinstance(value, dict):
        return {key: _unpack(each, arrays) for key, each in value["dict"].items()}
    return value


def solve(arguments, threads=0):
    """Solves the problem completely and returns (solver, seconds)."""
    start = time.perf_counter()
    solver = engine.Solver(**arguments, threads=threads)
    solver.solve()
    return solver, time.perf_counter() - start


def printable(text):
    """Makes untrusted text safe for a terminal. Control characters become numbers."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


def refuse_output(path, source):
    """Raises OSError if the weights could not be written to this path. Called before the work
    rather than after it."""
    _refuse_foreign(path, source)
    real = Path(os.path.realpath(path))
    if real.is_symlink():
        raise OSError(f"{path} is a broken link")
    if not real.parent.is_dir():
        raise OSError(f"{path}: there is no folder {real.parent}")
    try:
        with _temporary(real):
            pass
    except OSError as error:
        raise OSError(
            f"{path}: the folder {real.parent} is not writable: {error.strerror}"
        ) from None


def _refuse_foreign(path, source):
    """Allows replacing an existing file only if it is empty or contains weights from this
    program."""
    path = Path(path)
    if path.is_dir():
        raise OSError(f"{path} is a folder")
    if not path.exists():
        return
    if os.path.samefile(path, source):
        raise OSError(f"{path} would replace the input {source}")
    with open_regular(path) as file:
        start = file.read(100)
    if start and not MARK.match(start):
        raise OSError(f"{path} already exists and was not written by this program")
    if not (os.stat(path).st_mode & 0o222 and os.access(path, os.W_OK)):
        raise OSError(f"{path} is write-protected")


@contextmanager
def _temporary(path):
    """Creates a new file next to a path, open for writing, which is removed at the end."""
    temporary = path.with_name(f".araplbs-{os.getpid()}-{secrets.token_hex(4)}.npz")
    try:
        with open(temporary, "xb") as file:
            yield file
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def write_weights(path, source, rows):
    """Writes a file of sparse_weights, completely or not at all. source: the problem's file, which
    must not be replaced. Raises OSError."""
    arrays = dict(zip(("start", "bone", "weight"), rows, strict=True))
    mark, real = np.frombuffer(WEIGHTS.encode(), np.uint8), Path(os.path.realpath(path))
    with _temporary(real) as file:
        np.savez_compressed(file, araplbs_weights=mark, **arrays)
        file.flush()
        os.fsync(file.fileno())
        file.close()  # an open file must stay in place on Windows
        _refuse_foreign(path, source)
        if real.exists():
            shutil.copymode(real, file.name)
        os.replace(file.name, real)


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m araplbs.replay", description="Solves a saved problem again."
    )
    parser.add_argument("file", metavar="FILE.npz")
    parser.add_argument(
        "--threads", type=int, default=0, help="number of processors; 0: all (default)"
    )
    parser.add_argument("--output", metavar="WEIGHTS.npz", help="file for the weights")
    options = parser.parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        arguments, about = load(options.file)
        if options.output:
            refuse_output(options.output, options.file)
    except (NoProblem, OSError) as error:
        return _fail(error, 2)
    sizes = [len(arguments[name]) for name in WANTED]
    print(f"araplbs {engine.__version__}, {engine.linear_algebra}, {engine.simd}")
    print(f"kept by version {_short(about.pop('version'))}")
    for name, value in list(about.items())[:MOST_LINES]:
        print(f"  {_short(name)}: {_short(value)}")
    print("{} vertices, {} triangles, {} bones".format(*sizes))
    try:
        solver, seconds = solve(arguments, options.threads)
    except Exception as error:
        print(printable(f"{type(error).__name__}: {error}"))
        return 1
    report = solver.report
    print(f"solved in {seconds:.2f} s, {report['iterations']} iterations")
    print(f"energy {report['energy_before']:.6g} before, {report['energy_after']:.6g} after")
    start, _bone, weight = rows = solver.sparse_weights
    sums = np.add.reduceat(weight, start[:-1]) if len(weight) else np.zeros(1)
    bad = int(np.count_nonzero(~np.isfinite(weight) | (weight < 0)))
    print(f"{len(weight)} influences, sums {sums.min():.9g} to {sums.max():.9g}, {bad} bad")
    if options.output:
        try:
            write_weights(options.output, options.file, rows)
        except OSError as error:
            return _fail(error, 1)
    return 0


def _short(value):
    text = printable(value)
    return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + "..."


def _fail(error, code):
    print(f"araplbs: {printable(error)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
