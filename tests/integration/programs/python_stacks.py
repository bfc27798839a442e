# SPDX-License-Identifier: BSD-2-Clause
"""Calls CUDA from all sorts of Python frames, and notes the stack of each call as Python
itself tells it.

usage: python_stacks.py LIBCUDART HELD LOG LINES [wait]

Each allocation has a size of its own. LOG has for each size its frames, the innermost first, and
which sizes are of calls from code that is gone at once. HELD is the extension module of held.c;
with `wait` the calls come after a line on stdin. LINES is the file that gpuprobe writes a line a
call to: the program stays until all are there, since what code is called is read while
the process is.
"""
import asyncio
import contextlib
import ctypes
import functools
import importlib.machinery
import importlib.util
import json
import os
import sys
import threading
import time

libcudart, held_path, log_path, lines_path = sys.argv[1:5]
released = ctypes.CDLL(libcudart, mode=ctypes.RTLD_GLOBAL)
locked = ctypes.PyDLL(libcudart)
loader = importlib.machinery.ExtensionFileLoader("held", held_path)
held = importlib.util.module_from_spec(importlib.util.spec_from_loader("held", loader))
loader.exec_module(held)

stacks = {}
last = 1000
lock = threading.Lock()


def describe(frame, line=None):
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name)
    return f"{name} ({os.path.basename(code.co_filename)}:{line or frame.f_lineno})"


def new_size(frame, line):
    """A size not used before, noted with the stack of `frame`, which will call at `line`."""
    global last
    with lock:
        last += 1
        size = last
    frames = [describe(frame, line)]
    frame = frame.f_back
    while frame:
        frames.append(describe(frame))
        frame = frame.f_back
    stacks[size] = frames
    return size


# The calls are on the lines that are noted.

def by_ctypes():
    size, pointer = new_size(sys._getframe(),
                             by_ctypes.__code__.co_firstlineno + 3), ctypes.c_void_p()
    released.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size))


def by_pydll():
    size, pointer = new_size(sys._getframe(),
                             by_pydll.__code__.co_firstlineno + 3), ctypes.c_void_p()
    locked.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size))


def by_extension():
    size = new_size(sys._getframe(), by_extension.__code__.co_firstlineno + 2)
    held.allocate(size)


def multi_line(call, pointer, size):
    return (
        call(
            ctypes.byref(
                pointer
            ),

            size,
        )
        + 0
    )


def chained(call, pointer, size): return [
    0,
    (call
     )(ctypes.byref(pointer),
       size)][
    1
]


def note(_, size):
    """In place of a call: the line is that of the call as Python itself has it."""
    frame = sys._getframe(1)
    size.value = new_size(frame, frame.f_lineno)
    return 0


def multi_lines():
    size, pointer = ctypes.c_size_t(), ctypes.c_void_p()
    for function in multi_line, chained:
        for library in released, locked:
            for call in note, library.cudaMalloc:
                function(call, pointer, size)
    (
        allocate
    )(
    )
    Model(
    ).forward(
    )
    functools.partial(
        allocate,
    )()
    [
        allocate()
        for _ in
        range(1)
    ]
    if (0 or
            allocate() or
            None):
        pass
    return (lambda:
            allocate(
            ))()


def allocate():
    by_ctypes()
    by_pydll()
    by_extension()


class Model:
    def forward(self):
        allocate()

    @staticmethod
    def static():
        allocate()

    @classmethod
    def of_class(cls):
        allocate()

    @property
    def weight(self):
        allocate()
        return 1

    def __call__(self):
        allocate()

    def __del__(self):
        allocate()

    class Inner:
        def __enter__(self):
            allocate()

        def __exit__(self, *error):
            allocate()


def methods():
    model = Model()
    model.forward()
    Model.static()
    Model.of_class()
    model.weight
    model()
    with Model.Inner():
        allocate()
    del model


def decorator(function):
    allocate()

    @functools.wraps(function)
    def wrapper(*arguments):
        return function(
            *arguments)
    return wrapper


def decorators():
    @decorator
    @decorator
    def decorated():
        allocate()

    decorated()


class Meta(type):
    def __new__(cls, name, bases, body):
        allocate()
        return super().__new__(cls, name, bases, body)


def class_bodies():
    class Body(metaclass=Meta):
        allocate()
        weights = [allocate() for _ in range(1)]

        @decorator
        def method(self):
            allocate()

        def __init_subclass__(cls):
            allocate()

        def __lt__(self, other):
            allocate()
            return False

        def __getattr__(self, name):
            allocate()

    class Derived(Body):
        pass

    Body().method()
    sorted([Derived(), Derived()])
    Derived().missing


