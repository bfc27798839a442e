# SPDX-License-Identifier: BSD-2-Clause
"""
Names of gpuprobe's BPF programs and maps in the kernel, and the layouts of the maps. They come from
the BTF of the build's objects, because a name like "events" is not unique to gpuprobe.
"""
import functools
import json
import os
import subprocess
from pathlib import Path

from lib import paths

LENGTH = 15  # the kernel cuts names
PREFIX = 8   # libbpf cuts the object's name before ".rodata"
# Values of enum bpf_map_type, as bpftool names them.
TYPES = {1: "hash", 2: "array", 5: "percpu_hash", 6: "percpu_array", 9: "lru_hash", 22: "queue",
         27: "ringbuf", 29: "task_storage"}
# Maps that gpuprobe makes without an object, to test what the kernel supports or to read its
# records.
TRIAL_PROGRAMS = {"empty", "reading", "trial"}
TRIAL_MAPS = {("trial", "array", 4, 8), ("mapping_events", "perf_event_array", 4, 4)}


def bpftool(*args):
    """The output of `bpftool ARGS`."""
    env = {**os.environ, "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}
    done = subprocess.run(["bpftool", "-j", *map(str, args)], capture_output=True, text=True,
                          env=env, check=False)
    if done.returncode:
        raise RuntimeError(f"bpftool {args}: {done.returncode}: {done.stdout[-500:]}{done.stderr}")
    return json.loads(done.stdout or "[]")


class Types:
    """The BTF of an object."""

    def __init__(self, path):
        self.types = {entry["id"]: entry for entry in bpftool("btf", "dump", "file", path)["types"]}

    def size(self, number):
        """The size of a type in bytes."""
        entry = self.types[number]
        if entry["kind"] == "PTR":
            return 8
        if entry["kind"] == "ARRAY":
            return entry["nr_elems"] * self.size(entry["type_id"])
        return entry["size"] if "size" in entry else self.size(entry["type_id"])

    def number(self, number):
        """
        The value that __uint() of bpf_helpers.h encodes: a pointer to an array of that length.
        """
        return self.types[self.types[number]["type_id"]]["nr_elems"]

    def programs(self):
        """All global functions. Some are not programs, but nothing else has their names."""
        return {entry["name"][:LENGTH] for entry in self.types.values()
                if entry["kind"] == "FUNC" and entry["linkage"] == "global"}

    def map(self, variable):
        """Name, type, key size and value size; 0 for kinds of maps without them."""
        members = {member["name"]: member["type_id"]
                   for member in self.types[variable["type_id"]]["members"]}
        sizes = [self.number(members[f"{part}_size"]) if f"{part}_size" in members
                 else self.size(self.types[members[part]]["type_id"]) if part in members else 0
                 for part in ("key", "value")]
        return (variable["name"][:LENGTH], TYPES[self.number(members["type"])], *sizes)

    def maps(self):
        """All maps that the object defines."""
        [section] = [entry for entry in self.types.values()
                     if (entry["kind"], entry["name"]) == ("DATASEC", ".maps")]
        return {self.map(self.types[entry["type_id"]]) for entry in section["vars"]}


@functools.lru_cache(maxsize=1)
def known():
    """
    Names of programs; (name, type, key size, value size) of maps; and names of the maps that hold
    variables.
    """
    programs, maps, variables = set(TRIAL_PROGRAMS), set(TRIAL_MAPS), set()
    for source in sorted((paths.ROOT / "bpf").glob("*.bpf.c")):
        types = Types(paths.BUILD / "bpf" / f"{source.stem}.o")
        programs |= types.programs()
        maps |= types.maps()
        name = Path(source.stem).stem + "_bpf"  # the skeleton's name
        variables |= {name[:PREFIX] + section for section in (".rodata", ".bss", ".data")}
    return programs, maps, variables


def is_program(program):
    """
    Whether this entry of `bpftool prog show` may be gpuprobe's. bpftool may show a name in full
    that the kernel has cut.
    """
    return program.get("name", "")[:LENGTH] in known()[0]


def is_map(entry):
    """
    Whether this entry of `bpftool map show` may be gpuprobe's. The map ".rodata.cst32", for the
    compiler's constants, is excluded: it is the same in everybody's objects.
    """
    _, maps, variables = known()
    name = entry.get("name")
    return name in variables or (name, entry["type"], entry["bytes_key"],
                                 entry["bytes_value"]) in maps
