"""The page of a comparison in a real browser, without a network: it loads, draws and complains of
nothing, with script and without. Runs in `core`, where chromium or chrome is installed."""

import json
import os
import re
import shutil
import struct
import subprocess
import zlib
from collections import Counter

import numpy as np
import pytest
from compared import OPTIONS, tube_case

from araplbs_addon.core.comparison.compare import compare
from araplbs_addon.core.comparison.compare_page import page

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((path for name in NAMES if (path := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(not BROWSER, reason="no browser: apt-get install chromium")

# What the page came to, written into its title, which --dump-dom shows.
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
    """(what it prints, what it says of errors) in a profile of its own, where no name resolves."""
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
        timeout=120,
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
    """The policy of the page holds; and the tests above would see it if it did not."""
    bad = '<img src="data:image/png;base64,AAAA"><img src="http://example.invalid/x.png">'
    probed = text.replace("<style>", CATCH + "<style>", 1)
    probed = probed.replace("</main>", bad + "</main>").replace("</body>", PROBE + "</body>")
    path = tmp_path / "index.html"
    path.write_text(probed, encoding="utf-8")
    printed, console = browse(tmp_path, "--dump-dom", path.as_uri())
    found = json.loads(re.search("<title>FOUND(.*?)END</title>", printed)[1].replace("&amp;", "&"))
    assert found["empty"] == 2 and any("img-src" in error for error in found["errors"]) and console


@pytest.mark.parametrize("look", ["light", "dark", "no script"])
def test_what_is_seen(text, look, tmp_path):
    """A screenshot that has the colors of the look, and of strain."""
    shown = re.sub(r"<script>.*?</script>", "", text, flags=re.S) if look == "no script" else text
    path, shot = tmp_path / "index.html", tmp_path / "shot.png"
    path.write_text(shown, encoding="utf-8")
    more = ["--blink-settings=preferredColorScheme=0"] if look == "dark" else []
    small = ["--window-size=1280,1600", "--force-device-scale-factor=0.25"]
    browse(tmp_path, *more, *small, f"--screenshot={shot}", path.as_uri())
    pixels = read_screenshot(shot)
    counts = Counter(map(tuple, pixels.reshape(-1, 3).tolist()))
    paper = (18, 20, 23) if look == "dark" else (255, 255, 255)
    assert counts[paper] > 0.2 * len(pixels) * pixels.shape[1]
    strained = sum(n for (r, _g, b), n in counts.items() if r > 1.5 * b and r > 100)
    assert strained > 100, "orange somewhere"


def read_screenshot(path):
    """(height, width, 3) of a PNG of 8 bits without interlacing."""
    content, data, place = path.read_bytes(), b"", 8
    width, height, depth, kind = struct.unpack(">IIBB", content[16:26])
    assert depth == 8 and kind in (2, 6)
    while place < len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        if content[place + 4 : place + 8] == b"IDAT":
            data += content[place + 8 : place + 8 + length]
        place += 12 + length
    size = {2: 3, 6: 4}[kind]
    stride, lines, above = width * size + 1, zlib.decompress(data), bytes(width * size)
    rows = []
    for row in range(height):
        line = lines[row * stride : (row + 1) * stride]
        above = unfiltered(line[0], line[1:], above, size)
        rows.append(np.frombuffer(above, np.uint8).reshape(width, size)[:, :3])
    return np.array(rows)


def unfiltered(kind, line, above, size):
    result = bytearray(len(line))
    for k, value in enumerate(line):
        a = result[k - size] if k >= size else 0
        b, c = above[k], above[k - size] if k >= size else 0
        if kind == 4:
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))
            guess = near[2]
        else:
            guess = (0, a, b, (a + b) // 2)[kind]
        result[k] = (value + guess) & 255
    return bytes(result)
