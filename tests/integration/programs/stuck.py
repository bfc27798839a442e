# SPDX-License-Identifier: BSD-2-Clause
"""
stuck.py WAY [FLAGS]: programs/stuck.c in Python, by ctypes. Each thread that will be stuck says

  READY TID FUNCTION LINE

just before, with the function and the line of this file. The lock ways go on with a line on stdin,
the others as there.
"""
import ctypes
import os
import subprocess
import sys
import threading
import time

from cuda import SIM, driver, made, module, need, ptx, ref, out, runtime

COUNT = 4096
LAUNCHES = 200
CHILD = ["sh", "-c", "read line; echo $line; exit 7"]
MANY = 40

device = stream = event = kernel = None
host = (ctypes.c_int * COUNT)(*(7 * i for i in range(COUNT)))


def ready(below=0):
    """Says that the caller hangs in its line, or so many below it; 0."""
    caller = sys._getframe(1)
    line = f"READY {threading.get_native_id()} {caller.f_code.co_name} {caller.f_lineno + below}\n"
    os.write(1, line.encode())
    return 0


def wait_for_stream():
    need(ready() or runtime.cudaStreamSynchronize(stream))


def wait_for_event():
    need(ready() or runtime.cudaEventSynchronize(event))


def wait_for_device():
    need(ready() or runtime.cudaDeviceSynchronize())


def wait_in_driver():
    need(ready() or driver.cuStreamSynchronize(stream))


def copy_back():
    copy = (ctypes.c_int * COUNT)()
    need(ready() or runtime.cudaMemcpy(copy, device, ctypes.sizeof(copy), 2))
    need(list(copy) != list(host))


def fill_queue():
    for number in range(LAUNCHES):
        need((number == LAUNCHES - 1 and ready())
             or driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, None))


def allocate_more():
    address = out()
    need(ready() or runtime.cudaMalloc(ref(address), 1 << 20))
    need(runtime.cudaFree(address.value))


def load_module():
    loaded = out()
    need(ready() or driver.cuModuleLoadData(ref(loaded), ptx("late")))
    need(driver.cuModuleUnload(loaded.value))


def cross_locks():
    """Two threads, each with the lock that the other wants: one in a callback of CUDA's,
    the other between two calls."""
    of_callback, of_other = threading.Lock(), threading.Lock()
    both_hold = threading.Barrier(2)
    crossings = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def on_host(_):
        of_callback.acquire()
        both_hold.wait()
        ready() or of_other.acquire()
        crossings.append("callback")
        of_other.release()

    def call_back():
        use_context()
        need(runtime.cudaLaunchHostFunc(stream, on_host, None))

    def lock_between_calls():
        use_context()
        need(runtime.cudaStreamQuery(stream))
        of_other.acquire()
        both_hold.wait()
        ready() or of_callback.acquire()
        crossings.append("other")
        of_callback.release()
        of_other.release()
        need(runtime.cudaStreamQuery(stream))

    threads = [threading.Thread(target=call_back), threading.Thread(target=lock_between_calls)]
    for thread in threads:
        thread.start()
    sys.stdin.readline()
    of_callback.release()  # for the one that holds it
    for thread in threads:
        thread.join()
    need(len(crossings) != 2)


def want_gil(number, rounds, ended):
    ready(1)
    while not ended: rounds[number] += 1  # noqa: E701


def hold_gil(hold):
    """hold() while two other threads want the interpreter's lock."""
    ended, rounds = [], [0, 0]
    threads = [threading.Thread(target=want_gil, args=(number, rounds, ended))
               for number in range(2)]
    for thread in threads:
        thread.start()
    while not all(rounds):
        time.sleep(0.001)
    hold()
    ended.append(True)
    for thread in threads:
        thread.join()


def read_with_gil():
    buffer = ctypes.create_string_buffer(1)
    library = ctypes.PyDLL(None)
    need(ready() or library.read(0, buffer, 1) != 1)


def wait_with_gil():
    library = ctypes.PyDLL(f"{SIM}/libcudart.so.13")
    need(ready() or library.cudaStreamSynchronize(ctypes.c_void_p(stream)))


def wait_for_child():
    with subprocess.Popen(CHILD, stdout=subprocess.DEVNULL) as child:
        need(ready() or child.wait() != 7)


def read_from_child():
    with subprocess.Popen(CHILD, stdout=subprocess.PIPE) as child:
        need(ready() or child.stdout.read() != b"go\n")


def reduce_gradients():
    nccl = ctypes.CDLL("libnccl.so.2")
    comm = ctypes.c_void_p()
    need(nccl.ncclCommInitRank(ctypes.byref(comm), 2, 0))
    arguments = (ctypes.c_void_p(device), ctypes.c_void_p(device), COUNT, 2, 0, comm,
                 ctypes.c_void_p(stream))
    need(ready() or nccl.ncclAllReduce(*arguments))


def wait_in_many():
    def wait(function):
        use_context()
        function()

    threads = [threading.Thread(target=wait, args=((wait_for_stream, wait_for_event)[number % 2],))
               for number in range(MANY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def use_no_cuda():
    need(ready() or sys.stdin.readline() != "go\n")


WAYS = {
    "stream": wait_for_stream, "event": wait_for_event, "device": wait_for_device,
    "driver": wait_in_driver, "copy": copy_back, "launch": fill_queue, "allocate": allocate_more,
    "load": load_module, "deadlock": cross_locks, "gil": lambda: hold_gil(read_with_gil),
    "gil_cuda": lambda: hold_gil(wait_with_gil), "child": wait_for_child,
    "pipe": read_from_child, "nccl": reduce_gradients, "many": wait_in_many,
}


def use_context():
    need(runtime.cudaSetDevice(0))


def main(way, flags=0):
    global device, stream, event, kernel  # pylint: disable=global-statement
    if way == "none":
        use_no_cuda()
        print("right")
        return
    if int(flags):
        need(runtime.cudaSetDeviceFlags(int(flags)))
    device = made(runtime.cudaMalloc, ctypes.sizeof(host))
    need(runtime.cudaMemcpy(device, host, ctypes.sizeof(host), 1))
    stream = made(runtime.cudaStreamCreate)
    event = made(runtime.cudaEventCreate)
    need(runtime.cudaEventRecord(event, stream))
    kernel = module("step")[1][0]
    WAYS[way]()
    copy = (ctypes.c_int * COUNT)()
    need(runtime.cudaMemcpy(copy, device, ctypes.sizeof(copy), 2))
    need(list(copy) != list(host))
    print(f"right {sum(copy)}")


main(*sys.argv[1:])
