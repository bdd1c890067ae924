"""tools/fetch_suitesparse.sh refuses any version other than the one that it names."""

import hashlib
import os
import re
import subprocess
from pathlib import Path

import pytest
from paths import ROOT

SCRIPT = ROOT / "tools/fetch_suitesparse.sh"
pytestmark = pytest.mark.skipif(
    not Path("/usr/lib/apt/apt-helper").exists(), reason="no apt, which fetches the sources"
)


def fetch(tmp_path, mirror):
    environment = {
        **os.environ,
        "ARAPLBS_CACHE": str(tmp_path / "cache"),
        "ARAPLBS_DEBIAN_MIRROR": f"copy:{mirror}",
        "ARAPLBS_SUITESPARSE_DIR": "",
    }
    return subprocess.run([SCRIPT], env=environment, capture_output=True, text=True, check=False)


def test_another_hash_is_refused(tmp_path):
    name, wanted = (
        re.search(rf"^{key}=(\S+)$", SCRIPT.read_text(), re.MULTILINE)[1]
        for key in ("FILE", "SHA256")
    )
    file = tmp_path / "mirror/pool/main/s/suitesparse" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(b"something else")
    done = fetch(tmp_path, tmp_path / "mirror")
    found = hashlib.sha256(b"something else").hexdigest()
    assert done.returncode == 1
    assert f"{name} has another hash: wanted sha256 {wanted}, found {found}" in done.stderr
    assert not (tmp_path / "cache/suitesparse").exists()


def test_a_mirror_without_it(tmp_path):
    done = fetch(tmp_path, tmp_path / "nothing")
    assert done.returncode == 1
    assert "the Debian mirror gives no suitesparse_" in done.stderr
    assert not (tmp_path / "cache/suitesparse").exists()
