"""Builds the documentation as a searchable site in build/site: the manual, the numbers, the
pictures, the changelog, and a reference of the Python module that is generated from its stubs.
`make site` installs the required packages.

usage: site_build.py              build/site; a link that leads nowhere is an error
       site_build.py VERSION...   also build/site/VERSION from the tag vVERSION, for each of them
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import site_pages

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # of a tag, not the installed one
import araplbs  # noqa: E402

BUILD = ROOT / "build"
PACKAGE = ROOT / "araplbs"
API = """# Python reference

This page is made from the docstrings and stubs of the package `araplbs`. [Python
module](docs/manual/python.md) is an introduction.

## One call

{calls}
## The engine

For programs that need its parts.

::: araplbs
    options:
      heading_level: 3
"""
CALL = """::: araplbs.{place}
    options:
      heading_level: 3
      show_root_heading: true
      heading: "araplbs.{name}"
      toc_label: "{name}"

"""
# The names that the engine lacks, and the files that contain them.
CALLS = {name: place.lstrip(".") for name, place in araplbs._PLACES.items()}
CALLS["blender.bind"] = "blender.__init__"
LAST_OVERLOAD = re.compile(r"^@overload\n(?=def (\w+)\b(?!.*^def \1\b))", re.MULTILINE | re.DOTALL)


def version():
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    return re.search(r'^version = "(.*)"$', text, re.MULTILINE)[1]


def listed(text):
    """Return Python code with docstrings in Markdown: arguments become lists (if indented lines
    follow a line that begins an argument), and examples become code."""

    def changed(found):
        inside = found[2].split("\n\n")
        for k, part in enumerate(inside[1:], 1):
            lines = part.split("\n")
            indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
            if part.lstrip().startswith(">>> "):
                margin = " " * indents[0]
                inside[k] = f"{margin}```pycon\n{part.rstrip()}\n{margin}```"
            elif indents and indents[0] == min(indents) and indents[0] + 4 in indents:
                marked = [
                    f"{line[: indents[0]]}- {line.lstrip()}"
                    if line.strip() and not line[indents[0]].isspace()
                    else line
                    for line in lines
                ]
                inside[k] = "\n".join(marked)
        return found[1] + "\n\n".join(inside) + found[1]

    return re.sub(r'(""")(.*?)"""', changed, text, flags=re.DOTALL)


def reference(folder):
    """Write the stubs as a package that can be read without a build. The last overload of a
    function stands for all overloads, because the reference shows no function that has only
    overloads."""
    (folder / "araplbs").mkdir(parents=True)
    for file in PACKAGE.glob("*.pyi"):
        text = file.read_text(encoding="utf-8")
        name = "__init__.pyi" if file.stem == "_engine" else file.name  # as people import it
        (folder / "araplbs" / name).write_text(
            listed(LAST_OVERLOAD.sub("", text)), encoding="utf-8"
        )
    for place in set(CALLS.values()):
        file = Path(f"{place.replace('.', '/')}.py")
        (folder / "araplbs" / file.parent).mkdir(exist_ok=True)
        (folder / "araplbs" / file.parent / "__init__.py").touch()
        text = (PACKAGE / file).read_text(encoding="utf-8")
        (folder / "araplbs" / file).write_text(listed(text), encoding="utf-8")


def api_page():
    calls = [
        CALL.format(name=name, place=f"{place.removesuffix('.__init__')}.{name.split('.')[-1]}")
        for name, place in CALLS.items()
    ]
    return API.format(calls="".join(calls))


def configuration(pages, output):
    """Return the configuration for mkdocs: tools/site.yml with folders and version."""
    text = (ROOT / "tools/site.yml").read_text(encoding="utf-8")
    text = text.replace(
        "site_name: Auto-weight (ARAP)", f"site_name: Auto-weight (ARAP) {version()}"
    )
    text = text.replace("paths: [build/site-python]", f"paths: ['{BUILD / 'site-python'}']")
    file = BUILD / "site.yml"
    file.write_text(f"{text}docs_dir: '{pages}'\nsite_dir: '{output}'\n", encoding="utf-8")
    return file


def build(output):
    pages, python = BUILD / "site-pages", BUILD / "site-python"
    for folder in (pages, python, output):
        shutil.rmtree(folder, ignore_errors=True)
    pages.mkdir(parents=True)
    count = site_pages.copy(pages)
    reference(python)
    (pages / "api.md").write_text(api_page(), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools"), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "-f", configuration(pages, output)],
        env=environment,
        check=False,
    )
    if done.returncode:
        raise SystemExit("site: mkdocs failed, see above")
    return count


def main(*versions):
    output = BUILD / "site"
    print(f"build/site: {build(output)} pages of {version()}")
    for each in versions:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            git = ["git", "-C", ROOT, "worktree"]
            subprocess.run([*git, "add", "--detach", tree, f"v{each}"], check=True)
            try:
                if (tree / "tools/site_build.py").exists():  # older versions have no site
                    subprocess.run([sys.executable, tree / "tools/site_build.py"], check=True)
                    shutil.copytree(tree / "build/site", output / each)
            finally:
                subprocess.run([*git, "remove", "--force", tree], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
