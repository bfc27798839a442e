# SPDX-License-Identifier: BSD-2-Clause
"""The files of other projects are those that their authors released."""
import hashlib
import re
import tarfile

import pytest

from conftest import CACHE, ROOT, npm

FOLDER = ROOT / "third_party"
ROWS = re.findall(r"^\| `(\S+)` .* `([0-9a-f]{64})` \|$",
                  (FOLDER / "README.md").read_text("utf-8"), re.M)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def test_files_have_the_hashes_of_the_table():
    files = {str(path.relative_to(FOLDER)): sha256(path.read_bytes())
             for path in FOLDER.rglob("*") if path.is_file() and path.name != "README.md"}
    assert files == dict(ROWS)


@pytest.mark.slow
def test_the_registry_has_the_same_files():
    archive = CACHE / npm("pack", "uplot@1.6.32").strip().splitlines()[-1]
    with tarfile.open(archive) as package:
        released = {entry.name.rpartition("/")[2]: sha256(package.extractfile(entry).read())
                    for entry in package.getmembers() if entry.isfile()}
    for path, digest in ROWS:
        assert released[path.rpartition("/")[2]] == digest, path
