# SPDX-License-Identifier: BSD-2-Clause
"""Training that gets its batches from a data service over the network. It also listens, as
trainings with a dashboard or a rendezvous do, and nobody connects.

usage: remote_data.py SECONDS [recv|epoll|poll]

A socket with a timeout waits in poll(2), as those of most HTTP clients do.
"""
import multiprocessing
import os
import select
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuda import driver, made, need, ptx, start  # noqa: E402

SECONDS = float(sys.argv[1])
WAY = sys.argv[2] if sys.argv[2:] else "recv"
LATE = 0.02  # s that the service takes for a batch


def listening():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener


def serve(listener):
    connection, _ = listener.accept()
    while connection.recv(1):
        time.sleep(LATE)
        connection.send(b"batch")


def fetch(connection, poll):
    connection.send(b"?")
    if poll:
        poll.poll()
    return connection.recv(10)


def launch(kernel, count=20):
    for _ in range(count):
        need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0))
    need(driver.cuCtxSynchronize())


def main():
    listener = listening()
    service = multiprocessing.Process(target=serve, args=(listener,))
    service.start()
    connection = socket.create_connection(listener.getsockname())
    connection.settimeout(60 if WAY == "poll" else None)
    listener.close()
    dashboard = listening()
    start()
    kernel = made(driver.cuModuleGetFunction, made(driver.cuModuleLoadData, ptx("step")), b"step")
    poll = select.epoll() if WAY == "epoll" else None
    if poll:
        poll.register(connection, select.EPOLLIN)
    began = time.monotonic()
    while time.monotonic() - began < SECONDS:
        fetch(connection, poll)
        launch(kernel)
    connection.close()
    service.join()
    dashboard.close()


if __name__ == "__main__":
    main()
