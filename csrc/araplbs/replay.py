"""Solves a problem again that was kept in a file, without Blender:

    python -m araplbs.replay FILE.npz [--threads N] [--output WEIGHTS.npz]

`save` makes such a file of the arguments of araplbs.Solver, as *Report a Problem* in Blender
does. It holds arrays and numbers alone: no names, no textures, no code (NumPy reads it without
pickle). What is solved is said in a few lines; nothing is written but to --output.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import araplbs
import numpy as np

FORMAT = "araplbs problem 1"
LEFT_OUT = {"threads", "progress"}  # of the machine and the caller, not of the problem


class NoProblem(ValueError):
    """The file is not one that `save` made, or it is of a newer version."""


def save(path, arguments, about=None):
    """Writes the keyword arguments of araplbs.Solver. about: more that JSON takes, kept with it."""
    arrays = {}
    shape = {name: _pack(v, arrays) for name, v in arguments.items() if name not in LEFT_OUT}
    head = {"format": FORMAT, "version": araplbs.__version__, "arguments": shape}
    head["about"] = about or {}
    text = np.frombuffer(json.dumps(head).encode(), np.uint8)
    with open(path, "wb") as file:
        np.savez_compressed(file, problem=text, **arrays)


def load(path):
    """(arguments, about) of a file that `save` made. Raises NoProblem, and OSError."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError:
        raise
    except Exception as error:  # of NumPy, zipfile and zlib
        raise NoProblem(f"{path} is no problem file: {error}") from None
    try:
        head = json.loads(bytes(arrays["problem"]).decode())
        if head["format"] != FORMAT:
            raise NoProblem(f"{path} is of another version: {head['format']}")
        arguments = {name: _unpack(v, arrays) for name, v in head["arguments"].items()}
    except NoProblem:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NoProblem(f"{path} is no problem file: {error!r}") from None
    return arguments, {"version": head.get("version"), **head.get("about", {})}


def _pack(value, arrays):
    """A value as JSON takes it; its arrays go to `arrays`."""
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
        raise TypeError(f"a problem file takes no {type(value).__name__}")
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
    """(solver, seconds), solved to its end."""
    start = time.perf_counter()
    solver = araplbs.Solver(**arguments, threads=threads)
    solver.solve()
    return solver, time.perf_counter() - start


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m araplbs.replay", description="Solves a problem again that was kept."
    )
    parser.add_argument("file", metavar="FILE.npz")
    parser.add_argument("--threads", type=int, default=0, help="processors; 0: all (default)")
    parser.add_argument("--output", metavar="WEIGHTS.npz", help="where to write the weights")
    options = parser.parse_args(argv)
    try:
        arguments, about = load(options.file)
    except (NoProblem, OSError) as error:
        print(f"araplbs: {error}", file=sys.stderr)
        return 2
    triangles, bones = (np.shape(arguments[n])[0] for n in ("triangles", "bone_heads"))
    print(f"araplbs {araplbs.__version__}, {araplbs.linear_algebra}, {araplbs.simd}")
    print(f"kept by version {about.pop('version')}")
    for name, value in about.items():
        print(f"  {name}: {value}")
    print(f"{len(arguments['vertices'])} vertices, {triangles} triangles, {bones} bones")
    try:
        solver, seconds = solve(arguments, options.threads)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        return 1
    report = solver.report
    print(f"solved in {seconds:.2f} s, {report['iterations']} iterations")
    print(f"energy {report['energy_before']:.6g} before, {report['energy_after']:.6g} after")
    start, bone, weight = solver.sparse_weights
    sums = np.add.reduceat(weight, start[:-1]) if len(weight) else np.zeros(1)
    bad = int(np.count_nonzero(~np.isfinite(weight) | (weight < 0)))
    print(f"{len(weight)} influences, sums {sums.min():.9g} to {sums.max():.9g}, {bad} bad")
    if options.output:
        np.savez_compressed(Path(options.output), start=start, bone=bone, weight=weight)
    return 0


if __name__ == "__main__":
    sys.exit(main())
