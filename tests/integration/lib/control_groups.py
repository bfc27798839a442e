# SPDX-License-Identifier: BSD-2-Clause
"""Control groups of the test's own, with the names that runtimes and schedulers give theirs."""
import contextlib
import uuid
from pathlib import Path

import pytest

from lib.probe import wait_until

# Paths in the unified hierarchy, alone or beside others, and in an older one.
CGROUPS = [Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup/pids")]


def is_gone(group):
    """Whether it could be removed: whoever was in it is perhaps just ending."""
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()


@contextlib.contextmanager
def control_group(root, *parts):
    """A control group of that path below one of the test's own."""
    if not (root / "cgroup.procs").exists():
        pytest.skip(f"{root} is no hierarchy of control groups")
    top = root / f"gpuprobe-test-{uuid.uuid4().hex}"
    made = []
    try:
        path = top
        for part in ("", *parts):
            path = path / part
            path.mkdir(exist_ok=True)
            made.append(path)
    except OSError as error:
        for path in reversed(made):
            path.rmdir()
        pytest.skip(f"no control groups can be made here: {error}")
    try:
        yield path
    finally:
        for path in reversed(made):
            wait_until(lambda path=path: is_gone(path), f"{path} cannot be removed")
