#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sound: a server of a language model with as many requests as the GPU can do,
by clients in a process of their own."""
import http.client
import multiprocessing
import random
import threading

from steady import Loop

CLIENTS = 4


def ask(port, over, length, texts, words):
    """Requests, one after another."""
    chance = random.Random(1)
    body = b"".join(chance.randrange(words).to_bytes(4, "little") for _ in range(length * texts))
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while not over.is_set():
        connection.request("POST", "/", body)
        connection.getresponse().read()
    connection.close()


def clients(ports, over, *sizes):
    """The process of the clients; it begins when it is told the server's port."""
    port = ports.recv()
    asking = [threading.Thread(target=ask, args=(port, over, *sizes)) for _ in range(CLIENTS)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()


def main():
    loop = Loop(__doc__)
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    over = context.Event()
    from server import LENGTH, TEXTS, WORDS, Server  # the clients' process has no need of PyTorch
    asking = context.Process(target=clients, args=(receiver, over, LENGTH, TEXTS, WORDS),
                             name="clients")
    asking.start()
    server = Server()
    loop.begin()
    sender.send(server.server_port)
    server.serve(loop)
    over.set()
    asking.join(5)
    if asking.is_alive():
        asking.kill()
    loop.finish(server.answered)


if __name__ == "__main__":
    main()
