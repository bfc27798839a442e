# SPDX-License-Identifier: BSD-2-Clause
"""Stacks as people read them: frames of installed packages are one line, unless --all-frames asks
for each."""
import json
import re
import sys

import pytest

from lib import paths
from lib.probe import Background

# nn.Module in a package of this name, as PyTorch has it.
FILES = {
    "site-packages/torch/__init__.py": "",
    "site-packages/torch/nn/__init__.py": "",
    "site-packages/torch/nn/modules/__init__.py": "",
    "site-packages/torch/nn/modules/module.py": """
class Module:
    def _call_impl(self, *args):
        return self.forward(*args)

    def _wrapped_call_impl(self, *args):
        return self._call_impl(*args)

    __call__ = _wrapped_call_impl
""",
    "site-packages/torch/nn/modules/linear.py": """
import ctypes
import os

from torch.nn.modules.module import Module

cudart = ctypes.CDLL(os.environ["CUDA_SIM_DIRECTORY"] + "/libcudart.so.13")


class Linear(Module):
    def forward(self, size):
        cudart.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(size))
""",
    "train.py": """
import sys

from torch.nn.modules.linear import Linear
from torch.nn.modules.module import Module


class Net(Module):
    def forward(self, size):
        Linear()(size)


def main():
    Net()(4096)


main()
sys.stdin.read()
""",
}
OWN = {"Net.forward": 10, "main": 14, "<module>": 17}


def named(function):
    """Before 3.11 Python does not record a method's class."""
    return function if sys.version_info >= (3, 11) else function.rpartition(".")[2]


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return ["env", f"PYTHONPATH={folder}/site-packages", f"CUDA_SIM_DIRECTORY={paths.SIM}",
            sys.executable, folder / "train.py"]


def run(*args):
    """gpuprobe's output. The program ends once its stack was reported."""
    printed = []
    with Background("timeout", 60, paths.GPUPROBE, *args) as running:
        for line in running.stdout:
            printed.append(line)
            if named("Net.forward") in line and not running.stdin.closed:
                running.stdin.close()
        assert running.wait(timeout=60) == 0
    return "".join(printed)


def stack_of(report):
    """The lines of the last stack, with the call itself first."""
    lines = report.splitlines()
    first = max(i for i, line in enumerate(lines) if re.match(r" +cudaMalloc\+0x0 \[", line))
    indent = len(lines[first]) - len(lines[first].lstrip())
    last = first
    while last < len(lines) and lines[last].startswith(" " * indent):
        last += 1
    return [line.strip() for line in lines[first:last]]


def own_lines():
    return [f"{named(function)} (train.py:{line})" for function, line in OWN.items()]


def test_memleak_folds_frames_of_packages(train):
    lines = stack_of(run("memleak", "-o", 0, 0.3, "--", *train))
    run_of_torch = re.fullmatch(r"… nn\.Linear\.forward, (\d+) frames", lines[1])
    assert run_of_torch or sys.version_info < (3, 11), lines
    assert lines[2:5] == own_lines(), lines
    assert len(lines) <= 8
    every = stack_of(run("memleak", "--all-frames", "-o", 0, 0.3, "--", *train))
    assert not [line for line in every if "…" in line]
    assert [line for line in every if "train.py" in line] == own_lines()
    assert sum(line.startswith(named("Module._call_impl")) for line in every) == 2
    if run_of_torch:
        assert every.index(own_lines()[0]) == 1 + int(run_of_torch[1])


def test_json_has_every_frame(train):
    report = json.loads(run("memleak", "--json", "-o", 0, 0.3, "--", *train).splitlines()[-1])
    frames = report["processes"][0]["sites"][0]["stack"]["frames"]
    assert sum(frame["function"] == named("Module._call_impl") for frame in frames) == 2


@pytest.mark.parametrize("args, folded", [([], True), (["--top", 0], True),
                                          (["--all-frames"], False), (["--memleak"], False)])
def test_the_monitor(train, args, folded):
    """
    The usual report has the first lines of a stack. A report of selected sections keeps the form
    that its users know.
    """
    lines = stack_of(run("--metrics-addr", "none", "--stack", "fp", "--display-interval", 0.3,
                         *args, "--", *train))
    assert any(line.startswith("… ") for line in lines) == folded
    own = [line for line in lines if "train.py" in line]
    assert own and own == own_lines()[:None if args else len(own)]
