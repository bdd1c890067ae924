"""tools/bench_pages.py lists the pages of docs/bench that an older engine produced."""

import ast
import re

import bench_pages
import pytest
import release_check
from paths import ROOT

CODE = {
    "csrc/a.c": '/* what\n it does */\nint x = 1; // one\nchar *s = "/* kept */";\n',
    "araplbs/b.py": '"""What it does,\nat length."""\n# why\nx = 1\n\nif x:\n    y = 2\nz = "3"\n',
}


@pytest.fixture
def tree(tmp_path):
    for name, text in CODE.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "old", "new", "same"),
    [
        ("csrc/a.c", "it does", "for", True),
        ("csrc/a.c", "x = 1; // one", "x =\n    1;", True),
        ("csrc/a.c", "x = 1", "x = 2", False),
        ("csrc/a.c", "/* kept */", "", False),
        ("araplbs/b.py", "# why\n", "", True),
        ("araplbs/b.py", "x = 1\n\n", "x = 1\n", True),
        ("araplbs/b.py", "What it does,\n", "The work, ", True),
        ("araplbs/b.py", "    y = 2\n", "    y = 2\n    ", False),
        ("araplbs/b.py", '"3"', '"4"', False),
    ],
)
def test_code_counts_and_comments_do_not(tree, name, old, new, same):
    before = bench_pages.digest(tree)
    assert old in CODE[name]
    (tree / name).write_text(CODE[name].replace(old, new))
    assert (bench_pages.digest(tree) == before) == same


def test_files_count_by_their_names(tree):
    before = bench_pages.digest(tree)
    (tree / "csrc/notes.md").write_text("of no code")
    (tree / "araplbs/c.txt").write_text("nor this")
    assert bench_pages.digest(tree) == before
    (tree / "csrc/a.c").rename(tree / "csrc/c.c")
    assert bench_pages.digest(tree) != before


@pytest.fixture
def docs(tmp_path):
    for page, text in {
        "new": "on 2 processors; engine `0123456789ab`, 26 November.",
        "old": "on 2 processors; engine\n`ffffffffffff`.",
        "bare": "nothing",
        "README": "",
    }.items():
        (tmp_path / f"{page}.md").write_text(text)
    return tmp_path


def test_old_pages_and_what_a_release_refuses(docs):
    today = "0123456789ab"
    assert bench_pages.old_pages(docs, today) == {"bare": "-", "old": "ffffffffffff"}

    def broken(**known):
        return dict(bench_pages.broken(docs, today, known))

    assert broken().keys() == {"bare", "old"}
    assert broken(old="why").keys() == {"bare"}
    assert broken(old="why", bare="why").keys() == {"bare"}, "it has to say its engine"
    assert broken(old="why", new="why").keys() == {"bare", "new"}
    assert broken(old="why", gone="why").keys() == {"bare", "gone"}
    assert broken()["old"] == "is of engine ffffffffffff: make bench PART=old"


def test_equal_engines(docs):
    """Several changes in a row that keep every page, and one that does not."""
    equal = {"ffffffffffff": ("eeeeeeeeeeee", "why"), "eeeeeeeeeeee": ("0123456789ab", "why")}
    assert bench_pages.old_pages(docs, "0123456789ab", equal) == {"bare": "-"}
    assert bench_pages.old_pages(docs, "eeeeeeeeeeee", equal).keys() == {"bare", "new", "old"}


def test_equal_engines_lead_to_an_end():
    """The table contains no cycles, and each entry has a reason."""
    for engine, (after, why) in bench_pages.EQUAL.items():
        assert bench_pages.latest(after) not in {engine, *bench_pages.EQUAL}
        assert why


def test_every_page_has_the_command_that_makes_it():
    """The command names a part of the benchmark and the folder that it needs."""
    bench = ROOT / "bench/bench.py"
    tree = ast.parse(bench.read_text("utf-8"))
    tables = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)
              and isinstance(node.targets[0], ast.Name)}  # fmt: skip
    parts = ast.literal_eval(tables["PARTS"])
    assert bench_pages.pages().keys() <= parts.keys()
    assert bench_pages.command("heat") == "make bench PART=heat"
    assert bench_pages.command("wild") == "make bench PART=wild WILD=FOLDER"
    files = ast.literal_eval(tables["FILES"])
    for part, variable in bench_pages.FOLDERS.items():
        text = (ROOT / f"bench/{files.get(part, part)}.py").read_text("utf-8")
        assert re.search(rf'environ\S*"{variable}"', text), part


def test_a_release_is_refused(monkeypatch, capsys, docs):
    """Including the table of zips."""
    monkeypatch.setattr(bench_pages, "broken", lambda: [("old", "is of engine ffffffffffff")])
    monkeypatch.setattr(release_check, "ROOT", docs)
    monkeypatch.setattr("sys.argv", ["release_check.py"])
    assert release_check.main() == 1
    assert "old: is of engine ffffffffffff" in capsys.readouterr().out


def test_todays_pages(capsys, monkeypatch):
    """Each page names its engine. Old pages are listed, and cause no failure."""
    assert "-" not in bench_pages.pages().values()
    monkeypatch.setattr("sys.argv", ["bench_pages.py"])
    assert bench_pages.main() == 0
    report = capsys.readouterr().out
    with capsys.disabled():
        print(f"\n{report}")
    assert set(bench_pages.KNOWN_OLD) <= bench_pages.pages().keys()
