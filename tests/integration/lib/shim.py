# SPDX-License-Identifier: BSD-2-Clause
"""
Libraries in front of libcuda, such as WSL's loader or a quota library: each function calls, or
jumps to, the real one.
"""
import subprocess

# The jump is gcc -O2's code for a function that forwards its arguments. A call passes all of them
# again, including those on the stack.
FORMS = {
    "jump": "jmp *slots+{slot}(%rip)",
    "call": "sub $136, %rsp\n" + "".join(
        f"mov {144 + 8 * word}(%rsp), %r10\nmov %r10, {8 * word}(%rsp)\n"
        for word in range(16)) + "call *slots+{slot}(%rip)\nadd $136, %rsp\nret",
}

FILL = """
#include <dlfcn.h>
extern void *slots[] __attribute__((visibility("hidden")));
static const char *const names[] = {{ {names} }};
__attribute__((constructor)) static void fill(void)
{{
	void *driver = dlopen("{library}", RTLD_NOW | RTLD_LOCAL);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		slots[i] = dlsym(driver, names[i]);
}}
"""


def exported(library):
    """The names of a library's exported functions."""
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                            check=True).stdout
    return sorted({line.split()[2].split("@")[0] for line in listed.splitlines() if " T " in line})


def make(path, library, form="jump", renamed=None):
    """
    Makes a libcuda.so.1 at `path` in front of the `library`. `renamed` maps functions to others
    with the same arguments, which they forward to.
    """
    names = exported(library)
    code = "\n".join(f".globl {name}\n.type {name},@function\n{name}:\n"
                     f"{FORMS[form].format(slot=8 * i)}\n.size {name},.-{name}"
                     for i, name in enumerate(names))
    assembly, source = path.with_suffix(".s"), path.with_suffix(".c")
    assembly.write_text(
        f".text\n{code}\n.bss\n.globl slots\n.hidden slots\nslots: .zero {8 * len(names)}\n"
        ".section .note.GNU-stack,\"\",@progbits\n", encoding="ascii")
    inner = ",".join(f'"{(renamed or {}).get(name, name)}"' for name in names)
    source.write_text(FILL.format(names=inner, library=library), encoding="ascii")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-Wl,-soname,libcuda.so.1", "-o", path, source,
                    assembly, "-ldl"], check=True)
    return path
