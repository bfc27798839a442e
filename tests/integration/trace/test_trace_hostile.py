# SPDX-License-Identifier: BSD-2-Clause
"""Names, strings and pointers of a malicious program: every line stays one line,
and has what was there."""
import csv
import io
import json
import unicodedata

import pytest

from lib import paths
from lib.script import script

# Each would damage a table, a line of TSV or a terminal.
NAMES = ["tab\there", "line\nbreak", "carriage\rreturn", 'quo"te', "back\\slash",
         "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "nul-free\x01\x02\x7f",
         "caf\u00e9 \u2603 \U0001f600", "\u202eright to left", "comma,semi;colon", "{\"a\":1}",
         "<unreadable 0x0>", " leading", "-", "\u009b31m"]
BYTES = [b"\xff\xfe\x80broken", b"half\xc3", b"\xed\xa0\x80surrogate", b"\xf4\x90\x80\x80"]


def calls_with(names):
    """
    Loads an image in which the simulator finds any name, requests kernels of the names and launches
    each; the last one is an ordinary one.
    """
    return script(f"""
        start()
        loaded = made(driver.cuModuleLoadData, b"\\x7fELF" + bytes(4096))
        for name in [*{names!r}, "plain"]:
            data = name if isinstance(name, bytes) else name.encode()
            kernel = made(driver.cuModuleGetFunction, loaded, data)
            need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, None))
    """)


def control_free(text):
    """No control character but the end of the line, no way to reorder what is shown."""
    return not any(unicodedata.category(c) in ("Cc", "Cf") and c not in "\n\t" for c in text)


def test_names_in_json(tracer_by):
    """Whole as arguments; what cannot be a kernel's name is not made one."""
    result = tracer_by.run(*calls_with(NAMES), args=["-e", "cuModuleGetFunction,cuLaunchKernel"],
                           columns="time,event,details,kernel")
    assert [line["details"]["name"]
            for line in result.of("cuModuleGetFunction")] == [*NAMES, "plain"]
    kernels = [line["kernel"] for line in result.of("cuLaunchKernel")]
    assert kernels[-1] == "plain"
    assert all(kernel in (None, name)
               for kernel, name in zip(kernels, [*NAMES, "plain"], strict=True))


def test_bytes_that_are_no_text_in_json(tracer):
    """Every line is valid UTF-8 and JSON, and names differ where bytes did."""
    result = tracer.run(*calls_with(BYTES), args=["-e", "cuModuleGetFunction"],
                        columns="time,event,details")
    assert len({line["details"]["name"] for line in result.lines}) == len(BYTES) + 1


@pytest.mark.parametrize("form", ["tsv", "table"])
def test_names_in_text(tracer, form):
    """A name stays in its line, and in TSV in its field."""
    result = tracer.run(*calls_with(NAMES + BYTES),
                        args=["-e", "cuModuleGetFunction,cuLaunchKernel", "-o",
                              "details,kernel,event"],
                        form=form, columns=None)
    lines = result.text.split("\n")[:-1]
    assert len(lines) == 1 + 2 * len(NAMES + BYTES + ["plain"])
    if form == "tsv":
        assert [line.split("\t")[2] for line in lines[1:]] == \
            ["cuModuleGetFunction", "cuLaunchKernel"] * len(NAMES + BYTES + ["plain"])
    assert control_free(result.text)


@pytest.mark.parametrize("length", [255, 256, 257, 511, 1023, 4096])
def test_long_kernel_names(tracer_by, length):
    """Whole."""
    name = "n" * length
    result = tracer_by.run(*calls_with([name]), args=["-e", "cuLaunchKernel"],
                           columns="time,event,kernel")
    assert [line["kernel"] for line in result.lines] == [name, "plain"]


def test_process_names(tracer_by):
    names = [name.encode()[:15] for name in NAMES] + [b"\xff\xfe\x80broken"]
    result = tracer_by.run(*script(f"""
        libc = ctypes.CDLL(None)
        for name in {names!r}:
            if not os.fork():
                libc.prctl(15, name, 0, 0, 0)
                need(driver.cuInit(0))
                os._exit(0)
            os.wait()
    """), args=["-e", "cuInit"], columns="time,process,event")
    shown = [line["process"] for line in result.lines]
    assert len(shown) == len(names)
    for name, line in zip(names, shown, strict=True):
        try:
            assert line == name.decode()
        except UnicodeDecodeError:
            assert "broken" in line or "caf" in line or "title" in line or "right" in line


