# SPDX-License-Identifier: BSD-2-Clause
"""A kernel writes where there is no memory: the driver's report (Xid 31) has the right author."""
import json
import subprocess
import sys

WATCHED_SECONDS = 20  # the program is built before; it takes about eight
BYSTANDER = "import torch, time; x = torch.ones(8, device='cuda'); time.sleep(18)"


def last_report(text):
    return json.loads([line for line in text.splitlines() if line.startswith('{"schema"')][-1])


def test_xid(machine, results):
    program = f"{machine.work}/illegal"
    subprocess.run(["nvcc", "-o", program, f"{machine.python('illegal.cu')[-1]}"], check=True)
    watch = subprocess.Popen([machine.gpuprobe, "--kernel-log", "--json", "--display-interval", "1",
                              "--duration", str(WATCHED_SECONDS), "--metrics-addr", "none"],
                             stdout=subprocess.PIPE, text=True)
    bystander = subprocess.Popen([sys.executable, "-c", BYSTANDER])
    watch.stdout.readline()
    author = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
    said = author.communicate()[0].strip()
    report = last_report(watch.communicate()[0])
    bystander.wait()
    results.check("illegal access: what the program gets", "cudaErrorIllegalAddress", said)
    results.check("illegal access: Xids, how often, named process",
                  [(31, 1, True)], [(one["xid"], one["count"], one["latest"]["named"])
                                    for one in report["xids"]])
    suspects = [(one["pid"] == author.pid, one["comm"], one["kernels"])
                for one in report["xids"][0]["latest"]["suspects"]] if report["xids"] else []
    results.check("illegal access: its author, latest kernels; another program runs on the GPU",
                  [(True, "illegal", "healthy, out_of_bounds")], suspects)
    findings = [(one["severity"], one["pid"] == author.pid) for one in report["findings"]
                if one["id"] == "xid"]
    results.check("illegal access: findings", [("critical", True)], findings)
