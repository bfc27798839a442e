# SPDX-License-Identifier: BSD-2-Clause
"""Files of measurements, {"programs": {name: ...}, "overhead": {name: ...}}:
written whole or not at all, and merged by name."""
import datetime
import json
import lzma
import os
import tempfile

PARTS = ("programs", "overhead")


def write(path, measured):
    """Compressed where the name ends so."""
    text = (json.dumps(measured, indent=1, sort_keys=True) + "\n").encode()
    with tempfile.NamedTemporaryFile("wb", dir=os.path.dirname(os.path.abspath(path)),
                                     delete=False) as file:
        file.write(lzma.compress(text) if path.endswith(".xz") else text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def read(path):
    """{} where there is no such file."""
    if not os.path.exists(path):
        return {}
    with (lzma.open(path) if path.endswith(".xz") else open(path, "rb")) as file:
        return json.loads(file.read())


def is_newer(measured, kept):
    return (datetime.datetime.fromisoformat(measured["date"])
            >= datetime.datetime.fromisoformat(kept["date"]))


def merged(kept, taken):
    """By name, the newest of each."""
    found = {part: dict(kept.get(part, {})) for part in PARTS}
    for part in PARTS:
        for name, measured in taken.get(part, {}).items():
            if name not in found[part] or is_newer(measured, found[part][name]):
                found[part][name] = measured
    return found
