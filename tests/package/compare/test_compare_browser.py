"""The page of a comparison in a real browser, without a network: it loads and draws without errors,
with and without scripts. Runs in `core`, if chromium or chrome is installed."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter

import pytest
from araplbs.features.compare.compare import compare
from araplbs.features.compare.page import page
from compared import OPTIONS, tube_case
from patience import HANGS
from test_pictures import read_png

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((path for name in NAMES if (path := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(not BROWSER, reason="no browser: apt-get install chromium")

# The result of the page, written into its title, which --dump-dom shows.
PROBE = """<script>
addEventListener("load", () => {
  const images = [...document.images];
  document.title = "FOUND" + JSON.stringify({
    images: images.length,
    empty: images.filter(image => !image.complete || !image.naturalWidth).length,
    requests: performance.getEntriesByType("resource").map(entry => entry.name)
      .filter(name => !name.startsWith("data:")),
    duel: !document.querySelector(".duel").hidden,
    shown: images.filter(image => image.offsetWidth > 20).length,
    wide: document.documentElement.scrollWidth > innerWidth,
    errors: window.errors,
  }) + "END";
});
</script>"""
CATCH = """<script>window.errors = [];
addEventListener("error", event => errors.push(String(event.message || event.target.src)), true);
addEventListener("securitypolicyviolation", event => errors.push(event.violatedDirective));
</script>"""


@pytest.fixture(scope="module")
def text():
    return page(compare(tube_case(), OPTIONS, methods=["present", "heat", "ours"]))


def browse(folder, *arguments):
    """(standard output, standard error) of a browser with a profile of its own, in which no host
    name resolves."""
    common = (
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *("--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr"),
        *(f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000"),
    )
    done = subprocess.run(
        [BROWSER, *common, *arguments],
        capture_output=True,
        text=True,
        timeout=HANGS,
        env={**os.environ, "HOME": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.parametrize("width", [1280, 500])
def test_it_loads(text, width, tmp_path):
    probed = text.replace("<style>", CATCH + "<style>", 1).replace("</body>", PROBE + "</body>")
    path = tmp_path / "index.html"
    path.write_text(probed, encoding="utf-8")
    printed, console = browse(tmp_path, f"--window-size={width},900", "--dump-dom", path.as_uri())
    found = json.loads(re.search("<title>FOUND(.*?)END</title>", printed)[1].replace("&amp;", "&"))
    count = text.count("<img ")
    assert found["images"] == count and not found["empty"]
    assert found["requests"] == [] and found["errors"] == [] and not console
    assert found["duel"] and not found["wide"]
    assert found["shown"] == (count - 2) / 2 + 2, "one view of two, and the two over each other"


def test_a_reference_to_elsewhere_is_blocked(text, tmp_path):
    """The policy of the page applies, and the tests above would notice if it did not."""
    bad = '<img src="data:image/png;base64,AAAA"><img src="http://example.invalid/x.png">'
    probed = text.replace("<style>", CATCH + "<style>", 1)
    probed = probed.replace("</main>", bad + "</main>").replace("</body>", PROBE + "</body>")
    path = tmp_path / "index.html"
    path.write_text(probed, encoding="utf-8")
    printed, console = browse(tmp_path, "--dump-dom", path.as_uri())
    found = json.loads(re.search("<title>FOUND(.*?)END</title>", printed)[1].replace("&amp;", "&"))
    assert found["empty"] == 2 and any("img-src" in error for error in found["errors"]) and console


@pytest.mark.parametrize("look", ["dark", "no script"])
def test_what_is_seen(text, look, tmp_path):
    """A screenshot that contains the colors of the design and those of strain: the dark ones with
    scripts, the light ones without."""
    shown = re.sub(r"<script>.*?</script>", "", text, flags=re.S) if look == "no script" else text
    path, shot = tmp_path / "index.html", tmp_path / "shot.png"
    path.write_text(shown, encoding="utf-8")
    more = ["--blink-settings=preferredColorScheme=0"] if look == "dark" else []
    small = ["--window-size=1280,1600", "--force-device-scale-factor=0.25"]
    browse(tmp_path, *more, *small, f"--screenshot={shot}", path.as_uri())
    pixels = read_png(shot.read_bytes())[..., :3]
    counts = Counter(map(tuple, pixels.reshape(-1, 3).tolist()))
    paper = (18, 20, 23) if look == "dark" else (255, 255, 255)
    assert counts[paper] > 0.2 * len(pixels) * pixels.shape[1]
    strained = sum(n for (r, _g, b), n in counts.items() if r > 1.5 * b and r > 100)
    assert strained > 100, "orange somewhere"
