"""The rules of Blender's extensions platform that can be checked on a zip: RULES, each a function
that yields the faults. docs/release.md lists the source of each rule.

The platform publishes its rules as text for people, so this file uses the strictest limits found in
the rules and in threads about refused add-ons. It does not repeat the checks of Blender's own
validator, which tools/stage_extension.sh runs on every zip: missing or empty fields, version, type,
length and end of the tagline and of reasons, names of permissions, years of copyright, wheels.
"""

import ast
import io
import re
import stat
import sys
import tomllib
import zipfile
from typing import NamedTuple

from release_code import WANTED, uses
from sources import ROOT

sys.path.append(str(ROOT))
from araplbs.base.catalogue import parse_catalogue

RULES = {}  # name: function of a Zip
ID = "araplbs"
TEXT = {".py", ".toml", ".md", ".txt", ".html", ".po", ""}
PICTURES = re.compile(
    r"manual/[\w-]+\.png|features/edits/icons/\w+\.dat"
)  # .dat: Blender's for tools
SIZE_LIMIT = 20_000_000  # 300 MB since May 2024; a zip of twice our size has grown unnoticed
# Platforms that the server accepts. linux-arm64 passes Blender's own validator but is refused on
# upload.
SERVER_PLATFORMS = {"windows-x64", "windows-arm64", "macos-x64", "macos-arm64", "linux-x64"}
WHEEL_ENDS = {
    "windows-x64": "win_amd64",
    "windows-arm64": "win_arm64",
    "macos-x64": "_x86_64",
    "macos-arm64": "_arm64",
    "linux-x64": "_x86_64",
    "linux-arm64": "_aarch64",
}
ADDON = "araplbs_addon/"  # in the wheel
# Folders whose files are found by their location (features/__init__.py, cli/main.py), and presets.
FOUND = re.compile(r"features/\w+/|araplbs/cli/commands/|presets/operator/")
TAGS = {  # of add-ons
    *("3D View", "Add Curve", "Add Mesh", "Animation", "Bake", "Camera", "Compositing"),
    *("Development", "Game Engine", "Geometry Nodes", "Grease Pencil", "Import-Export"),
    *("Lighting", "Material", "Mesh", "Modeling", "Node", "Object", "Paint", "Physics"),
    *("Pipeline", "Render", "Rigging", "Scene", "Sculpt", "Sequencer", "System", "Text Editor"),
    *("Tracking", "User Interface", "UV"),
}
KNOWN = {
    *("schema_version", "id", "version", "name", "tagline", "maintainer", "type", "license"),
    *("blender_version_min", "website", "tags", "platforms", "copyright", "permissions"),
    *("wheels", "build"),
}


class Zip(NamedTuple):
    name: str
    size: int
    files: dict  # name: bytes
    modes: dict  # name: Unix mode, 0 where it has no such
    times: set
    manifest: dict

    def generated(self, key):
        """Return the manifest as Blender reads it. The values that Blender's tool wrote when it
        split platforms take precedence."""
        made = self.manifest.get("build", {}).get("generated", {})
        return made.get(key, self.manifest.get(key, []))

    @property
    def platforms(self):
        return self.generated("platforms")

    def python(self):
        return {n: d.decode("utf-8") for n, d in self.files.items() if n.endswith(".py")}

    def python_of_wheels(self):
        found = {}
        for name, data in self.files.items():
            if name.endswith(".whl") and zipfile.is_zipfile(io.BytesIO(data)):
                with zipfile.ZipFile(io.BytesIO(data)) as wheel:
                    names = [each for each in wheel.namelist() if each.endswith(".py")]
                    found |= {each: wheel.read(each).decode("utf-8") for each in names}
        return found


