#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sound: a server of a language model that gets no requests."""
from server import Server
from steady import Loop


def main():
    loop = Loop(__doc__)
    server = Server()
    loop.begin()
    server.serve(loop)
    loop.finish(server.answered)


if __name__ == "__main__":
    main()
