#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes the seeds of the fuzz targets that are binary: small shared objects of the compiler, memory
of Python processes, records of rings, a cache of the loader. Those that are text, and what was
found once, are in tests/fuzz/corpus.

usage: tests/fuzz/seeds.py FOLDER
"""
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = r"""
int _r_debug, _PyRuntime, PyCode_Type, PyUnicode_Type, PyFrame_Type, Py_Version;
unsigned _thread_db_pthread_specific[3] = {64, 1, 784};
unsigned _thread_db_sizeof_pthread_key_data[1] = {16};
unsigned _thread_db_pthread_key_data_data[3] = {64, 1, 8};
int _PyEval_EvalFrameDefault(void) { return 1; }
__attribute__((section(".PyRuntime"))) int runtime = 1;
__attribute__((noinline)) int _dl_debug_state(int n)
{
	volatile char room[64];
	room[n & 63] = 1;
	return room[0];
}
int cuMemAlloc_v2(int n) { return _dl_debug_state(n) + 1; }
int cudaMalloc(int n) { return cuMemAlloc_v2(n) * 3; }
static __attribute__((noinline)) int hidden(int n) { return cudaMalloc(n) ^ n; }
int cudaFree(int n) { return hidden(n) + hidden(n + 1); }
__attribute__((weak)) int cuUnknownFunction(int n) { return n; }
__asm__(".text\n.globl odd\n.type odd,@function\nodd:\n.cfi_startproc\n"
	".cfi_signal_frame\npush %rbp\n"
	".cfi_def_cfa_offset 16\n.cfi_offset 6,-16\n.cfi_remember_state\nnop\n"
	".cfi_escape 0x0f,3,0x77,8,6\n.cfi_escape 0x10,3,2,0x77,8\n"
	".cfi_escape 0x16,12,2,0x77,16\nnop\n"
	".cfi_restore_state\n.cfi_register 3,12\n.cfi_same_value 13\nnop\n"
	".cfi_undefined 16\npop %rbp\nret\n.cfi_endproc\n"
	".size odd,.-odd\n"
	".globl \"cudaOdd:*{name}\"\n.type \"cudaOdd:*{name}\",@function\n"
	"\"cudaOdd:*{name}\":\nret\n.size \"cudaOdd:*{name}\",1\n");
"""

# Two probe points, one with a semaphore, and a note of another type between them.
POINTS = r"""
unsigned short semaphore __attribute__((section(".probes"))) = 0;
long counter = 1;
#define POINT(type, where, watchers, name, operands) \
	".4byte 8, 4f-3f, " #type "\n.asciz \"stapsdt\"\n3: .8byte " where ", base, " \
	watchers "\n" \
	".asciz \"provider\"\n.asciz \"" name "\"\n.asciz \"" operands "\"\n4: .balign 4\n"
