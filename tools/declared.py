"""Copies the declarations of csrc/settings.def, csrc/report.def and csrc/python/arguments.def to
the files in which Python needs them. The file araplbs/_engine.pyi gets the types and defaults of
settings and keyword arguments and the entries of reports. The file araplbs/base/declared.py gets
the defaults and ranges, which the options of the panel, the command line and weights() use. To
change a setting, only its line has to be changed.

usage: declared.py          writes both files, if they are out of date; `make build` does it
       declared.py --check  lists the files that are out of date
"""

import ast
import re
import sys
import textwrap
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CSRC = ROOT / "csrc"
STUBS = ROOT / "araplbs/_engine.pyi"
TABLE = ROOT / "araplbs/base/declared.py"
COMMON = ["SAMPLING", "COMMON"]
# Sections of settings.def that a function or type takes by "**". The parser's tables in csrc/python
# decide; tests/package/api/test_help.py and test_settings.py compare them with this table.
SECTIONS = {
    "Solver": [*COMMON, "SOLVER"],
    "JointSolver": [*COMMON, "JOINTS"],
    "optimize_joints": [*COMMON, "JOINTS"],
    "baseline_weights": ["BASELINE"],
    "bake": ["BAKE"],
    "elastic_poses": ["ELASTIC"],
    "match_surfaces": ["MATCH"],
    "transfer_weights": ["MATCH", "TRANSFER"],
    "transfer_shapes": ["MATCH", "SHAPES"],
}
# Functions that take some of the settings in these sections, as named in their stubs.
SOME = {
    "inverse_kinematics": ["SAMPLING", "IK"],
    "mixed_elasticity": ["ELASTIC"],
    "rotation_centers": ["CENTERS"],
    "sample_poses": ["SAMPLING"],
}
REPORTS = {"Solver": "SOLVER", "JointSolver": "JOINTS"}
TYPES = {"INTEGER": "int", "REAL": "float", "FLAG": "bool", "SEED": "int"}
ARRAYS = {"DOUBLES": "float", "INTS": "int", "BOOLS": "bool", "TRANSFORMS": "float"}
# Keyword arguments of arguments.def in the stubs. Positional arguments are written by hand.
TRIPLE, PAIR = "tuple[ArrayLike, ArrayLike, ArrayLike]", "tuple[ArrayLike, ArrayLike]"
OBJECTS = {
    "bone_kinds": "Sequence[BoneKind]",
    "segment_poses": "ArrayLike",
    "weights": f"ArrayLike | {TRIPLE}",
    "locked_bones": "ArrayLike",
    "constraints": TRIPLE,
    "influences": TRIPLE,
    "smoothed": PAIR,
    "released": PAIR,
    "symmetry": TRIPLE,
    "progress": "Callable[[str, float], bool | None]",
}
SIGNATURE = re.compile(
    r'(?:\.function\s*=\s*|arap_signature \w+ = \{\s*)"(\w+)",\s*'
    r'(?:\.names\s*=\s*)?((?:"[^"]*"\s*)+)'
)
ALIASES = {("heat", "nearest", "boneglow", "bbw", "biharmonic"): "InitialWeights"}
WIDTH = 100


@dataclass(frozen=True)
class Setting:
    """A line of settings.def or arguments.def. smallest, largest: the ends of the range, or None.
    about: its line of help(), without the name."""

    name: str
    type: str  # in the stubs
    default: object
    smallest: object = None
    largest: object = None
    about: str = field(default="", compare=False)


def settings(text=None, constants=None):
    """Return {section: {name: Setting}} from settings.def."""
    text = text or (CSRC / "settings.def").read_text("utf-8")
    constants = constants or _constants()
    tables, found = {}, {}
    for section, body in _sections(text, "ARAP_SETTINGS_"):
        found[section] = tables[f"arap_{section.lower()}_settings"] = {
            args[0]: _with_help(_setting(macro, args, tables, constants), macro, args)
            for macro, args in _calls(body)
        }
    return found


def _constants():
    """Return {name: text} of the macros without arguments in csrc/arap.h."""
    text = (CSRC / "arap.h").read_text("utf-8").replace("\\\n", " ")
    return dict(re.findall(r"^#define (ARAP_\w+) +(.+?)(?: */\*.*)?$", text, re.MULTILINE))


