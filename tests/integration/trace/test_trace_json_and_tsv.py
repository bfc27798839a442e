# SPDX-License-Identifier: BSD-2-Clause
"""The trace's JSON and TSV read back by parsers that know nothing but their descriptions.

tests/unit/output/test_trace_output.c holds what gpuprobe writes to the golden files that are read
here; the values below are those it was made from (tests/unit/output/trace_lines.h),
in the words of that file.
"""
import csv
import json
import re
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parents[2] / "unit" / "golden"
BEGIN_NS = 5_000_000_000_000
LONG_KERNEL = "".join(chr(ord("a") + i % 26) for i in range(4096))
ESCAPING = b'a\tb\n\x1b[31m"\\\r'
BYTES = b"\xc3\xa9\xe4\xb8\xad\xff\xfe\xc2\x9b\x7f\xe2\x80\xaexy\xe4"
BIDI_KERNEL = b'k\x1b]0;x\x07"q"\\\t\xe2\x80\xae\xff' + b"\xe4\xb8\xad" * 4
NAME = b'a"b\\c\n\0\x1b[0m\x80z\xc3\xa9;'

# By the time in microseconds: what a line was made from. Only what tells something is named.
LINES = {
    1234018: {"event": b"cudaMalloc", "size": 1048576, "ptr": 0x7f8b00000000, "duration": 412100,
              "end": BEGIN_NS + 1234018000 + 412100, "result": "cudaSuccess",
              "process": b"my_cuda_app", "pid": 12345, "ppid": 12000,
              "tid": 12345, "uid": 1000, "cgroup": b"/user.slice/app\t1.scope",
              "device": None, "layer": "runtime", "bw": None, "kernel": None, "stack": None},
    1235101: {"event": b"cudaMemcpy", "dst": 0x7f8b00000000, "src": 0x55d0c0,
              "size": 1048576, "kind": "H2D", "bw": 1048576 * 10**9 // 368000},
    1240440: {"kernel": b"vadd", "grid": [4096, 1, 1],
              "block": [256, 1, 1], "shmem": 0, "stream": 0, "size": None},
    1240900: {"result": "cudaErrorMemoryAllocation", "size": 1125899906842624, "ptr": None},
    1241000: {"kernel": b"vadd", "grid": [4294967295, 65535, 65535],
              "block": [1, 2, 3], "shmem": 49152, "stream": 0x5581a0,
              "args": [0x7f8b00000000, 0, 2**64 - 1], "device": 3, "layer": "driver",
              "stack": [b"a.out+0x1136", b'lib;\n"x".so+0x34', b"0xffffffffffffffff",
                        b"forward (model.py:123)"]},
    1241001: {"kernel": None, "stack": [b"a.out+0x1136"]},
    3246100: {"event": b"cudaGetErrorString", "result": "0xffffffffffffffff"},
    3246200: {"event": b"cudaProfilerNothing", "result": None},
    3246300: {"result": "cudaErrorNotReady"},
    3246400: {"result": "error 12345"},
    3247000: {"process": ESCAPING, "pid": 2},
    3247001: {"process": BYTES, "pid": 3},
    3247002: {"process": b"# lost 9", "pid": 4},
    3247003: {"process": ESCAPING, "pid": 2},
    3247004: {"event": b'cu\x1b[2J"new\\', "process": b"my_cuda_app"},
    3247005: {"kernel": LONG_KERNEL.encode()},
    3247006: {"kernel": BIDI_KERNEL},
    3247007: {"kernel": b"_Z1kv"},
    3248000: {"duration": 123456789012},
    # What is more than 64 bits is cut to their largest number.
    3248002: {"dst": "unreadable 0x8", "size": 2**64 - 1, "bw": 2**64 - 1},
    3248003: {"event": b"cudaMemcpyAsync", "stream": 2, "size": 4096, "bw": None},
    3248004: {"event": b"cudaMemcpy", "size": 4096, "bw": None, "result": "cudaErrorInvalidValue"},
}


def time_key(ns):
    return (ns - BEGIN_NS) // 1000


# --- TSV ---

def unescape(cell):
    """A cell's bytes."""
    short = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}
    return re.sub(rb"\\(x[0-9a-f]{2}|.)",
                  lambda m: bytes([int(m[1][1:], 16)]) if len(m[1]) == 3 else short.get(m[1], m[1]),
                  cell)


def read_tsv(name):
    rows = (GOLDEN / name).read_bytes().split(b"\n")
    assert rows.pop() == b""
    words = rows.pop(0).decode().split("\t")
    notes = [row for row in rows if row.startswith(b"#")]
    cells = [row.split(b"\t") for row in rows if not row.startswith(b"#")]
    assert all(len(row) == len(words) for row in cells)
    return [dict(zip(words, row)) for row in cells], notes


