"""For all public names, help() and inspect.signature() show the signatures and the documentation of
the stubs."""

import inspect

import araplbs
import engine_docs
import pytest
from paths import PACKAGE

TEXTS = engine_docs.texts((PACKAGE / "_engine.pyi").read_text("utf-8"))


def of_engine(name):
    value = araplbs._engine if name else None
    for part in name.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_functions_and_methods_of_the_engine(name):
    import araplbs._engine  # noqa: F401 - loads it

    function, (signature, said) = of_engine(name), TEXTS[name]
    names = [p for p in inspect.signature(function).parameters if p != "self"]
    assert str(inspect.signature(function)).count("=") == signature.count("=")
    assert all(each in signature for each in names)
    assert inspect.getdoc(function) == inspect.cleandoc(said) and said


def test_texts_of_any_letters():
    """Quotes, line ends and non-ASCII letters reach help() unchanged from the stubs."""
    stubs = (
        'def f(a: int, *, b: str = "x\\"") -> None:\n    """One "two" \\\\ ??/ ö.\n\n    End."""\n'
    )
    assert engine_docs.texts(stubs)["f"][0] == "($module, /, a, *, b='x\"')"
    made = engine_docs.header(stubs)
    assert "#define DOC_f" in made and made.isascii()
    assert '\\"two\\" \\\\ \\?\\?/ \\303\\266.\\n\\nEnd.' in made.replace('" \\\n    "', "")