def _sections(text, prefix):
    """Yield (section, lines of the section) for a .def file, in the order of the file."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    for found in re.finditer(rf"#ifdef {prefix}(\w+)\s*\n(.*?)#endif", text, re.DOTALL):
        if found[1] != "OF":
            yield found[1], found[2]


def _calls(body):
    """Yield (macro, [argument...]) for lines such as REAL(bone_spring_stiffness, 12, 0, 1e6,
    "strength"); adjacent strings are concatenated."""
    for start in re.finditer(r"^(\w+)\(", body, re.MULTILINE):
        arguments, word, depth, at = [], "", 0, start.end()
        while depth or body[at] != ")":
            if body[at] == '"':
                end = re.compile(r'"(?:[^"\\]|\\.)*"').match(body, at).end()
                word += body[at:end]
                at = end
                continue
            depth += (body[at] in "([{") - (body[at] in ")]}")
            if body[at] == "," and not depth:
                arguments.append(word)
                word = ""
            else:
                word += body[at]
            at += 1
        yield (
            start[1],
            [" ".join(re.sub(r'"\s+"', "", each).split()) for each in [*arguments, word]],
        )


def _setting(macro, args, tables, constants):
    name = args[0]
    if macro in ("INTEGER", "REAL"):
        kind = int if macro == "INTEGER" else float
        return Setting(name, TYPES[macro], *(kind(float(constants.get(a, a))) for a in args[1:4]))
    if macro == "FLAG":
        return Setting(name, TYPES[macro], args[1] != "0")
    if macro == "SEED":
        return Setting(name, TYPES[macro], 0, 0, 2**64 - 1)
    if macro == "CHOICE":
        choices = _choices(args, constants)
        quoted = ", ".join(f'"{choice}"' for choice in choices.values())
        kind = ALIASES.get(tuple(choices.values()), f"Literal[{quoted}]")
        return Setting(name, kind, choices[args[2]])
    parts = tables[args[2]].values()
    kinds = ", ".join(part.type for part in parts)
    ends = zip(*((part.default, part.smallest, part.largest) for part in parts), strict=True)
    return Setting(name, f"tuple[{kinds}]", *ends)


def _choices(args, constants):
    """Return {constant: name} of the lines of a CHOICE."""
    words = " ".join(constants.get(arg, arg) for arg in args[4:])
    return dict(re.findall(r'\[(\w+)\] = "(\w+)"', words))


def _with_help(setting, macro, args):
    about = ast.literal_eval(args[{"INTEGER": 4, "REAL": 4, "FLAG": 2, "SEED": 1}.get(macro, 3)])
    kind = f"{setting.smallest!r} to {setting.largest!r}"
    if macro == "CHOICE":
        kind = f"one of {tuple(_choices(args, _constants()).values())!r}"
    return replace(setting, about=f", {'bool' if macro == 'FLAG' else kind}: {about}")


def names():
    """Return {function or type: the words of its signature}, read from the C sources."""
    return {
        name: "".join(re.findall(r'"([^"]*)"', text)).split()
        for file in sorted((CSRC / "python").glob("*.c"))
        for name, text in SIGNATURE.findall(file.read_text("utf-8"))
    }


def keywords():
    """Return {function or type: its keyword arguments, "**" for the settings}."""
    found = {k: w[w.index("*") + 1 :] if "*" in w else [] for k, w in names().items()}
    found["optimize_joints"] = found["JointSolver"]
    return found


def help_lines(kind):
    """Yield the lines of help() about the arguments and settings of a type."""
    words = [word.rstrip("?=") for word in names()[kind] if word.strip("*")]
    known = {k: v for section in SECTIONS[kind] for k, v in settings()[section].items()}
    given = arguments()
    yield from ("Arguments", *(_help_line(given[word]) for word in words if word not in known))
    first = {word: known[word] for word in words if word in known}
    yield from ("", "Settings", *map(_help_line, (first | known).values()))


def _help_line(setting):
    return textwrap.fill(
        setting.name + setting.about,
        WIDTH,
        initial_indent=" " * 4,
        subsequent_indent=" " * 8,
        break_long_words=False,
        break_on_hyphens=False,
    )


def arguments():
    """Return {name: Setting} from arguments.def, in the order of the stubs after "*"."""
    text = (CSRC / "python/arguments.def").read_text("utf-8")
    found = {}
    for macro, args in _calls(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)):
        name, *others, about = args
        about, shape = ast.literal_eval(about), ast.literal_eval(others[0])
        kind = "" if macro in ("INT", "FLAG") else f", {shape}"
        if macro in ARRAYS:
            transforms = ", 3 or 4, 4" if macro == "TRANSFORMS" else ""
            kind = f", {ARRAYS[macro]} ({', '.join(shape.split())}{transforms})"
        about = kind + (f": {about}" if about else "")
        if macro == "INT":
            found[name] = Setting(name, "int", shape, about=about)
        elif macro == "FLAG":
            found[name] = Setting(name, "bool", shape != 0, about=about)
        elif macro != "ENDS":  # arrays in place of a setting
            kind = OBJECTS.get(name, "ArrayLike")
            found[name] = Setting(name, f"{kind} | None", None, about=about)
    return found


def reports():
    """Return {section: {entry: its meaning}} from report.def."""
    text = (CSRC / "report.def").read_text("utf-8")
    return {
        section: {args[0]: ast.literal_eval(args[1]) for _macro, args in _calls(body)}
        for section, body in _sections(text, "ARAP_REPORT_")
    }


def table_text():
    """Return the text of araplbs/base/declared.py."""
    lines = [
        '"""Defaults and ranges of the engine\'s settings, by the sections of csrc/settings.def: '
        "{section:",
        "{setting: (default, smallest, largest)}}. tools/declared.py generates this file from "
        "settings.def,",
        'so the values can be read without loading the engine."""',
        "",
        "from typing import Any",
        "",
        "DECLARED: dict[str, dict[str, tuple[Any, Any, Any]]] = {",
    ]
    for section, table in settings().items():
        lines.append(f'    "{section}": {{')
        for each in table.values():
            ends = ", ".join(map(_python, (each.default, each.smallest, each.largest)))
            lines.append(f'        "{each.name}": ({ends}),')
        lines.append("    },")
    return "\n".join([*lines, "}", ""])


