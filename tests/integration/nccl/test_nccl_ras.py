# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe nccl --ras`: what a service that speaks as NCCL's says below a hang. Without the option
nobody is asked."""
import json
import socket
import threading

import pytest

from lib.nccl import Watched, true_hashes
from lib.probe import wait_until

pytestmark = pytest.mark.usefixtures("nothing_left")
HANG = ("--ranks", 2, "--steps", 60, "--block", "--fault", "stopped", "--rank", 1, "--at", 20)


def answer(commhash, other_node):
    """RAS's answer about this communicator; its last rank is on another node."""
    def rank(number, **members):
        return {"rank": number, "host": "127.0.0.1", "pid": 4711, "cuda_dev": 0, "nvml_dev": 0,
                "status": {"init_state": 0, "async_error": 0, "finalize_called": False,
                           "destroy_flag": False, "abort_flag": False},
                "collective_counts": {"AllReduce": 61}, **members}

    missing = {"rank": 1, "host": other_node, "pid": 815, "cuda_dev": 0, "nvml_dev": 0,
               "status": {"unresponsive": True, "considered_dead": False}}
    return json.dumps({"nccl_version": "2.28.9", "cuda_runtime_version": 13000, "communicators": [
        {"hash": commhash, "secondary_hash": "0x0:0x0", "size": 2, "ranks_count": 1,
         "missing_ranks_count": 1, "ranks": [rank(0)], "missing_ranks": [missing]}],
        "ras": {"collection_time_sec": 0.0, "timeouts_count": 0}})


class Service:
    """Answers as NCCL 2.28.9 does; counts who asks."""

    def __init__(self, text):
        self.text, self.asked = text, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve)

    def serve(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with peer, peer.makefile("rw", encoding="utf-8", newline="\n") as stream:
                self.asked += 1
                for reply in ("SERVER PROTOCOL 2", "OK", "OK", self.text()):
                    if not stream.readline():
                        break
                    stream.write(reply + "\n")
                    stream.flush()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


@pytest.mark.parametrize("options", [
    ("--ras",), pytest.param((), marks=pytest.mark.slow)])
def test_opinion_of_a_hang(options, tmp_path):
    def text():
        return answer(true_hashes(tmp_path)[0][0], "10.0.0.7")

    with Service(text) as service, \
            Watched("--interval", 0.2, "--hang", "500ms", *options, ranks=HANG,
                    settings={"NCCL_RAS_ADDR": service.address,
                              "CUDA_SIM_NCCL_TRUTH": tmp_path / "%p"}) as watched:
        found = watched.wait_for("nccl-hang")
        # The answer comes later.
        wait_until(lambda: not options or watched.findings("nccl-hang")[-1]["ras"], "no answer")
        found = watched.findings("nccl-hang")[-1] if options else found
        watched.end()
    assert watched.stderr == ""
    if not options:
        assert (found["ras"], service.asked) == (None, 0)
        return
    assert service.asked == 1
    assert (found["ras"]["ranks"], found["ras"]["answering"]) == (2, 1)
    assert [(rank["rank"], rank["host"], rank["state"]) for rank in found["ras"]["blamed"]] == [
        (1, "10.0.0.7", "unresponsive")]


def test_reports_go_on_while_a_service_is_silent(tmp_path):
    asked, end = threading.Event(), threading.Event()

    def text():
        asked.set()
        end.wait(60)
        return answer(true_hashes(tmp_path)[0][0], "10.0.0.7")

    with Service(text) as service:
        try:
            with Watched("--interval", 0.1, "--hang", "500ms", "--ras", ranks=HANG,
                         settings={"NCCL_RAS_ADDR": service.address,
                                   "CUDA_SIM_NCCL_TRUTH": tmp_path / "%p"}) as watched:
                watched.wait_for("nccl-hang")
                assert asked.wait(60)
                before = len(watched.reports)
                # Reports come each second. The question ends after five.
                wait_until(lambda: len(watched.reports) > before + 1, "no report meanwhile")
                assert "no answer in time" not in watched.stderr
                assert watched.findings("nccl-hang")[-1]["ras"] is None
                end.set()
                wait_until(lambda: watched.findings("nccl-hang")[-1]["ras"], "no answer")
                watched.end()
        finally:
            end.set()


def test_nobody_listens(free_port):
    with Watched("--interval", 0, "--hang", "100ms", "--ras", ranks=HANG,
                 settings={"NCCL_RAS_ADDR": f"127.0.0.1:{free_port}"}) as watched:
        assert watched.wait_for("nccl-hang")["ras"] is None
        wait_until(lambda: "nothing listens" in watched.stderr, "no warning")
        watched.end()
    assert "nothing listens: NCCL has no RAS service or is older than 2.24" in watched.stderr