def imported():
    """At import: below frames of the interpreter's own, frozen code."""
    folder = os.path.dirname(log_path)
    with open(os.path.join(folder, "imported_module.py"), "w", encoding="utf-8") as module:
        module.write("import sys, __main__\n\n__main__.kept.append(sys._getframe().f_code)\n"
                     "__main__.allocate()\n")
    sys.path.insert(0, folder)
    import imported_module
    kept.append(imported_module)


def generator(n):
    for i in range(n):
        allocate()
        yield i
    yield from inner_generator()


def inner_generator():
    allocate()
    yield 0


@contextlib.contextmanager
def managed():
    allocate()
    yield
    allocate()


def generators():
    for _ in generator(2):
        pass
    list(generator(1))
    sum(allocate() or 1 for _ in range(2))
    with managed():
        allocate()


def comprehensions():
    [allocate() for _ in range(1)]
    {allocate() for _ in range(1)}
    {allocate(): 1 for _ in range(1)}
    [[allocate() for _ in range(1)]
     for _ in range(1)]


def nested():
    """Python, C, Python, C, and so on."""
    sorted([1], key=lambda _: allocate())
    list(map(lambda _: sorted([2, 1], key=lambda x: allocate() or x), [1]))
    functools.reduce(lambda a, b: allocate(), [1, 2])
    functools.partial(allocate)()
    held.call(lambda: held.call(lambda: held.call(
        allocate)))
    CALLBACK(lambda: allocate() or 0)()


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int)


kept = []


def run(source, name="<string>"):
    """Executes it, and keeps its code."""
    kept.append(compile(source, name, "exec"))
    exec(kept[-1], {"allocate": allocate})


def control():
    try:
        allocate()
        raise ValueError
    except ValueError:
        allocate()
    finally:
        allocate()
    for i in range(300):
        if i == 299: allocate(); continue
    while True:
        allocate()
        break
    kept.append(compile("allocate(\n\n) or [allocate()\n for _ in 'a']", "<string>", "eval"))
    eval(kept[-1])
    run("\n" * 400 + "allocate()\ndef far():\n    pass\n    allocate()\nfar()")
    # As many lines back as forth.
    (allocate(),
     allocate(), allocate(
     )), allocate()


def größe():
    allocate()


class Модель:
    def 名前(self):
        größe()

    def 𠀋(self):
        self.名前()


def names():
    Модель().𠀋()
    run("def ф():\n\n  allocate()\nф()\n", "/nowhere/файл 𠀋.py")
    run("def " + "x" * 500 + "():\n allocate()\n" + "x" * 500 + "()")


def worker():
    for _ in range(20):
        allocate()
        time.sleep(0.0005)


def threads():
    many = [threading.Thread(target=worker) for _ in range(4)]
    for thread in many:
        thread.start()
    for thread in many:
        thread.join()


async def leaf():
    allocate()
    await asyncio.sleep(0)
    allocate()


async def middle():
    await leaf()
    async for _ in stream():
        allocate()
    return [allocate() async for _ in stream()]


async def stream():
    allocate()
    yield 1


async def top():
    await asyncio.gather(middle(), leaf())
    await asyncio.get_running_loop().run_in_executor(None, allocate)


def recursion(n):
    if n:
        recursion(n - 1)
    else:
        allocate()


def replaced():
    """Code objects come and go where others were."""
    for i in range(50):
        exec(f"def f{i % 3}():\n" + "\n" * i + f" allocate()\nf{i % 3}()", {"allocate": allocate})


def main():
    allocate()
    multi_lines()
    methods()
    decorators()
    class_bodies()
    imported()
    generators()
    comprehensions()
    nested()
    control()
    names()
    threads()
    asyncio.run(top())
    recursion(15)
    recursion(200)
    first = last + 1
    replaced()
    return list(range(first, last + 1))


def wait_for_lines(count):
    """Those after the first. Not for ever: that there are fewer is for the test to see."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with open(lines_path, "rb") as lines:
            if lines.read().count(b"\n") > count:
                break
        time.sleep(0.05)


if sys.argv[5:] == ["wait"]:
    print("ready", flush=True)
    sys.stdin.readline()
short_lived = main()
with open(log_path, "w", encoding="utf-8") as log:
    json.dump({"stacks": stacks, "short_lived": short_lived}, log)
wait_for_lines(len(stacks))
