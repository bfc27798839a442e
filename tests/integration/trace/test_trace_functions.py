# SPDX-License-Identifier: BSD-2-Clause
"""Every function of the table: seen once by its name, with each argument's value as it was passed.

The libraries are stand-ins that export every function of the table, do nothing and return 0;
one of the functions is in no table.
"""
import json
import re
import struct
import subprocess

import pytest

from decode import table
from lib import paths
from lib.script import PROGRAMS, script

FLAGS = ["-O1", "-shared", "-fPIC", "-fno-omit-frame-pointer", "-fcf-protection=none",
         "-mno-omit-leaf-frame-pointer", "-fno-ipa-icf", "-fno-builtin", "-w"]
SONAMES = {("driver", 1): "libcuda.so.1", ("runtime", 13): "libcudart.so.13",
           ("runtime", 12): "libcudart.so.12"}
# Shown in another way than the value itself.
NOT_VALUES = {"func", "kernelParams", "args", "extra", "config"}
LAUNCHES = {"launch", "launch_list", "graph_launch"}
# Structures of copies, of which the two sides are shown; unit tests have them.
COPIES = re.compile(r"MEMCPY|cudaMemcpy3D|Memcpy3DBatch")


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory):
    """Makes the stand-in of a layer and version, with `more` functions."""
    made = {}

    def make(layer, major, more=()):
        key = layer, major, tuple(more)
        if key not in made:
            directory = tmp_path_factory.mktemp("stand-in")
            source, library = directory / "stand_in.c", directory / SONAMES[layer, major]
            symbols = [*table.in_library(layer, major), *more]
            source.write_text("".join(f"int {symbol}(void) {{ return 0; }}\n"
                                      for symbol in symbols))
            subprocess.run(["gcc", *FLAGS, f"-Wl,-soname,{SONAMES[layer, major]}", "-o", library,
                            source], check=True)
            made[key] = library
        return made[key]

    return make


def shown_values(details):
    """All values of the details: numbers, also hexadecimal ones; texts;
    addresses of unreadable memory."""
    values = []
    for value in details.values():
        for one in value if isinstance(value, list) else [value]:
            one = one["unreadable"] if isinstance(one, dict) and "unreadable" in one else one
            values.append(int(one, 16) if isinstance(one, str) and one.startswith("0x") else one)
    return values


def unit_of(row):
    return next((int(flag[len("unit="):]) for flag in row.flags if flag.startswith("unit=")), 1)


def shows(values, row, value, there):
    """Whether a value is shown, or what is where it points: as much of it as the type has."""
    right = {value, value * unit_of(row), there}
    if isinstance(there, int):
        data = there.to_bytes(8, "little")
        right |= {int.from_bytes(data[:size], "little") for size in (1, 2, 4)}
        reals = [pytest.approx(real)
                 for real in struct.unpack("f", data[:4]) + struct.unpack("d", data)]
        if any(one in reals for one in values if isinstance(one, float)):
            return True
        if any(one.startswith(data.hex()) for one in values if isinstance(one, str)):
            return True
    return any(one in values for one in right if one is not None)


def missing(row, told, details):
    """The arguments whose value the line does not have."""
    values = shown_values(details)
    lacking = []
    for name, kind, value, there in told["arguments"]:
        taken_apart = kind.endswith("*") and any(key.startswith(f"{name}.") for key in details)
        if value is None or name in NOT_VALUES or taken_apart or COPIES.search(kind):
            continue
        if not shows(values, row, value, there):
            lacking.append(f"{row.symbol}: {name} ({kind}) {value:#x} is not in {details}")
    return lacking


@pytest.mark.parametrize("layer, major", SONAMES)
def test_every_function(tracer, stand_in, layer, major, tmp_path):
    library = stand_in(layer, major)
    result = tracer.run(paths.PYTHON, PROGRAMS / "every_function.py", library, layer,
                        major, tmp_path / "told", args=["-e", "all", "--api", layer],
                        columns="time,event,details,result")
    told = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert len(told) > 350 and result.lost == 0
    assert result.events == [one["symbol"] for one in told]
    rows = table.in_library(layer, major)
    lacking = [text for line, one in zip(result.lines, told, strict=True)
               if rows[one["symbol"]].operation not in LAUNCHES
               and "gridDim" not in rows[one["symbol"]].names
               for text in missing(rows[one["symbol"]], one, line["details"])]
    assert lacking == [], f"{len(lacking)} arguments are not shown:\n" + "\n".join(lacking[:40])


@pytest.mark.parametrize("address", ["dead0000", "ffffffff81000000", "8000000000000000", "8", "0"])
@pytest.mark.parametrize("layer, major", [("driver", 1), ("runtime", 13)])
def test_pointers_that_cannot_be_read(tracer, stand_in, layer, major, address, tmp_path):
    """Such pointers passed to every function: each has one line,
    with only the addresses in their place."""
    result = tracer.run(paths.PYTHON, PROGRAMS / "every_function.py",
                        stand_in(layer, major), layer, major,
                        tmp_path / "told", address, args=["-e", "all", "--api", layer, "--args", 4],
                        columns="time,event,details,kernel,args")
    told = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert result.events == [one["symbol"] for one in told] and result.lost == 0
    unreadable = {one["unreadable"] for line in result.lines for one in line["details"].values()
                  if isinstance(one, dict) and "unreadable" in one}
    assert unreadable == ({f"0x{address}"} if address != "0" else set())
    assert {line["kernel"] for line in result.lines} == {None}


