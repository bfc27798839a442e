# SPDX-License-Identifier: BSD-2-Clause
"""
Random programs of copies, events and waits, with the operations that are done after each one,
according to CUDA's rules for the order of streams. An operation is done once the host has waited
for one that comes after it.
"""

COPIES = 20  # of a round: as many as a sum of sizes can distinguish


class Order:
    """The operations of a program, each with those that it follows."""

    def __init__(self, blocking):
        self.blocking = blocking  # names of streams
        self.latest = {}          # stream -> number of its latest operation
        self.after = []           # number -> numbers
        self.done = set()

    def add(self, stream, *events):
        """Adds an operation of the stream, which also follows the events. Returns its number."""
        before = {self.latest.get(stream), *events}
        if stream == "legacy":
            before |= {self.latest.get(other) for other in self.blocking}
        elif stream in self.blocking:
            before.add(self.latest.get("legacy"))
        self.after.append(before - {None})
        self.latest[stream] = len(self.after) - 1
        return self.latest[stream]

    def wait(self, *numbers):
        """The host has waited for these."""
        waiting = list(numbers)
        while waiting:
            number = waiting.pop()
            if number is not None and number not in self.done:
                self.done.add(number)
                waiting += self.after[number]


class Program:
    """
    `text` is Python for Copies with put(), record(), follow(), wait() and look(). `expected` has,
    for each look(), the copies that must be in flight and those that may be. They differ by an
    order that gpuprobe does not follow: the one that operations other than copies create between a
    blocking stream and the legacy default stream.
    """

    def __init__(self, choice, blocking, legacy, rounds=6, operations=60):
        apart = [f"s{n}" for n in range(4)]
        blocked = [f"b{n}" for n in range(blocking)]
        self.choice = choice
        self.streams = apart + blocked + (["legacy"] if legacy else [])
        self.lines = [f"{name} = stream()" for name in apart]
        self.lines += [f"{name} = made(driver.cuStreamCreate, 0)" for name in blocked]
        self.lines += ["legacy = 0"] + [f"e{n} = event()" for n in range(4)]
        self.order = Order(blocked)
        self.weak = Order([])  # as if no stream was blocking
        self.events = {}  # name -> numbers in the two
        self.expected = []
        for _ in range(rounds):
            self.add_round(operations)
        self.text = "\n".join(self.lines)

    def add_round(self, operations):
        copies = {}
        for _ in range(operations):
            kind = self.choice.choices(["put", "record", "follow", "wait", "wait_event"],
                                       [6, 6, 6, 1, 1])[0]
            if kind == "put" and len(copies) == COPIES:
                continue
            getattr(self, kind)(self.choice.choice(self.streams),
                                self.choice.choice(["e0", "e1", "e2", "e3"]), copies)
        self.lines.append("look()")
        certain = {copy for copy, (number, _) in copies.items() if number not in self.order.done}
        possible = {copy for copy, (_, number) in copies.items() if number not in self.weak.done}
        self.expected.append((certain, possible))
        self.lines.append("need(driver.cuCtxSynchronize())")
        self.order.wait(*range(len(self.order.after)))
        self.weak.wait(*range(len(self.weak.after)))

    def both(self, stream, *events):
        strong, weak = ([numbers[which] for numbers in events] for which in (0, 1))
        return self.order.add(stream, *strong), self.weak.add(stream, *weak)

    def put(self, stream, _, copies):
        number = len(copies)
        copies[number] = self.both(stream)
        self.lines.append(f"put({number}, {stream})")

    def record(self, stream, event, _):
        self.events[event] = self.both(stream)
        self.lines.append(f"record({event}, {stream})")

    def follow(self, stream, event, _):
        if event in self.events:
            self.both(stream, self.events[event])
        self.lines.append(f"follow({stream}, {event})")

    def wait(self, stream, *_):
        self.lines.append(f"wait({stream})")
        latest = [self.order.latest.get(stream)]
        if stream == "legacy":
            latest += [self.order.latest.get(other) for other in self.order.blocking]
        self.order.wait(*latest)
        self.weak.wait(self.weak.latest.get(stream))

    def wait_event(self, _, event, __):
        self.lines.append(f"need(driver.cuEventSynchronize({event}))")
        if event in self.events:
            self.order.wait(self.events[event][0])
            self.weak.wait(self.events[event][1])
