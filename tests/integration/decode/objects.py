# SPDX-License-Identifier: BSD-2-Clause
"""How objects are made and ended: three live and one ends,
by the row's function or by a trusted one."""
import ctypes
import tempfile

from decode import contexts, passing, pools
from decode import structures as s
from decode.case import NoRule, word
from decode.launches import launch_one, ptx

# Parts of names and the kind of object that such a function makes or ends; the first that fits.
KINDS = (("Stream", "stream"), ("Event", "event"), ("Module", "module"), ("Library", "library"),
         ("GraphExec", "graph_exec"), ("GraphInstantiate", "graph_exec"), ("Graph", "graph"),
         ("MemPool", "pool"))
# Kind -> functions that end one, of the driver and of the runtime.
ENDERS = {"stream": ("cuStreamDestroy_v2", "cudaStreamDestroy"),
          "event": ("cuEventDestroy_v2", "cudaEventDestroy"),
          "module": ("cuModuleUnload", None), "library": ("cuLibraryUnload", "cudaLibraryUnload"),
          "pool": ("cuMemPoolDestroy", "cudaMemPoolDestroy")}


def kind_of(symbol):
    for part, kind in KINDS:
        if part in symbol:
            return kind
    return None


def make(c, kind):
    """One of a kind, by a function that is not tested here."""
    code = ptx("kernel")
    if kind == "stream":
        return c.stream()
    if kind == "event":
        return c.event()
    if kind == "module":
        return c.made("cuModuleLoadData", code)
    if kind == "library":
        return c.makes("cuLibraryLoadData", "cudaLibraryLoadData", code, None, None, 0, None, None,
                       0)
    if kind == "pool":
        return c.makes("cuMemPoolCreate", "cudaMemPoolCreate", pool_props(c))
    raise NoRule(c.row)


def pool_props(c):
    return s.PoolProps(allocType=1, location=s.Location(1, c.device))


def file_with_code(c):
    written = tempfile.NamedTemporaryFile(suffix=".ptx")
    written.write(ptx("kernel"))
    written.flush()
    c.kept.append(written)
    return written.name.encode()


def event_handle(c):
    """An event of this very process, to be opened again."""
    handle = s.IpcHandle()
    # Interprocess, without timing.
    event = c.makes("cuEventCreate", "cudaEventCreateWithFlags", 4 | 2)
    c.either("cuIpcGetEventHandle", "cudaIpcGetEventHandle", handle, event)
    return handle


def creation_arguments(c, out):
    """By name."""
    row = c.row
    values = {row.names[0]: out}
    for name, kind in ((a.name, a.type) for a in row.arguments[1:]):
        if name == "greenCtx":
            values[name] = contexts.green_of(c, c.device)
        elif kind in passing.BY_VALUE:
            values[name] = c.exported_event
        elif name.lower() in ("flags", "priority") or name.startswith("num"):
            # Streams of green contexts must be non-blocking.
            values[name] = int(name == "flags" and row.has("greenCtx"))
        elif name in ("image", "code", "fatCubin"):
            values[name] = ptx("kernel")
        elif name in ("fname", "fileName"):
            values[name] = file_with_code(c)
        elif name == "poolProps":
            values[name] = pool_props(c)
        elif kind.endswith("*"):
            values[name] = None
        else:
            raise NoRule(row)
    return values


def create(c):
    c.start()
    kind = kind_of(c.row.symbol)
    if not kind:
        raise NoRule(c.row)
    made = []
    others = 0
    if "IpcOpenEvent" in c.row.symbol:
        c.exported_event = event_handle(c)
        others = 1
    for _ in range(3):
        out = word()
        if "PoolImport" in c.row.symbol:
            file = word()
            pools.shared(c, file)
            others += 1
            c.test(**dict(zip(c.row.names, (out, file.value, 1, 0))))
            c.tally(kind, device=None)  # of which device it is, nobody says
        else:
            c.test(**creation_arguments(c, out))
            c.tally(kind)
        made.append(out.value)
    c.either(*ENDERS[kind], made[1])
    c.expect(objects={kind: [3 + others, 1, 2 + others]})


def destroy(c):
    c.start()
    kind = kind_of(c.row.symbol)
    if not kind:
        raise NoRule(c.row)
    made = [make(c, kind) for _ in range(3)]
    c.test(**{c.row.names[0]: made[1]})
    c.tally(kind)
    c.expect(objects={kind: [3, 1, 2]})


def get_kernel(c):
    """A kernel whose name only this call tells, since the word at handle + 8 is made unreadable."""
    c.start()
    name = f"kernel_{c.n}"
    row = c.row
    code = ptx("other", name)
    if row.has("hmod"):
        container = {"hmod": c.made("cuModuleLoadData", code)}
    elif row.has("library"):
        container = {"library": c.makes("cuLibraryLoadData", "cudaLibraryLoadData", code, None,
                                        None, 0, None, None, 0)}
    else:
        raise NoRule(row)
    out = word()
    c.test(**{row.names[0]: out, "name": name.encode(), **container})
    ctypes.c_uint64.from_address(out.value + 8).value = 0
    launch_one(c, out.value)
    c.expect(launches={name: 1})
