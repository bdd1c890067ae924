"""With help() and inspect.signature(), every public name has a signature and documents its purpose,
its errors, and the source of its method."""

import gc
import inspect
import pickle
import pydoc
import re
import warnings

import araplbs
import declared
import numpy as np
import pytest
from paths import CSRC

CONSTANTS = {"SETTINGS", "__version__", "linear_algebra", "simd"}
PUBLIC = [name for name in araplbs.__all__ if name not in CONSTANTS]
EXCEPTIONS = ("Cancelled", "InputError", "Refused", "SolverError")
# Functions that read, write or hold data compute nothing: their only source is this project.
WITHOUT_SOURCE = {
    *EXCEPTIONS,
    *("GltfCharacter", "GltfFile", "Rows", "Skeleton", "Weights", "load_gltf", "save_gltf"),
    *("UsdCharacter", "UsdFile", "load_usd"),
    "picture",
    "mesh_extent",
}
SHAPE = re.compile(r"\((?:\d|[a-z])[\w +]*(?:, ?[\w ]+)*,?\)")  # (n, 3), (m,), (3 or 4, 4)


def public(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return getattr(araplbs, name)


def lacks(thing, *, source):
    """The parts that are missing from the documentation of a function or type."""
    text = thing.__doc__ or ""
    if len(text.split()) < 15:
        yield "what it does"
    if not SHAPE.search(text) and source:
        yield "the shapes of its arrays"
    if not re.search(r"\b[Rr]aise[sd]?\b", text):
        yield "what it raises"
    if source and not re.search(r"^ *Source: \w", text, re.MULTILINE):
        yield "its source"


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - {"Refused"}))  # an exception
def test_every_name_has_a_signature(name):
    found = inspect.signature(public(name))
    assert str(found).startswith("(")


@pytest.mark.parametrize("name", PUBLIC)
def test_every_name_has_a_full_documentation(name):
    source = name not in WITHOUT_SOURCE
    assert list(lacks(public(name), source=source)) == []


def test_the_package_describes_its_constants():
    assert all(name in araplbs.__doc__ for name in CONSTANTS)


def test_a_short_documentation_is_found():
    def thing():
        """Weights (n, m) of a mesh."""

    assert list(lacks(thing, source=True)) == ["what it does", "what it raises", "its source"]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_methods_have_signatures_and_documentation(name):
    thing = public(name)
    if not inspect.isclass(thing) or name in EXCEPTIONS:
        return
    for key, member in vars(thing).items():
        if key.startswith("_") or not (callable(member) or isinstance(member, property)):
            continue
        assert inspect.getdoc(getattr(thing, key)), key
        if callable(member):
            assert inspect.signature(member), key


@pytest.mark.parametrize("name", PUBLIC)
def test_help_is_readable(name):
    """Lines fit a terminal; Python decides where the line of the signature breaks."""
    shown = pydoc.plain(pydoc.render_doc(public(name)))
    assert name in shown
    assert "$module" not in shown
    assert "--\n\n" not in shown
    assert all(len(line) <= 100 for line in (public(name).__doc__).splitlines())


def test_keywords_of_signatures_are_accepted():
    """The parser accepts the signature: each of its keywords, given None, is known."""
    for name in PUBLIC:
        thing = public(name)
        if name in WITHOUT_SOURCE or name in ("baseline_weights", "weights"):
            continue
        found = inspect.signature(thing).parameters.values()
        if any(p.kind is p.POSITIONAL_ONLY for p in found):
            continue
        with pytest.raises((TypeError, ValueError)) as error:
            thing(**{p.name: None for p in found})
        assert "unexpected keyword" not in str(error.value), name
        assert "takes" not in str(error.value), name


def test_positional_arguments_are_positional():
    for name in ("forward_kinematics", "nearest_rotations"):
        parameters = inspect.signature(public(name)).parameters.values()
        assert all(p.kind is p.POSITIONAL_ONLY for p in parameters)
        with pytest.raises(TypeError):
            public(name)(**{p.name: np.eye(3)[None] for p in parameters})


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_exceptions_are_raised_caught_and_pickled(name):
    kind = public(name)
    with pytest.raises(kind, match="the arm"):
        raise kind("the arm")
    again = pickle.loads(pickle.dumps(kind("the arm", 3)))
    assert type(again) is kind
    assert again.args == ("the arm", 3)
    error = kind("x")
    error.note = error  # a circle, which must not hold the type
    del error
    gc.collect()

    class Own(kind):
        pass

    assert issubclass(Own, kind)


SETTINGS = declared.settings()
NAMES = re.compile(r'\.function =\s*"(\w+)",\s*\.names\s*=\s*((?:"[^"]*"\s*)+)')


def parsed():
    """{function: words of its parser's signature}, from the C sources."""
    return {
        name: "".join(re.findall(r'"([^"]*)"', words)).split()
        for file in (CSRC / "python").glob("*.c")
        for name, words in NAMES.findall(file.read_text("utf-8"))
        if name in PUBLIC
    }


def test_signatures_are_those_of_the_parser():
    """Signatures have the parser's names in the same order, its keyword-only arguments, and its
    defaults of settings."""
    found = parsed()
    assert len(found) > 25
    for name, words in found.items():
        parameters = inspect.signature(public(name)).parameters
        star = words.index("*") if "*" in words else len(words)
        plain = [word.rstrip("?=") for word in words[:star]]
        shown = [n for n, p in parameters.items() if p.kind is not p.KEYWORD_ONLY]
        assert shown == plain, name
        optional = {word.rstrip("=") for word in words[:star] if word.endswith("=")}
        assert {n for n in plain if parameters[n].default is None} == optional, name
        sections = declared.SECTIONS.get(name, []) if "**" in words else []
        defaults = {k: s.default for each in sections for k, s in SETTINGS[each].items()}
        keywords = {*words[star + 1 :]} - {"**"} | defaults.keys()
        assert parameters.keys() - set(plain) == keywords, name
        for setting, default in defaults.items():
            assert parameters[setting].default == default, (name, setting)