def tsv_value(word, cell):
    """A cell as LINES has it."""
    if cell in (b"-", b"[stack not known]"):
        return None
    if word == "stack":
        return [unescape(frame) for frame in cell.split(b";")]
    if word in ("process", "event", "kernel", "cgroup"):
        return unescape(cell)
    if cell.startswith(b"<unreadable "):
        return cell[1:-1].decode()
    if word in ("grid", "block", "args"):
        return [int(number, 0) for number in cell[1:-1].split(b",")]
    if word in ("kind", "result", "layer"):
        return cell.decode()
    return int(cell, 0)


def test_tsv_reads_back():
    rows, notes = read_tsv("trace-all.tsv")
    seen = {}
    for row in rows:
        assert set(row) >= {"time", "end", "details", "stack", "result"}
        seen[time_key(int(row["time"]))] = row
    for key, line in LINES.items():
        for word, value in line.items():
            assert tsv_value(word, seen[key][word]) == value, (key, word)
    assert [note.split() for note in notes] == [
        [b"#", b"lost", b"1203", b"ring_full", b"5003246000000"],
        [b"#", b"lost", b"1", b"call_depth", b"5003246001000"],
        [b"#", b"lost_returns", b"5", b"ring_full", b"5003246002000"],
        [b"#", b"lost_stacks", b"3", b"stack_ring_full", b"5003246003000"]]


def test_tsv_says_what_a_line_is():
    rows, _ = read_tsv("trace-all.tsv")
    results = [row["result"] for row in rows if row["result"].startswith(b"<")]
    assert results == [b"<entry>", b"<returned> cudaSuccess", b"<returned> cudaErrorIllegalAddress",
                       b"<returned> 0x7f0012345678", b"<returned> -", b"<in progress>",
                       b"<resumed> cudaSuccess", b"<unfinished>", b"<began before attach>"]
    open_ends = [row["end"] for row in rows
                 if row["result"] in (b"<entry>", b"<in progress>", b"<unfinished>")]
    assert open_ends == [b"-"] * 3


def test_tsv_details_read_back():
    rows, _ = read_tsv("trace.tsv")
    details = [unescape(row["details"]) for row in rows if row["event"] == b"cuModuleGetFunction"]
    name = re.match(
        rb'name="((?:[^"\\]|\\.)*)" log="((?:[^"\\]|\\.)*)"\.\.\. image=<unreadable 0xdead000>$',
        details[0])
    assert unescape(name[1]) == NAME
    assert unescape(name[2]) == b"cut\xe4"
    assert (details[1] == b"i=-9223372036854775808 ms=0.1 bad=nan x=? flags=0x3 handle=00ff10 "
            b"none=[] null=0x0")


def test_a_process_cannot_write_a_note():
    rows, notes = read_tsv("trace-process.tsv")
    assert len(notes) == 4
    assert unescape(rows[20]["process"]) == b"# lost 9"


def test_tsv_is_what_a_library_reads():
    with open(GOLDEN / "trace.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader((line for line in file if not line.startswith("#")), delimiter="\t",
                               quoting=csv.QUOTE_NONE))
    assert len({len(row) for row in rows}) == 1


# --- JSON ---

def read_json(name):
    def no_duplicates(pairs):
        assert len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs)

    lines = (GOLDEN / name).read_bytes().decode("utf-8").split("\n")
    assert lines.pop() == ""
    return [json.loads(line, object_pairs_hook=no_duplicates) for line in lines]


def as_json(word, value):
    """A value of LINES as JSON has it: texts with U+FFFD for each byte that is no UTF-8."""
    if isinstance(value, bytes):
        # Python makes one U+FFFD of several bytes where they began well: each is one here.
        return value.decode("utf-8", "surrogateescape").translate(
            {0xdc80 + i: "\ufffd" for i in range(128)})
    if word == "stack" and value:
        return [as_json(None, frame) for frame in value]
    if isinstance(value, str) and value.startswith("unreadable "):
        return {"unreadable": value.split()[1]}
    if word in ("ptr", "dst", "src", "stream") and value is not None:
        return f"{value:#x}"
    if word == "args" and value:
        return [f"{number:#x}" for number in value]
    return value


def test_json_reads_back():
    seen = {time_key(line["time"]): line for line in read_json("trace-all.json")}
    for key, line in LINES.items():
        for word, value in line.items():
            assert seen[key][word] == as_json(word, value), (key, word)


