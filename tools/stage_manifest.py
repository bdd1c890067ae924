"""Prints the manifest of a zip: blender_manifest.toml with its wheels, its platforms, and the
address of the site as its website if $SITE_URL contains it (only the release workflow sets it).

stage_manifest.py PLATFORMS WHEEL...      PLATFORMS: windows-x64,macos-arm64; "" as in the file
"""

import re
import sys

from manual_pages import ROOT, site_address


def manifest(text, platforms, wheels, site=""):
    """Return the manifest of a zip. text: the text of blender_manifest.toml; platforms, wheels:
    lists of names."""
    changes = [("version", rf"\g<0>\nwheels = [{_listed('./wheels/' + name for name in wheels)}]")]
    if platforms:
        changes.append(("platforms", f"platforms = [{_listed(platforms)}]"))
    if site:
        changes.append(("maintainer", rf'\g<0>\nwebsite = "{site}"'))
    for key, line in changes:
        text, count = re.subn(rf"^{key} = .*$", line, text, flags=re.MULTILINE)
        if count != 1:
            raise SystemExit(f"blender_manifest.toml has {count} lines '{key} = ...', not 1")
    return text


def _listed(names):
    return ", ".join(f'"{name}"' for name in names)


if __name__ == "__main__":
    source = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    wanted = [name for name in sys.argv[1].split(",") if name]
    sys.stdout.write(manifest(source, wanted, sys.argv[2:], site_address()))
