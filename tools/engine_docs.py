"""Generates the documentation of the engine's functions for help() and inspect.signature() from the
stubs, as a C header with a text for each function. The sources are araplbs/_engine.pyi and, for the
arguments and settings of the solvers, the tables that tools/declared.py reads."""

import ast

import declared

LETTERS = 90  # letters of a line of the header


def texts(stubs):
    """Return {"energy", "Solver" or "Solver.iterate": (signature, documentation)} from a stub file.
    An overloaded function has its first signature and the documentation of all overloads."""
    found = {}
    for node in ast.parse(stubs).body:
        if isinstance(node, ast.FunctionDef):
            _add(found, node.name, node, "$module")
        elif isinstance(node, ast.ClassDef):
            if _is_exception(node):
                found[node.name] = "(*arguments)", ast.get_docstring(node)
            for method in node.body:
                if getattr(method, "name", "") == "__init__":
                    said = filter(None, [ast.get_docstring(node), ast.get_docstring(method)])
                    signature = _signature(method, "$self").replace("$self, /, ", "")
                    if node.name in declared.SECTIONS:
                        said = [*said, "\n".join(declared.help_lines(node.name)) + "\n"]
                    found[node.name] = signature, "\n\n".join(said)
                plain = isinstance(method, ast.FunctionDef) and not method.decorator_list
                if plain and not method.name.startswith("_"):
                    _add(found, f"{node.name}.{method.name}", method, "$self")
    return found


def _is_exception(node):
    return any(base.id.endswith(("Error", "Exception")) for base in node.bases)


def _add(found, name, node, first):
    said, signature = (ast.get_docstring(node) or "").strip(), _signature(node, first)
    if name in found:
        signature, before = found[name]
        said = "\n\n".join(filter(None, [before, said]))
    found[name] = signature, said


def _signature(node, first):
    """Return a signature as CPython requires it: without annotations, and with positional arguments
    first."""
    own = node.args
    plain = [*own.posonlyargs, *own.args]
    defaults = [None] * (len(plain) - len(own.defaults)) + own.defaults
    words = [_argument(a, d) for a, d in zip(plain, defaults, strict=True)]
    alone = len(own.posonlyargs)  # positional only
    if first == "$self":
        words, alone = words[1:], max(0, alone - 1)
    words = [first, *words[:alone], "/", *words[alone:]]
    if own.vararg:
        words.append(f"*{own.vararg.arg}")
    elif own.kwonlyargs:
        words.append("*")
    words += [_argument(a, d) for a, d in zip(own.kwonlyargs, own.kw_defaults, strict=True)]
    if own.kwarg:
        words.append(f"**{own.kwarg.arg}")
    return f"({', '.join(words)})"


def _argument(argument, default):
    return argument.arg if default is None else f"{argument.arg}={ast.unparse(default)}"


def header(stubs):
    """Return the text of a C header: DOC_energy, DOC_Solver_iterate..., each with its signature."""
    lines = ["/* Made of araplbs/_engine.pyi by tools/engine_docs.py. */"]
    for name, (signature, said) in texts(stubs).items():
        macro = f"DOC_{name.replace('.', '_')}"
        lines += _define(macro, f"{name.rpartition('.')[2]}{signature}\n--\n\n{said}")
    return "\n".join(lines) + "\n"


def _define(macro, text):
    parts = [text[k : k + LETTERS] for k in range(0, len(text), LETTERS)]
    yield f"#define {macro} \\"
    yield from (f'    "{_escaped(part)}" \\' for part in parts[:-1])
    yield f'    "{_escaped(parts[-1])}"'


def _escaped(text):
    """Escape UTF-8 text for C, without trigraphs. Octal numbers of three digits need no
    terminator."""
    plain = {ord("\n"): "\\n", ord('"'): '\\"', ord("\\"): "\\\\", ord("?"): "\\?"}
    return "".join(
        plain.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
        for byte in text.encode("utf-8")
    )