def test_json_says_what_a_line_is():
    lines = read_json("trace-all.json")
    assert [line["line"] for line in lines if "line" in line] == [
        "start", "entry", "return", "return", "return", "return", "in_progress", "resumed",
        "unfinished", "lost", "lost", "lost", "lost", "before_attach"]
    assert [(line["lost"], line["reason"]) for line in lines
            if "lost" in line] == [(1203, "ring_full"), (1, "call_depth")]
    assert [(line["lost_returns"], line["reason"]) for line in lines
            if "lost_returns" in line] == [(5, "ring_full")]
    assert [(line["lost_stacks"], line["reason"]) for line in lines
            if "lost_stacks" in line] == [(3, "stack_ring_full")]
    assert [line["end"] for line in lines
            if line.get("line") in ("entry", "in_progress", "unfinished")] == [None] * 3
    assert [line["code"] for line in lines if line.get("failed")] == [2, 700, 12345, 1]
    assert [line["code"] for line in lines if "code" in line and "failed" not in line] == [600]
    assert [line["depth"] for line in lines if "depth" in line] == [1, 2, 1]


def test_json_details_read_back():
    details = [line["details"] for line in read_json("trace.json")
               if line.get("event") == "cuModuleGetFunction"]
    assert details[0] == {"name": as_json(None, NAME), "log": {"cut": "cut\ufffd"},
                          "image": {"unreadable": "0xdead000"}}
    assert details[1] == {"i": -2**63, "ms": 0.1, "bad": None, "x": None, "flags": "0x3",
                          "handle": "00ff10", "none": [], "null": "0x0"}
    kernels = [line["details"] for line in read_json("trace.json")
               if line.get("event") == "cuLaunchKernel"]
    assert kernels[0]["kernel"] == "vadd" and kernels[0]["at"] == "a.out+0x1234"
    assert kernels[0]["kernel_label"] == "vadd<int, 4>"
    assert kernels[1]["kernel"] is None


# --- the schema: as much of JSON Schema as it uses ---

TYPES = {"null": type(None), "integer": int, "number": (int, float), "string": str, "object": dict,
         "array": list, "boolean": bool}


def fits(schema, value):
    if "type" in schema:
        if (not isinstance(value, TYPES[schema["type"]])
                or isinstance(value, bool) != (schema["type"] == "boolean")):
            return False
    if ("const" in schema and value != schema["const"] or "enum" in schema
            and value not in schema["enum"]):
        return False
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return False
    if "anyOf" in schema and not any(fits(other, value) for other in schema["anyOf"]):
        return False
    if isinstance(value, list):
        return schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)) and \
            all(fits(schema.get("items", {}), item) for item in value)
    return not isinstance(value, dict) or fits_object(schema, value)


def fits_object(schema, value):
    if not set(schema.get("required", ())) <= set(value):
        return False
    others = schema.get("additionalProperties", True)
    for key, member in value.items():
        known = schema.get("properties", {}).get(key)
        if known is None and others is False:
            return False
        if not fits(known if known is not None else others if isinstance(others, dict) else {},
                    member):
            return False
    return True


@pytest.fixture(scope="module", name="schema")
def read_schema():
    return json.loads((GOLDEN / "trace.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["trace.json", "trace-all.json"])
def test_every_line_is_as_the_schema_says(schema, name):
    for line in read_json(name):
        assert fits(schema, line), line


def test_the_schema_describes_every_key(schema):
    words = (GOLDEN / "trace-all.tsv").read_bytes().split(b"\n")[0].decode().split("\t")
    assert set(words) <= set(schema["properties"])
    assert all(entry["description"] for entry in schema["properties"].values())


@pytest.mark.parametrize("change",
                         [{"pid": "1"}, {"ptr": 5}, {"grid": [1, 2]}, {"new": 1}, {"schema": 2},
                          {"line": "call"}, {"failed": False}, {"details": {"x": {"y": 1}}},
                          {"dst": {"unreadable": "8"}}, {"size": 1.5}])
def test_the_schema_refuses_other_lines(schema, change):
    line = read_json("trace-all.json")[0]
    assert not fits(schema, {**line, **change})


# --- the table ---

def test_nothing_in_the_table_moves_a_terminal():
    for name in ("trace.table", "trace-all.table", "trace.160", "trace.100", "trace.80"):
        text = (GOLDEN / name).read_bytes().decode("utf-8")
        text = re.sub("\x1b\\[(2|31|33)m|\x1b\\[0m", "", text) if "table" not in name else text
        assert not re.search(
            "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize("name", ["trace.160", "trace.100", "trace.80"])
def test_colours_end_with_their_line(name):
    for line in (GOLDEN / name).read_text(encoding="utf-8").split("\n"):
        codes = re.findall("\x1b\\[([0-9]+)m", line)
        assert codes in ([], ["31", "0"], ["2", "0"], ["33", "0"])