@pytest.mark.parametrize("layer, major", [("driver", 1), ("runtime", 13)])
def test_every_function_by_each_kind_of_links(tracer_by, stand_in, layer, major, tmp_path):
    result = tracer_by.run(paths.PYTHON, PROGRAMS / "every_function.py", stand_in(layer, major),
                           layer, major, tmp_path / "told", args=["-e", "all", "--api", layer],
                           columns="time,event")
    told = [json.loads(line)["symbol"] for line in (tmp_path / "told").read_text().splitlines()]
    assert result.events == told and result.lost == 0


@pytest.mark.parametrize("selection",
                         ["all", "cuFutureThing", "cuFuture*", "!cuInit,cuFutureThing"])
def test_a_function_of_a_newer_library(tracer_by, stand_in, selection):
    """By its name, with six raw arguments."""
    library = stand_in("driver", 1, ["cuFutureThing", "cuFutureThing_v2", "notCuda"])
    result = tracer_by.run(*script(f"""
        library = Library({str(library)!r})
        library.notCuda(1)
        library.cuFutureThing(0x11, 0x2222222222222222, 0x33, 0x44, 0x55, 0x66, 0x77)
    """), args=["-e", selection])
    line, = result.of("cuFutureThing")
    assert set(result.events) == {"cuFutureThing"}
    assert list(shown_values(line["details"])) == [0x11, 0x2222222222222222, 0x33, 0x44, 0x55, 0x66]


def test_a_function_of_a_newer_library_that_was_not_asked_for(tracer, stand_in):
    library = stand_in("driver", 1, ["cuFutureThing"])
    result = tracer.run(*script(f"Library({str(library)!r}).cuFutureThing(1)"))
    assert result.lines == []


def test_more_unknown_functions_than_there_is_room_for(tracer, stand_in):
    """Those that have room are traced, and it is said that others are not."""
    names = [f"cuFuture{i}" for i in range(600)]
    library = stand_in("driver", 1, names)
    result = tracer.run(*script(f"""
        library = Library({str(library)!r})
        for i in range(600):
            getattr(library, f"cuFuture{{i}}")(1)
    """), args=["-e", "cuFuture*"])
    warned, = re.findall(r"(\w+) and maybe others are not traced: .* there is room for (\d+)",
                         result.stderr)
    assert len(result.events) == int(warned[1]) == len(set(result.events)) > 300
    assert warned[0] in names and warned[0] not in result.events


def test_structures_by_value(tracer_by, stand_in):
    """In registers and on the stack."""
    library = stand_in("runtime", 13)
    result = tracer_by.run(*script(f"""
        library = Library({str(library)!r})
        class Extent(ctypes.Structure):
            _fields_ = [("width", ctypes.c_size_t), ("height", ctypes.c_size_t),
                        ("depth", ctypes.c_size_t)]
        class Handle(ctypes.Structure):
            _fields_ = [("bytes", ctypes.c_ubyte * 64)]
        class Dim3(ctypes.Structure):
            _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]
        out_words = (ctypes.c_uint64 * 4)(0x7000, 512, 300, 20)
        library.cudaMalloc3D(out_words, Extent(300, 20, 3))
        library.cudaIpcOpenMemHandle(ref(out()), Handle((ctypes.c_ubyte * 64)(*range(64))), 1)
        library.cudaLaunchKernel(0x1000, Dim3(9, 8, 7), Dim3(6, 5, 4), None, 33, 0x2000)
    """), args=["-e", "all", "--api", "runtime"])
    by_name = {line["event"]: line for line in result.lines}
    assert {300, 20, 3} <= set(shown_values(by_name["cudaMalloc3D"]["details"]))
    assert bytes(range(64)).hex() in json.dumps(by_name["cudaIpcOpenMemHandle"]["details"])
    launch = by_name["cudaLaunchKernel"]
    assert (launch["grid"], launch["block"], launch["shmem"],
            launch["stream"]) == ([9, 8, 7], [6, 5, 4], 33, "0x2000")


def test_many_arguments(tracer_by, stand_in):
    """Of those on the stack, too."""
    library = stand_in("driver", 1)
    result = tracer_by.run(*script(f"""
        library = Library({str(library)!r})
        library.cuLaunchKernel(0x1000, 2, 3, 4, 5, 6, 7, 8, 0x9000, None, None)
        library.cuMemcpyBatchAsync_v2(0xa0, 0xb0, 0xc0, 0, 0xd0, 0xe0, 0xf0, 0x1230)
        library.cuGetProcAddress_v2(b"cuInit", ref(out()), 13000, 1, None)
    """), args=["-e", "all", "--api", "driver"])
    launch, batch, _ = result.lines
    assert (launch["grid"], launch["block"], launch["shmem"],
            launch["stream"]) == ([2, 3, 4], [5, 6, 7], 8, "0x9000")
    assert batch["stream"] == "0x1230"
    assert {0xa0, 0xb0, 0xd0, 0xf0} <= set(shown_values(batch["details"]))