def read_zip(name, data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        files = {info.filename: archive.read(info) for info in infos}
    manifest = tomllib.loads(files.get("blender_manifest.toml", b"").decode("utf-8"))
    modes = {info.filename: info.external_attr >> 16 for info in infos}
    return Zip(name, len(data), files, modes, {info.date_time for info in infos}, manifest)


def rule(function):
    RULES[function.__name__] = function
    return function


@rule
def name_of_the_file(zip):
    """The name is ID-VERSION-PLATFORM.zip, with one platform per zip."""
    if len(zip.platforms) != 1:
        yield f"{len(zip.platforms)} platforms"
    for platform in zip.platforms[:1]:
        wanted = f"{ID}-{zip.manifest.get('version')}-{platform.replace('-', '_')}.zip"
        if zip.name != wanted:
            yield f"is not called {wanted}"


@rule
def size(zip):
    """The size is below the limit of the platform."""
    if zip.size > SIZE_LIMIT:
        yield f"{zip.size} bytes, more than {SIZE_LIMIT}"


@rule
def manifest(zip):
    """The manifest follows schema 1.0.0, with existing tags and without unknown fields."""
    m = zip.manifest
    for key in sorted(m.keys() - KNOWN):
        yield f"{key} is not known"
    if (m.get("schema_version"), m.get("id")) != ("1.0.0", ID):
        yield "schema_version or id is another"
    for tag in m.get("tags", []):
        if tag not in TAGS:
            yield f"no such tag: {tag}"
    if not m.get("website", "https://").startswith("https://"):  # it may be left out
        yield "website is not an https address"


@rule
def name_and_tagline(zip):
    """The name and the tagline do not contain the name Blender."""
    for key in ("name", "tagline"):
        text = zip.manifest.get(key, "")
        if "blender" in text.lower():
            yield f"{key}: '{text}' names Blender"


@rule
def blender_versions(zip):
    """blender_version_min is at least the oldest version with extensions. There is no
    blender_version_max, because the module uses Python's stable ABI, and an upper bound would
    exclude users of the next version."""
    lowest = zip.manifest.get("blender_version_min", "0")
    if tuple(map(int, lowest.split("."))) < (4, 2, 0):
        yield f"blender_version_min {lowest}"
    if "blender_version_max" in zip.manifest:
        yield "has a blender_version_max"


@rule
def platform(zip):
    """Blender runs on the platform."""
    for name in zip.platforms:
        if name not in WHEEL_ENDS:
            yield f"no such platform: {name}"


@rule
def permissions(zip):
    """The permissions are exactly those that the code uses."""
    given = zip.manifest.get("permissions", {})
    found = {kind for text in zip.python().values() for kind in uses(text)}
    for key, kind in (("files", "write"), ("network", "network")):
        needed = kind in found and not _only_elsewhere(zip, kind)
        if needed != (key in given):
            yield f"{key} is {'needed' if needed else 'asked for, and not needed'}"


def _only_elsewhere(zip, kind):
    """Return whether only code that runs outside of Blender uses the file."""
    users = {name for name, text in zip.python().items() if kind in uses(text)}
    return users <= {"araplbs/farm/dask_client.py"}


@rule
def license_and_copyright(zip):
    """The license is GPL-3.0-or-later. The zip contains its text and the license texts of all
    bundled software."""
    if zip.manifest.get("license") != ["SPDX:GPL-3.0-or-later"]:
        yield f"license {zip.manifest.get('license')}"
    if b"GNU GENERAL PUBLIC LICENSE" not in zip.files.get("LICENSE", b"")[:400]:
        yield "LICENSE is not the GNU General Public License"
    third = zip.files.get("THIRD_PARTY.md", b"").decode("utf-8")
    texts = {n.removeprefix("licenses/") for n in zip.files if n.startswith("licenses/")}
    for name in sorted(set(re.findall(r"`([\w.-]+\.txt)`", third)) - texts):
        yield f"THIRD_PARTY.md names licenses/{name}, which is not there"
    if not third or not texts:
        yield "nothing about what is bundled"


@rule
def wheel(zip):
    """There is one wheel, in ./wheels/ and in the list, for this platform and Python's stable
    ABI."""
    listed = zip.generated("wheels")
    there = [f"./{n}" for n in zip.files if n.endswith(".whl")]
    if len(listed) != 1 or sorted(listed) != sorted(there):
        yield f"lists {listed}, holds {there}"
    for path in listed:
        name = path.removeprefix("./wheels/")
        end = WHEEL_ENDS.get((zip.platforms or [""])[0], "?")
        version = zip.manifest.get("version")
        if not re.fullmatch(rf"{ID}-{version}-cp311-abi3-\w*{end}\.whl", name):
            yield f"{path} is not for {zip.platforms}"


@rule
def wheel_unmodified(zip):
    """The wheel is bit-for-bit the wheel for the package index."""
    for name, data in zip.files.items():
        made = ROOT / "build/cross/wheels" / name.removeprefix("wheels/")
        if name.endswith(".whl") and (not made.is_file() or made.read_bytes() != data):
            yield f"{name} is not build/cross/wheels/{made.name}"


@rule
def nothing_else(zip):
    """There is no byte code, and there are no binaries besides the wheel, links, hidden files,
    tests, or system files."""
    for name in zip.files:
        parts, end = name.split("/"), re.search(r"(\.\w+)?$", name)[0]
        if (parts[0] == "wheels" and end == ".whl") or PICTURES.fullmatch(name):
            continue
        if end not in TEXT or any(p.startswith(".") or p == "__pycache__" for p in parts):
            yield f"{name} has no business here"
        elif b"\0" in zip.files[name]:
            yield f"{name} is binary"
        if "tests" in parts or parts[-1].startswith("test_"):
            yield f"{name} is a test"
    for name, mode in zip.modes.items():
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            yield f"{name} is not a plain file"


@rule
def dead_files(zip):
    """Every Python file is imported, run, or in a folder whose files are all used."""
    files = zip.python()
    files |= {n: t for n, t in zip.python_of_wheels().items() if not n.startswith(ADDON)}
    named = set()
    for text in files.values():
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except SyntaxError:
            continue  # reviewable() reports it
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [each.name for each in node.names] + [getattr(node, "module", None) or ""]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names = [node.value] if re.fullmatch(r"[\w./]+", node.value) else []
            else:
                continue
            named |= {part for name in names for part in re.split(r"[./]", name)}
    for name in files:
        stem = name.split("/")[-1].removesuffix(".py")
        if stem not in named | {"__init__", "__main__"} and not FOUND.match(name):
            yield f"{name} is never imported"


@rule
def paths(zip):
    """Every system can unpack the paths, which are short ASCII names in small folders."""
    folded = {}
    for name in zip.files:
        if (
            not re.fullmatch(r"[\w./+() -]+", name, re.ASCII)
            or ".." in name
            or name.startswith("/")
        ):
            yield f"the name {name}"
        if len(name) > 100:
            yield f"{name} has {len(name)} characters"
        if folded.setdefault(name.lower(), name) != name:
            yield f"{name} and {folded[name.lower()]} are one file on Windows"


@rule
def reviewable(zip):
    """The oldest Blender parses the Python code, and no line hides anything."""
    if "__init__.py" not in zip.files:
        yield "no __init__.py"
    for name, text in zip.python().items():
        try:
            ast.parse(text, name, feature_version=(3, 11))
        except SyntaxError as error:
            yield f"{name}: {error}"
        if max(map(len, text.splitlines()), default=0) > 160:
            yield f"{name} has a line of more than 160 characters"


@rule
def languages(zip):
    """Every text is translated into every language."""
    for name, data in zip.files.items():
        if name.endswith(".po"):
            for english, text in parse_catalogue(data.decode("utf-8")).items():
                if not text:
                    yield f"{name} has no translation of '{english}'"


@rule
def no_bl_info(zip):
    """Only the manifest describes the extension."""
    for name, text in zip.python().items():
        if re.search(r"^\s*bl_info\b", text, re.MULTILINE):
            yield f"{name} has bl_info"


@rule
def code(zip):
    """The code uses eval, Python's search path, pip, the network, processes, written files and
    __file__ only where release_code.py lists a reason. The wheel's copy of the add-on, for scripts,
    equals that in the zip."""
    own, wheels = zip.python(), zip.python_of_wheels()
    for name, text in wheels.items():
        if name.startswith(ADDON) and own.get(name.removeprefix(ADDON)) != text:
            yield f"{name}: the wheel's copy differs from that of the zip"
    copies = {name for name in wheels if name.startswith(ADDON)}
    found = {n: uses(text) for n, text in (own | wheels).items() if n not in copies}
    for name, kinds in found.items():
        for kind, lines in kinds.items():
            if name not in WANTED.get(kind, {}):
                yield f"{name}:{lines[0]}: {kind}"
    for kind, names in WANTED.items():
        for name in names:
            if kind not in found.get(name, {}):
                yield f"release_code.py lists {name} for '{kind}', which it does not use"


@rule
def own_name_space(zip):
    """Own files are imported only relatively, because the package has a different name in every
    repository."""
    for name, text in zip.python().items():
        for line in re.findall(r"^\s*(?:from|import) (?:araplbs_addon|bl_ext)\b.*", text, re.M):
            yield f"{name}: {line.strip()}"


@rule
def same_bits(zip):
    """All files have the same time, so the same sources give the same zip."""
    if len(zip.times) != 1:
        yield f"{len(zip.times)} times"