__asm__(".text\n1: nop\n2: nop\nret\n.pushsection .note.stapsdt,\"?\",\"note\"\n"
	POINT(3, "1b", "semaphore", "malloc", "-8@%rax 4@$5 8@counter(%rip)")
	POINT(4, "1b", "0", "other", "")
	POINT(3, "2b", "0", "free", "8@-8(%r12,%r13,2) 1@%ah")
	".popsection\n.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	"base: .space 1\n.popsection\n");
"""


def build(folder, name, *flags):
    source, out = folder / "seed.c", folder / name
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", "-Os", "-Wl,--build-id",
                    "-Wl,-z,noseparate-code", "-Wl,-z,norelro", "-o", out, *flags, source],
                   check=True)
    return out


def without_sections(data):
    """The loader needs none: what is there is told by PT_DYNAMIC then."""
    data = bytearray(data)
    data[40:48] = bytes(8)
    data[58:64] = bytes(6)
    return bytes(data)


class Seeds:
    def __init__(self, folder):
        self.folder = folder

    def put(self, target, name, data):
        path = self.folder / target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def symbol_place(path, name):
    """The address of a symbol."""
    listed = subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return next(int(line.split()[0], 16) for line in listed.splitlines()
                if line.endswith(f" {name}"))


def objects(seeds, folder):
    plain = build(folder, "plain.so", "-Wl,-soname,libcudart.so.13", "-Wl,--hash-style=gnu")
    other = build(folder, "other.so", "-Wl,-soname,libcuda.so.1", "-Wl,--hash-style=sysv",
                  "-Wl,-I/lib/ld-linux.so")
    subprocess.run(["objcopy", f"--add-gnu-debuglink={other}", plain, folder / "linked.so"],
                   check=True)
    subprocess.run(["objcopy", "--only-keep-debug", plain, folder / "only.debug"], check=True)
    files = {path.name: path.read_bytes()
             for path in (plain, other, folder / "linked.so", folder / "only.debug")}
    for name, data in files.items():
        for how in (0, 1, 2, 6, 8, 16):
            seeds.put("elf", f"{name}.{how}", bytes([how]) + data)
    for name in ("plain.so", "other.so"):
        seeds.put("elf", f"{name}.bare", b"\0" + without_sections(files[name]))
    for number, flags in enumerate((["-gdwarf-4"], ["-gdwarf-5"], ["-gdwarf-5", "-gz=zlib"],
                                    ["-gdwarf-3", "-gstrict-dwarf"], ["-gdwarf-5", "-gsplit-dwarf"],
                                    ["-gdwarf-4", "-fdebug-types-section"])):
        seeds.put("source_lines", f"debug{number}", build(folder, "debug.so", *flags).read_bytes())
    clang = folder / "clang.so"
    subprocess.run(["clang", "-shared", "-fPIC", "-nostdlib", "-Os", "-gdwarf-5", "-o", clang,
                    folder / "seed.c"], check=True)
    seeds.put("source_lines", "clang", clang.read_bytes())
    stacks(seeds, {"plain": plain, "other": other, "clang": clang})
    debuginfod(seeds, folder)
    check(seeds, files)
    points(seeds, folder)


def points(seeds, folder):
    """A library with static probe points."""
    source, out = folder / "points.c", folder / "points.so"
    source.write_text(POINTS)
    subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", "-Os", "-Wl,-z,noseparate-code", "-o",
                    out, source], check=True)
    seeds.put("usdt_notes", "points", b"\x80" + out.read_bytes())
    subprocess.run(["objcopy", "--remove-section=.stapsdt.base", out], check=True)
    seeds.put("usdt_notes", "without_base", b"\x80" + out.read_bytes())


def debuginfod(seeds, folder):
    """An object without its symbols, and the file that has them."""
    whole, stripped, debug = (build(folder, "whole.so", "-gdwarf-5"), folder / "stripped.so",
                              folder / "whole.debug")
    subprocess.run(["strip", "-o", stripped, whole], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", whole, debug], check=True)
    for number, path in enumerate((stripped, whole)):
        length = len(path.read_bytes())
        for how in range(5):
            for where in (0, 1, 2) if how == 1 else (0,):
                seeds.put("debuginfod", f"{number}.{how}.{where}",
                          struct.pack("<BBH", how, where,
                                      length) + path.read_bytes() + debug.read_bytes())


MAPS = """7f0000000000-7f0000008000 r-xp 00000000 08:01 5 /usr/lib/libcuda.so.580.65.06
7f0000010000-7f0000018000 r-xp 00000000 08:01 6 /opt/libcudart.so.13 (deleted)
7f0000020000-7f0000021000 r-xp 00000000 08:01 7 /usr/bin/python3.12
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0 [vdso]
"""
STATUS = ("Name:\tpython3\nState:\tS (sleeping)\nNSpid:\t77\t1\nUid:\t0\t0\t0\t0\nSeccomp:\t2\n"
          "Seccomp_filters:\t1\n")
STAT = ("1 (py) S\33[2J) S 0 1 1 0 -1 4194560 1 1 0 0 1 1 1 1 20 0 1 0 12 1 1 18446744073709551615 "
        "1 1 1 0 0\n")
CGROUP = f"0::/kubepods.slice/kubepods-pod1/cri-containerd-{'0123456789abcdef' * 4}.scope\n"
MACHINE = ("         0          0 4294967295\n", "         0     100000      65536\n", "3\n",
           "-1\n", "pid:[4026531836]", "none [integrity] confidentiality\n", "5.10.0-28-amd64",
           "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Mon Jan 1 00:00:00 UTC "
           "2026\nGCC version:  12.2.0\n")


def check(seeds, files):
    for name, data in files.items():
        for how in (0, 2, 6, 10):
            texts = (MAPS, STATUS, STAT, "0 100000 65536\n", CGROUP, "/usr/bin/python3.12")
            seeds.put("check", f"{name}.{how}",
                      bytes([how]) + b"\0".join(text.encode() for text in texts) + b"\0" + data)
    for number, text in enumerate(MACHINE):
        seeds.put("check", f"machine{number}",
                  bytes([1 | number % 2 << 1]) + b"/usr/lib/libcuda.so.580.65.06\0" + text.encode())


def stacks(seeds, paths):
    """The target maps the file's offsets as they are, which for these are the addresses."""
    for name, path in paths.items():
        for function in ("hidden", "cudaFree", "odd", "cudaMalloc"):
            try:
                at = symbol_place(path, function)
            except StopIteration:
                continue
            inside = [at + 4 * i for i in range(4)]
            # To the stack's beginning, and to the copy's end.
            for end in ([0x8000, 0x8008, 0x8010, 0x8018, 0], [], [at + 5] * 40):
                words = inside * 4 + end
                seeds.put("unwind", f"{name}.{function}.{len(end)}",
                          struct.pack("<HHB", at + 5, 0x8010, len(words))
                          + struct.pack(f"<{len(words)}H", *words) + path.read_bytes())


BASE = 0x10000
CODE, CODE_TYPE, TEXT_TYPE, FRAME_TYPE, FRAMES, KEY = (
    BASE + at for at in (0x100, 0x400, 0x600, 0x800, 0xa00, 0xf0))
# For src/symbol/python_offsets.c: file, name, qualified name,
# table and first line in a code object; the characters of a string.
CODES = {8: (104, 112, 0, 120, 40, 48), 9: (104, 112, 0, 120, 40, 48),
         10: (104, 112, 0, 120, 40, 48), 11: (112, 120, 128, 136, 72, 48),
         12: (112, 120, 128, 136, 68, 40), 13: (112, 120, 128, 136, 68, 40),
         14: (112, 120, 128, 136, 68, 40)}
# What frames are: state's frame and id, between them, back, code, instruction.
STATES = {8: (24, 176, None, 24, 32, 104), 9: (24, 176, None, 24, 32, 104),
          10: (24, 176, None, 24, 32, 96), 11: (56, 152, 8, 48, 32, 56), 12: (56, 136, 0, 8, 0, 56),
          13: (72, 152, None, 8, 0, 56), 14: (72, 152, None, 8, 0, 56)}


class Memory:
    def __init__(self, size=0x1400):
        self.bytes = bytearray(size)

    def word(self, address, value):
        self.bytes[address - BASE:address - BASE + 8] = struct.pack("<Q", value)

    def put(self, address, data):
        self.bytes[address - BASE:address - BASE + len(data)] = data

    def text(self, address, characters, at):
        for offset, value in ((0, 2), (8, TEXT_TYPE), (16, len(characters)), (24, 77), (32, 0x64)):
            self.word(address + offset, value)
        self.put(address + at, characters)

    def type(self, address, name, size, members):
        self.word(address + 24, address + 0x100)
        self.put(address + 0x100, name + b"\0")
        self.word(address + 32, size)
        self.word(address + 240, members)


def code_object(memory, minor):
    file, name, qualified, table, first, characters = CODES[minor]
    memory.word(CODE, 1)
    memory.word(CODE + 8, CODE_TYPE)
    memory.word(CODE + file, CODE + 0xe0)
    memory.word(CODE + (qualified or name), CODE + 0x140)
    memory.word(CODE + name, CODE + 0x140)
    memory.word(CODE + table, CODE + 0x1c0)
    memory.put(CODE + first, struct.pack("<I", 12))
    memory.text(CODE + 0xe0, b"/a/model.py", characters)
    memory.text(CODE + 0x140, b"forward", characters)
    for offset, value in ((0, 1), (8, BASE), (16, 24)):
        memory.word(CODE + 0x1c0 + offset, value)
    memory.put(CODE + 0x1e0,
               bytes([0x80, 0, 0xd8, 4, 0x88, 0xf0, 0, 1, 2, 3, 0x9f, 4, 1, 2, 3, 4] * 2))


def frames(memory, minor):
    state_frame, state_id, between, back, code, instruction = STATES[minor]
    state = FRAMES + 0x80
    memory.word(FRAMES + 16, FRAMES + 0x40)  # the thread's block of values
    memory.word(FRAMES + 0x40 + 8, state)
    memory.word(state + state_id, FRAMES)
    frame = FRAMES + 0x180
    memory.word(state + state_frame, frame if between is None else state + 0xd0)
    if between is not None:
        memory.word(state + 0xd0 + between, frame)
    for i in range(3):
        memory.word(frame + back, frame + 0x90 if i < 2 else 0)
        memory.word(frame + code, CODE)
        memory.word(frame + instruction, CODE + 0xd0 + 2 * i if minor > 10 else i)
        if i < 2:
            memory.put(frame + 68, bytes([i, 0, i]))
        frame += 0x90


def python(seeds):
    for minor in CODES:
        for what in range(4):
            memory = Memory()
            code_object(memory, minor)
            frames(memory, minor)
            if what == 2:
                # The types, and since 3.13 the head of the interpreter's own table.
                memory.type(CODE_TYPE, b"code",
                            {11: 184, 12: 192, 13: 200, 14: 208}.get(minor, 144), CODE_TYPE + 0x180)
                memory.type(TEXT_TYPE, b"str", 80 if minor < 12 else 64, 0)
                memory.type(FRAME_TYPE, b"frame", 400, FRAME_TYPE + 0x180)
                for place, name, offset in ((CODE_TYPE, b"co_name", CODES[minor][1]),
                                            (FRAME_TYPE, b"f_back", 24)):
                    memory.word(place + 0x180, place + 0x1e0)
                    memory.word(place + 0x190, offset)
                    memory.put(place + 0x1e0, name + b"\0")
                memory.put(BASE, b"xdebugpy" + struct.pack("<QQ", 0x030000f0 | minor << 16, 0))
            if what == 3:
                memory.text(CODE, b"abc\xe9\0\xff", CODES[minor][5])
            if what == 3 and minor % 2:
                memory = Memory(0x1800)
                memory.text(CODE, b"", CODES[minor][5])
                memory.word(CODE + 16, 1200)
                memory.word(CODE + 32, 0x30)  # four bytes a character
            seeds.put("python_code", f"3.{minor}.{what}",
                      bytes([minor - 8, what]) + bytes(memory.bytes))


def python_lines(seeds):
    tables = (bytes([6, 1, 8, 1, 10, 255, 255, 127, 2, 128]),
              bytes([6, 1, 8, 128, 10, 255, 255, 127, 2, 0]),
              bytes([0x80, 0, 0xd8, 4, 0x88, 0xf0, 0, 1, 2, 3, 0xf7, 64 | 9, 1, 2, 3, 0xff, 0xe9,
                     65, 66, 67, 1, 0x80]))
    for form, table in enumerate(tables):
        for offset in (0, 5, 30):
            seeds.put("python_lines", f"{form}.{offset}",
                      bytes([form]) + struct.pack("<iI", 12, offset) + table * 3)


def ring_record(kind, name):
    """A struct record_name: type, slot, handle, module, generation, source, length, name."""
    return struct.pack("<IIQQIHH", kind, 0, 0x7f00, 1, 0, 0, len(name)) + name + b"\0"


def trace(seeds):
    thread = struct.pack("<IIIiiiIiQ16s", 67, 3, 1, 100, 100, 1, 1000, 100, 5, b"train\n\x1b[2J")
    name = ring_record(2, b"_Z4vaddPfS_S_i")
    steps = bytearray()
    for record, choice in ((thread, 67), (name, 2), (struct.pack("<IIiHHQ", 4, 0, 1, 0, 0, 9), 4)):
        steps += bytes([0, choice]) + struct.pack("<H", len(record)) + record
    for row in range(0, 1200, 37):
        payload = struct.pack("<8Q", 0x7f00, 4096, 0x7f10, 1, 2, 3, 4,
                              5) + struct.pack("<H", 5) + b"na\x1bme" + bytes(80)
        event = struct.pack("<IHBBIiQIIQ", 64, row, 0, 0, 3, row % 3, 0, 0, 0, 1000) + payload
        part = (bytes([1, row % 3]) + struct.pack("<H", len(event)) + event + bytes([3])
                + struct.pack("<I", 1000))
        steps += part
        if len(steps) > 3000:
            for options in (0x0020, 0x0021, 0x00a2, 0x5041, 0x0002):
                for more in (0, 3, 31):
                    seeds.put("trace", f"{row}.{options:x}.{more}",
                              struct.pack("<HB", options, more) + bytes(steps) + b"\6")
            steps = steps[:len(thread) + len(name) + 40]
    # What no BPF program tells: rows, threads, depths, words and lengths that are not there.
    whole = struct.pack("<IHBBIiQIIQ", 64, 3, 0, 0, 3, 0, 0, 0, 0, 1000) + bytes(64)
    for number, (at, value) in enumerate(((4, 0xffff), (6, 0xff), (7, 0xff), (8, 0xffffffff),
                                          (8, 65536), (24, 1 << 63))):
        event = bytearray(whole)
        size = 8 if at == 24 else 4 if at == 8 else 2 if at == 4 else 1
        event[at:at + size] = value.to_bytes(size, "little")
        steps = bytes([0, 64]) + struct.pack("<H", len(event)) + bytes(event) + bytes([6])
        seeds.put("trace", f"wrong{number}", struct.pack("<HB", 0, 0) + steps)
    for kind in (2, 4, 5, 64, 67):
        steps = b"".join(bytes([0, kind]) + struct.pack("<H", size) + bytes(size)
                         for size in (0, 4, 7, 8, 12, 33))
        seeds.put("trace", f"short{kind}", struct.pack("<HB", 0, 0) + steps + bytes([6]))
    calls = bytes([4, 1, 0, 3, 0, 1, 0, 0, 6, 4, 1, 1, 2, 0, 5, 0, 6])
    seeds.put("trace", "calls", struct.pack("<HB", 0, 0) + calls * 4)


def decode(seeds):
    words = struct.pack("<16Q", 0x7f00, 4096, 0x7f10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
    blocks = (struct.pack("<H", 5) + b"na\x1bme" + struct.pack("<H8s", 8, bytes(8))
              + struct.pack("<H", 0xffff) + bytes(300))
    for number, row in enumerate(range(0, 1200, 9)):
        seeds.put("decode", str(row),
                  struct.pack("<BBHiB", number * 13 % 256, number % 32, row, number % 3,
                              0) + words[:8 * (1 + number % 16)] + blocks)


def stack_record(native, pythons, copied, registers):
    """A struct stack_record with a copy."""
    head = struct.pack("<QQQQQIiIBBBB", 1, 2, 0, 1, 0x401000, 0, 0, copied, len(native), pythons, 1,
                       0)
    registers = struct.pack("<8Q", *registers)
    callers = struct.pack("<16Q", 0x7ffc00000010, 0x7f0000010a00, *([0] * 14))
    natives = struct.pack("<128Q", *native, *([0] * (128 - len(native))))
    frames_ = struct.pack("<QII", 0x10100, 4, 77) * pythons + bytes(16 * (128 - pythons))
    return head + registers + callers + natives + frames_ + bytes(copied)


def all_stacks(seeds):
    for mode in range(3):
        for flags in (1, 5, 7):
            record = stack_record([0x400100, 0x400200, 0x7f0000010a00], mode, 256,
                                  (0x7f0000010a00, 0x7ffc00000000, 0x7ffc00000010, 0, 0, 0, 0, 0))
            one = struct.pack("<HB", 256, flags) + record
            seeds.put("stacks", f"{mode}.{flags}", bytes([mode]) + one * 3)


def collector(seeds):
    process = bytes([0, 0]) + struct.pack("<IiIiIi", 1, 100, 100, 1, 1000, 100) + bytes(40)
    process += bytes(700 - len(process) % 700 if len(process) > 700 else 0)
    notice = bytes([2, 6]) + struct.pack("<H", 8) + struct.pack("<II", 6, 0)
    name = ring_record(2, b"_ZN2at6native6kernelIfEEvPT_")
    named = bytes([2, 2]) + struct.pack("<H", len(name)) + name
    unload = bytes([2, 3]) + struct.pack("<H", 24) + struct.pack("<IIQII", 3, 0, 1, 1, 0)
    library = bytes([3, 4]) + struct.pack("<H", 24) + struct.pack("<IIiHHQ", 4, 0, 100, 0, 0, 9)
    record = bytes([0, 0]) + struct.pack("<IiIiIiII", 1, 100, 100, 1, 1000, 100, 0, 0) + bytes(680)
    launch = bytes([1, 0]) + struct.pack("<Q", 5) + struct.pack("<QIIII", 0x7f00, 0, 0, 0, 0)
    for number, data in enumerate((notice + record + named + launch,
                                   named + unload + library + notice + process,
                                   notice + record + launch + named + launch + unload + launch)):
        seeds.put("collector", str(number), data)


def differences(seeds):
    """Readings after a keyframe: the writer's own, those with a byte changed, and bytes that say
    that nothing has changed, that elements are there twice, or that there are too many."""
    own, begin, whole, gap = b"\1\0", b"\x09\0", b"\5\0", b"\3\0"
    raw = [bytes([0, len(record), 0]) + record
           for record in (bytes((0, 0, 0, 1, 2, 1)), bytes((0, 0, 0, 1, 3)), bytes((0, 0, 0, 1, 0)),
                          bytes((0, 0, 0, 2, 2, 1, 3)), bytes((0, 0, 0, 2, 2, 2)),
                          bytes((0, 1, 3, 65, 66, 67, 0, 1, 2, 1)),
                          bytes((0, 0, 0)) + b"\xff" * 9 + b"\1", bytes((3, 1)))]
    for series in range(12):
        for name, records in {"own": own * 4, "begun": begin + own * 2 + whole + own,
                              "gap": own + gap + own + whole + own,
                              "unchanged": raw[0] * 2 + own + raw[0]}.items():
            seeds.put("differences", f"{series}.{name}", bytes([series]) + records)
        for at in range(3, 1200, 97):
            change = struct.pack("<BBBHB", 1, 1, 0, at + series, 1 + at % 255)
            seeds.put("differences", f"{series}.{at}", bytes([series]) + own + change + own + whole)
    for number, record in enumerate(raw):
        seeds.put("differences", f"raw{number}", b"\1" + record + own)


def loader_cache(seeds):
    names = (b"libcuda.so.1\0", b"/usr/lib/libcuda.so.1\0", b"libcudart.so.13\0",
             b"/usr/local/cuda/libcudart.so.13\0")
    strings = b"".join(names)
    begin = 48 + 2 * 24
    places = [begin + sum(map(len, names[:i])) for i in range(4)]
    header = b"glibc-ld.so.cache1.1" + struct.pack("<IIB3xI3I", 2, len(strings), 2, 0, 0, 0, 0)
    entries = b"".join(struct.pack("<iIIIQ", 0x0303, places[2 * i], places[2 * i + 1], 0, 0)
                       for i in range(2))
    new = header + entries + strings
    old = b"ld.so-1.7.0\0" + struct.pack("<I", 1) + bytes(12)
    seeds.put("loader_cache", "new", new)
    seeds.put("loader_cache", "both", old + bytes(-len(old) % 8) + new)


def root(seeds):
    # Six links, in the root, a, a/b and again, and a way.
    ways = (("a", "b", "../../..", "/a/b", "/a", ".", "/l0/l1/l2/l3/../l1/../file"),
            ("../secret", "../../secret", "../../../secret", "/../secret", "/secret", "/l3", "l0"),
            ("../secret", "../../secret", "../../../secret",
             "/../secret", "/secret", "/l3", "a/b/l2"),
            ("/etc/passwd", "l1", "/a/b/l2", "/proc/self/cwd/etc/passwd", "/l0", "/a/l4", "a/b/l5"),
            ("l3", "l4", "fifo", "l0", "/fifo", "//", "a//b/./.." + "/.." * 50 + "/l3"),
            ("..", "b/..", "../..", "/", "/..", "../../fifo", "/a/l4/a/b/l2/a/b/l5"))
    for number, way in enumerate(ways):
        links = b"".join(bytes([i % 3]) + target.encode() + b"\0"
                         for i, target in enumerate(way[:6]))
        seeds.put("root", f"links{number}", b"\0" + links + way[6].encode())
    seeds.put("root", "mounts", b"\1" + b"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
              b"36 22 0:31 /a /mnt/with\\040space rw - fuse.sshfs host:/ rw\n"
              b"1 1 0:1 / / rw - fusectl fusectl rw\n2 - \n")
    seeds.put("root", "users", b"\2root:x:0:0:root:/root:/bin/sh\n# none\ntrain:x:1:1::/:\n"
              b"\xff\33[2J:x:2:2:::\n+::::::\n:x:9:9:\n")


def waiting(seeds):
    base, states = 0x10000, (0x20000, 0x21000)
    gil = bytes(256) + struct.pack("<QQiiQ", 5000, states[1], 1, 0, 77) + bytes(256)
    restarted = bytes(9) + b"\xb8\x07\0\0\0\x0f\x05" + struct.pack("<ihh", 3, 1, 0)
    for name, number, arguments, text, memory in (
            ("poll", 7, (base, 2), b"pipe:[4711]", struct.pack("<ihhihh", -1, 1, 0, 3, 1, 0)),
            ("select", 270, (9, base, base + 8), b"socket:[4711]",
             struct.pack("<QQ", 1 << 8, 1 << 8)),
            ("epoll", 232, (4,),
             b"pos:\t0\ntfd:        5 events:       19\ntfd:        6 events:       19\n", b""),
            ("read", 0, (3, base), b"/dev/nvidiactl", b""),
            ("ioctl", 16, (3, 0xc020462a), b"/dev/nvidia0", b""),
            ("wait4", 61, (2,), b"\nNSpid:\t1\t2\n", b""),
            ("waitid", 247, (3, 3), b"Pid:\t1\nNSpid:\t1\t-1\n", b""),
            ("clone3", 435, (base,), b"", struct.pack("<Q", 0x4000)),
            ("futex", 202, (base + 256 + 72, 0x189), b"", gil),
            ("restarted", 219, (base + 16, 1, 1000), b"pipe:[4711]", restarted),
            ("frozen", 35, (base,), b"0::/frozen\n", b"")):
        words = struct.pack("<6Q", *arguments, *[0] * (6 - len(arguments)))
        seeds.put("waiting", name,
                  struct.pack("<H", number) + words + struct.pack("<H", len(text)) + text + memory)


def model_reader(seeds):
    """Values of a model: the first byte of a number says how many follow."""
    numbers = random.Random(1)
    for number, length in enumerate((200, 500, 1500, 4000) * 4):
        values = numbers.choices((0, 1, 2, 3, numbers.randrange(256)), (4, 4, 2, 2, 1), k=length)
        seeds.put("model_reader", f"model{number}", bytes([1, *values]))


def main():
    seeds = Seeds(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        objects(seeds, Path(folder))
    python(seeds)
    python_lines(seeds)
    trace(seeds)
    decode(seeds)
    all_stacks(seeds)
    collector(seeds)
    differences(seeds)
    loader_cache(seeds)
    root(seeds)
    waiting(seeds)
    model_reader(seeds)


if __name__ == "__main__":
    main()