def test_process_names_in_the_table(tracer):
    names = [name.encode()[:15] for name in NAMES]
    result = tracer.run(*script(f"""
        libc = ctypes.CDLL(None)
        for name in {names!r}:
            if not os.fork():
                libc.prctl(15, name, 0, 0, 0)
                need(driver.cuInit(0))
                os._exit(0)
            os.wait()
    """), args=["-e", "cuInit"], form="table", columns=None)
    assert len(result.text.splitlines()) == 1 + len(names)
    assert control_free(result.text)


# The call does nothing: the simulated library does not look at its arguments.
FAILS = {"CUDA_SIM_FAIL": "cuModuleGetFunction:*=500,cuModuleLoad:*=301"}
STRINGS = script("""
    start()
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    pages = libc.mmap(None, ctypes.c_size_t(12288), 3, 0x22, -1, ctypes.c_size_t(0))
    libc.munmap(ctypes.c_void_p(pages + 8192), ctypes.c_size_t(4096))
    def at_end(text):
        # The last byte is the last that is mapped.
        address = pages + 8192 - len(text)
        ctypes.memmove(address, text, len(text))
        return address
    for length in (0, 1, 7, 8, 9, 100, 254, 255):
        driver.cuModuleGetFunction(ref(out()), 0, at_end(b"e" * length + b"\\0"))
    # Without its end within what is mapped.
    driver.cuModuleGetFunction(ref(out()), 0, at_end(b"no end"))
    driver.cuModuleGetFunction(ref(out()), 0, 0xdead0000)
    driver.cuModuleGetFunction(ref(out()), 0, 0xffffffff81000000)
    driver.cuModuleGetFunction(ref(out()), 0, 0x8000000000000000)
    driver.cuModuleGetFunction(ref(out()), 0, None)
    driver.cuModuleGetFunction(ref(out()), 0, b"l" * 4096)
""")


def test_strings(tracer_by):
    """At the end of a mapped page, unreadable, in the kernel's half, NULL,
    and longer than the shown length."""
    result = tracer_by.run(*STRINGS, args=["-e", "cuModuleGetFunction"], env=FAILS, form="json")
    texts = [json.dumps(line["details"]) for line in result.lines]
    assert len(texts) == 14
    for text, length in zip(texts, (0, 1, 7, 8, 9, 100, 254, 255)):
        assert "e" * length in text and "e" * (length + 1) not in text.replace("name", "")
    assert "0xdead0000" in texts[9]
    assert "0xffffffff81000000" in texts[10]
    assert "0x8000000000000000" in texts[11]
    assert "l" * 200 in texts[13] and "l" * 257 not in texts[13]


def test_strings_in_the_table(tracer):
    result = tracer.run(*STRINGS, args=["-e", "cuModuleGetFunction"], env=FAILS, form="table",
                        columns=None)
    lines = result.text.splitlines()[1:]
    assert len(lines) == 14
    for line, address in zip(lines[9:12], ("0xdead0000", "0xffffffff81000000",
                                           "0x8000000000000000"), strict=True):
        assert f"<unreadable {address}>" in line
    assert '"...' in lines[13]


def test_a_handle_that_is_none(tracer_by):
    """No name is made up for it."""
    result = tracer_by.run(*script("""
        start()
        for handle in (0x10, 0xdead0000, 0xffffffff81000000):
            driver.cuLaunchKernel(handle, 1, 1, 1, 1, 1, 1, 0, 0, None, None)
    """), args=["-e", "launch"], env={"CUDA_SIM_FAIL": "cuLaunchKernel:*=400"},
        columns="time,event,kernel,result")
    assert [line.get("kernel") for line in result.lines] == [None] * 3
    assert [line["result"] for line in result.lines] == ["CUDA_ERROR_INVALID_HANDLE"] * 3


def test_csv_readers_take_the_tsv(tracer):
    """As people read it."""
    result = tracer.run(paths.workload("traced"), "--rounds", 20, form="tsv", columns=None)
    rows = list(csv.DictReader(io.StringIO(result.text), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == len(result.text.splitlines()) - 1 and all(None not in row for row in rows)
