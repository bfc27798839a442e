#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A program that behaves like PyTorch with Kineto, started with KINETO_USE_DAEMON=1.

    kineto_client.py MODE [--user UID] [--cuda]

It asks the daemon "dynolog" what to do, every 50 ms instead of every 5 s, and waits 90 ms for the
answer. The process must have KINETO_USE_DAEMON in its environment only because gpuprobe looks for
it. With --cuda it makes CUDA calls from then on (programs/cuda.py). It prints READY, then each
configuration as a line of JSON; a line on its standard input is answered with a line of JSON:
{"configurations": N, "answers": N}.

MODE is what it does with a configuration: good (writes a trace), names (the same with 5,000
kernels), nothing, unfinished (writes a part and goes on), dies (the same, and ends), half
(completes a file that ends early), damaged, empty, huge (64 GiB, sparse), fifo, link, folder;
silent does not ask, busy says that its profiler is in use.
"""
import argparse
import json
import os
import select
import socket
import struct
import sys
import uuid

sys.dont_write_bytecode = True
POLL_SECONDS = 0.05
ANSWER_SECONDS = 0.09
BASE_NS = 1_700_000_000_123_456_789
COPIES = (("HtoD", "Pageable -> Device", 3000, 2_500), ("DtoH", "Device -> Pinned", 1500, 1_250),
          ("DtoD", "Device -> Device", 64, 999))
OVERHEADS = (("Buffer Flush", 1_500_000), ("Instrumentation", 250_000),
             ("Lazy Function Loading", 9_000_000))


def kernels(mode):
    """(name, device, nanoseconds, whether it is in a graph), in the order of the trace."""
    if mode == "names":
        return [(f"kernel_{i}", 0, 1_000, False) for i in range(5000)]
    name = "void at::native::vectorized_elementwise_kernel<4, at::native::Add<float> >(int, float)"
    return ([(name, 0, 20_001, False)] * 30 + [("gemm \\\"quoted\\\"", 0, 5_500, False)] * 20 +
            [("in_a_graph", 1, 700, True)] * 10)


def event(category, name, where, start_ns, duration_ns, **arguments):
    """A complete event as Kineto lays it out."""
    inner = ",".join(f' "{key}": {value}' for key, value in arguments.items())
    begin = f"{start_ns // 1000}.{start_ns % 1000:03}"
    duration = f"{duration_ns // 1000}.{duration_ns % 1000:03}"
    return (f'\n  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", "pid": {where}, '
            f'"tid": 7,\n    "ts": {begin}, "dur": {duration}\n    ,\n    "args": {{\n     '
            f"{inner}\n    }}\n  }},")


def work(mode):
    """Events of GPUs, one after the other with 1 us in between, and others among them."""
    at = 5_000
    for name, device, ns, in_graph in kernels(mode):
        more = {"graph node id": 77} if in_graph else {}
        yield event("kernel", name, device, at, ns, **{"queued": 0, "device": device, "stream": 7,
                    "correlation": 12, "grid": "[1, 1, 1]", "est. achieved occupancy %": "inf",
                    **more})
        at += ns + 1_000
    for kind, memory, count, ns in COPIES:
        yield event("gpu_memcpy", f"Memcpy {kind} ({memory})", 0, at, ns,
                    **{"device": 0, "bytes": count, "memory bandwidth (GB/s)": 1.2})
        at += ns + 1_000
    yield event("gpu_memset", "Memset (Device)", 0, at, 2_000, device=0, bytes=256)
    yield event("cpu_op", "aten::add", 4711, 5_000, 999_999, **{"External id": 5})
    yield event("cuda_runtime", "cudaLaunchKernel", 4711, 5_000, 1_000, cbid=211)
    for name, ns in OVERHEADS:
        yield event("overhead", name, -1, 5_000, ns)


def trace(mode):
    yield (' {\n    "schemaVersion": 1,\n    "deviceProperties": [\n    {\n      "id": 0, "name": '
           '"NVIDIA H200", "totalGlobalMem": 150039945216\n    }],\n    "displayTimeUnit": "ms",\n'
           f'    "baseTimeNanoseconds": {BASE_NS},\n    "traceEvents": [\n    ')
    yield from work(mode)
    yield ('\n  {\n    "ph": "i",\n    "s": "g", "name": "Record Window End", "pid": "", "tid": "",'
           ' "ts": 9\n  }\n  ],"traceName": "x" }')


def write(path, mode):
    """What the mode makes of the file that it is to write."""
    text = "".join(trace(mode))
    if mode == "fifo":
        os.mkfifo(path)
    elif mode == "link":
        os.symlink("/etc/passwd", path)
    elif mode == "folder":
        os.mkdir(path)
    else:
        if mode in ("half", "unfinished", "dies"):
            text = text[:len(text) // 2]
        elif mode == "damaged":
            text = text.replace('"gemm', '}"gemm')
        elif mode == "empty":
            text = ""
        elif mode == "huge":
            text = text[:text.rindex('"traceName')] + '"'
        with open(f"{path}.tmp", "w", encoding="utf-8") as file:
            file.write(text)
            if mode == "huge":
                file.truncate(64 << 30)
        if mode == "dies":
            os._exit(3)
        if mode != "unfinished":
            os.rename(f"{path}.tmp", path)


class Client:
    def __init__(self, mode):
        self.mode, self.configurations, self.answers = mode, 0, 0
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"\0dynoconfigclient{uuid.uuid4()}\0")

    def ask(self, kind, content):
        """The daemon's answer; b"" if there is no daemon, or it does not answer."""
        head = struct.pack("Q32s", len(content), kind)
        try:
            self.socket.sendto(head + content, socket.MSG_DONTWAIT, b"\0dynolog\0")
        except OSError:
            return b""
        if not select.select([self.socket], [], [], ANSWER_SECONDS)[0]:
            return b""
        answer, address = self.socket.recvfrom(1 << 16)
        size, told = struct.unpack_from("Q32s", answer)
        # Kineto ends the program if the name is not an abstract one.
        assert (address, told.rstrip(b"\0")) == (b"\0dynolog\0", kind), (address, told)
        assert size == len(answer) - 40
        self.answers += 1
        return answer[40:]

    def poll(self, call):
        """Asks what to do, and does it; calls `call` before."""
        can_trace = 0 if self.mode == "busy" else 2
        # The pids are those of its own namespace; gpuprobe must not believe them.
        told = self.ask(b"req", struct.pack("iiqii", can_trace, 2, 0, 1, 1))
        if not told:
            return
        self.configurations += 1
        lines = dict(line.split("=", 1) for line in told.decode().splitlines())
        print(json.dumps(lines), flush=True)
        call()
        if self.mode != "nothing":
            write(lines["ACTIVITIES_LOG_FILE"], self.mode)


def cuda_calls():
    """A function that makes some."""
    from cuda import launch, module, need, start  # pylint: disable=import-outside-toplevel
    start()
    _, handles = module("a_kernel")
    return lambda: need(launch(handles[0]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode")
    parser.add_argument("--user", type=int, default=0)
    parser.add_argument("--cuda", action="store_true")
    options = parser.parse_args()
    call = cuda_calls() if options.cuda else lambda: None
    if options.user:
        os.setgroups([])
        os.setresgid(options.user, options.user, options.user)
        os.setresuid(options.user, options.user, options.user)
    client = Client(options.mode)
    client.ask(b"ctxt", struct.pack("iiq", 0, os.getpid(), 0))
    print("READY", flush=True)
    while True:
        call()
        if options.mode != "silent":
            client.poll(call)
        if select.select([sys.stdin], [], [], POLL_SECONDS)[0]:
            if not sys.stdin.readline():
                return
            print(json.dumps({"configurations": client.configurations,
                              "answers": client.answers}), flush=True)


if __name__ == "__main__":
    main()
