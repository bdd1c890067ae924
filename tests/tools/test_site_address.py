"""If the address of the site is set, each page of the manual in the zip links to the same page on
the site, and the manifest names the site as its website. Otherwise, no page links to the site."""

import re
import tomllib

import pytest
from paths import ROOT

manual_pages = pytest.importorskip("manual_pages", reason="without the environment of the build")
stage_manifest = pytest.importorskip("stage_manifest")
SITE = "https://somebody.github.io/weights/docs/"
SOURCE = (ROOT / "blender_manifest.toml").read_text("utf-8")


def online(folder):
    """{page: addresses of the site that it links to}"""
    return {
        path.stem: re.findall(rf'href="({SITE}[^"]*)"', path.read_text("utf-8"))
        for path in folder.glob("*.html")
    }


def source_of(address):
    """The Markdown file from which the site makes the page with this address."""
    place = ROOT / address.partition("#")[0].removeprefix(SITE).rstrip("/")
    return place / "README.md" if place.is_dir() else place.with_name(place.name + ".md")


def test_each_page_leads_to_its_page_of_the_site(tmp_path):
    manual_pages.main(tmp_path, SITE)
    links = online(tmp_path)
    assert links["export"][0] == SITE + "docs/manual/export/"
    assert links["README"][0] == SITE + "docs/manual/"
    for name, addresses in links.items():
        assert source_of(addresses[0]) == ROOT / f"docs/manual/{name}.md"
        for address in addresses:
            assert source_of(address).is_file(), address


def test_pages_that_do_not_come_along_are_links_to_the_site(tmp_path):
    manual_pages.main(tmp_path, SITE)
    assert f'href="{SITE}docs/bench/heat/"' in (tmp_path / "speed.html").read_text("utf-8")


def test_without_an_address_nothing_leads_to_a_site(tmp_path):
    manual_pages.main(tmp_path)
    assert not any(
        "This page online" in page.read_text("utf-8") for page in tmp_path.glob("*.html")
    )
    assert "website" not in tomllib.loads(stage_manifest.manifest(SOURCE, [], ["a.whl"]))


def test_manifest():
    made = tomllib.loads(
        stage_manifest.manifest(SOURCE, ["windows-x64", "macos-arm64"], ["a.whl", "b.whl"], SITE)
    )
    assert made["website"] == SITE
    assert made["wheels"] == ["./wheels/a.whl", "./wheels/b.whl"]
    assert made["platforms"] == ["windows-x64", "macos-arm64"]
    assert made["version"] == tomllib.loads(SOURCE)["version"] and "permissions" in made


@pytest.mark.parametrize("text", ["http://a.org/", "ftp://a", "https://a.org/?x=1", 'https://a"b/'])
def test_an_address_that_is_not_one_is_refused(text):
    with pytest.raises(SystemExit, match="SITE_URL"):
        manual_pages.site_address({"SITE_URL": text})


def test_address_of_the_environment():
    assert manual_pages.site_address({}) == "" == manual_pages.site_address({"SITE_URL": ""})
    assert manual_pages.site_address({"SITE_URL": SITE.rstrip("/")}) == SITE


def test_a_manifest_without_the_line_is_refused():
    with pytest.raises(SystemExit, match="'version ="):
        stage_manifest.manifest('id = "a"\n', [], ["a.whl"])


def test_the_build_passes_the_address_on():
    """The script calls both programs, which read the address; the hosted tests set it for a tag."""
    script = (ROOT / "tools/stage_extension.sh").read_text("utf-8")
    assert "stage_manifest.py" in script and "manual_pages.py" in script
    workflow = (ROOT / ".github/workflows/test.yml").read_text("utf-8")
    release = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    assert "SITE_URL:" in workflow and "repository/docs" in release
