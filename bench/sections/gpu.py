# SPDX-License-Identifier: BSD-2-Clause
"""What gpuprobe costs real programs on a GPU. Measured by bench/gpu.sh on a machine that has one;
elsewhere `bench/bench.py --take FILE --only gpu` takes the JSON that it wrote."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from gpu import page as gpu_page

TITLE = "Real programs on a GPU"
ORDER = 70
RUN = pathlib.Path(__file__).resolve().parent.parent / "gpu.sh"

show = gpu_page.show


def missing(setup):
    if setup.quick:
        return "it takes minutes"
    if not shutil.which("nvidia-smi"):
        return "no GPU here; bench/gpu.sh measures on a machine with one"
    return None


def measure(setup):
    with tempfile.TemporaryDirectory() as work:
        page = pathlib.Path(work) / "gpu.md"
        # It fails where a part of it did: what there is counts all the same.
        subprocess.run([RUN, "--build", setup.build, "--output", page], stdout=sys.stderr,
                       check=False)
        return json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))["gpu"]["result"]
