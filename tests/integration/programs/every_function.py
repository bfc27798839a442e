# SPDX-License-Identifier: BSD-2-Clause
"""Calls every function of the table in a stand-in library, with values that no other call has.

usage: every_function.py LIBRARY LAYER MAJOR RESULTS [ADDRESS]

RESULTS gets a line of JSON for each function: symbol, and of each argument its name and type,
the value that was passed, and what is where a pointer points. With ADDRESS all pointers are that.
"""
import ctypes
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from decode import passing, table  # noqa: E402

GARBAGE = 0xbad0bad0 << 32
BYTES = {"unsigned char": 1, "unsigned short": 2}
kept = []  # what pointers point to


def number(row, index):
    """A positive number of 31 bits that no other argument has, and no enumeration."""
    return 0x40000000 | row.number << 12 | index << 4 | 0xd


def pointed(kind, row, index):
    """(the address, what is there) of a block whose first word is told; a string for characters."""
    block = (ctypes.c_uint64 * 64)()
    text = ctypes.create_string_buffer(f"{row.symbol}/{index}".encode(), 512)
    if kind in ("const char *", "char *"):
        kept.append(text)
        return ctypes.addressof(text), text.value.decode()
    if kind == "const char **":
        block[0] = ctypes.addressof(text)
        kept.extend((text, block))
        return ctypes.addressof(block), text.value.decode()
    block[0] = number(row, index) | 0x5a5a << 44
    kept.append(block)
    return ctypes.addressof(block), block[0]


def prepare(kind, row, index, address):
    """(what ctypes passes, the value, what it points to)"""
    if kind in passing.BY_VALUE:
        return passing.BY_VALUE[kind](), None, None
    if kind in ("float", "double"):
        return (ctypes.c_float if kind == "float" else ctypes.c_double)(1.5), None, None
    if kind.endswith("*") and address is not None:
        return ctypes.c_uint64(address), address, None
    if kind.endswith("*"):
        address, there = pointed(kind, row, index)
        return ctypes.c_uint64(address), address, there
    value = number(row, index)
    handle = kind.startswith("cuda") and kind.endswith("_t") and kind != "cudaError_t"
    if kind in passing.WORDS or kind in passing.HANDLES or handle:
        value |= 0x7b7b << 44
        return ctypes.c_uint64(value), value, None
    if kind in BYTES:
        value = (row.number * 16 + index) % (1 << 8 * BYTES[kind])
        return ctypes.c_uint64(GARBAGE | value), value, None
    if kind in passing.HALVES or kind.startswith("enum "):
        return ctypes.c_uint64(GARBAGE | value), value, None
    return ctypes.c_uint64(value), value, None


def main(path, layer, major, results, address=None):
    address = address and int(address, 16)
    library = ctypes.CDLL(path)
    with open(results, "w", encoding="utf-8") as lines:
        for symbol, row in sorted(table.in_library(layer, int(major)).items()):
            if row.arguments is None or not hasattr(library, symbol):
                continue
            prepared = [prepare(a.type, row, i, address) for i, a in enumerate(row.arguments)]
            function = library[symbol]
            function.restype = ctypes.c_int
            # A structure that it returns goes where a hidden first argument points.
            hidden = [ctypes.create_string_buffer(64)] if symbol == "cudaCreateChannelDesc" else []
            function(*hidden, *[value for value, _, _ in prepared])
            told = [[a.name, a.type, value, there]
                    for a, (_, value, there) in zip(row.arguments, prepared)]
            print(json.dumps({"symbol": symbol, "arguments": told}), file=lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