def _python(value):
    """Format code as ruff does."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_python, value))})"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def stubs_text(stubs):
    """Return the stubs after updating all parts that are declared elsewhere."""
    lines = stubs.split("\n")
    for at, end, new in sorted(_changes(stubs), reverse=True):
        lines[at:end] = new
    return "\n".join(lines)


def _changes(stubs):
    """Yield (first line, line after the last, lines that replace them)."""
    known, given, taken = settings(), arguments(), keywords()
    for node in ast.parse(stubs).body:
        for function in getattr(node, "body", []) if isinstance(node, ast.ClassDef) else [node]:
            if not isinstance(function, ast.FunctionDef):
                continue
            name = node.name if function.name == "__init__" else function.name
            sections = SECTIONS.get(name, SOME.get(name, []))
            table = {k: v for section in sections for k, v in known[section].items()}
            if not function.decorator_list:
                table |= {word: given[word] for word in taken.get(name, []) if word in given}
            several_lines = function.args.kwonlyargs[:1] and (
                function.args.kwonlyargs[0].lineno > function.lineno
            )
            if table and several_lines:
                yield from _of_signature(function, table, whole=name not in SOME)
            if function.name == "report" and node.name in REPORTS:
                yield _of_report(function, reports()[REPORTS[node.name]])


def _of_signature(function, table, *, whole):
    """Update a signature: arguments keep their positions, and missing arguments are added at the
    end."""
    own = function.args
    given = {a.arg: a for a in own.kwonlyargs}
    for name, argument in given.items():
        if name in table:
            kind = "ArrayLike" if ast.unparse(argument.annotation) == "ArrayLike" else ""
            line = _stub_line(table[name], kind, argument.col_offset)
            yield argument.lineno - 1, argument.end_lineno, [line]
    missing = [table[name] for name in table if name not in given] if whole else []
    if missing:
        last = own.kwonlyargs[-1]
        yield (
            last.end_lineno,
            last.end_lineno,
            [_stub_line(m, "", last.col_offset) for m in missing],
        )


def _stub_line(setting, kind, indent):
    return f"{' ' * indent}{setting.name}: {kind or setting.type} = {_python(setting.default)},"


def _of_report(function, entries):
    said = function.body[0]
    room = WIDTH - said.col_offset
    wrapped = [
        line
        for name, about in entries.items()
        for line in textwrap.wrap(f"{name}: {about}.", room, subsequent_indent="  ")
    ]
    first = ["A report of the findings and the work:", "", *wrapped]
    indent = " " * said.col_offset
    new = [f'{indent}"""{first[0]}', *(indent + line if line else "" for line in first[1:])]
    return said.lineno - 1, said.end_lineno, [*new, f'{indent}"""']


def files():
    """Return {file: its required text}."""
    return {TABLE: table_text(), STUBS: stubs_text(STUBS.read_text("utf-8"))}


def stale():
    """Return the files that are out of date."""
    return [f for f, text in files().items() if not f.exists() or f.read_text("utf-8") != text]


def main():
    late = stale()
    if "--check" in sys.argv:
        for file in late:
            print(f"{file.relative_to(ROOT)} is not what csrc/*.def says: run tools/declared.py")
        return bool(late)
    for file, text in files().items():
        if file in late:
            file.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
