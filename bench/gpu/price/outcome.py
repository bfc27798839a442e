# SPDX-License-Identifier: BSD-2-Clause
"""From the times of steps and the spans of visits to pairs: the time of a step with gpuprobe and
without it. From pairs to intervals."""
import bisect
import statistics

from intervals import interval

TRIM = 0.1  # of the steps of a span, left out at either end
LEAST_STEPS = 5  # of a span that tells something


def inside(steps, span):
    """The range of the steps that began and ended in the span, without the one that ended last."""
    first = bisect.bisect_left(steps.starts, span[0])
    return range(first, bisect.bisect_right(steps.starts, span[1]) - 1)


def durations(times, span):
    """Nanoseconds of the steps that began and ended in the span; `times` of each thread."""
    return [steps.starts[at + 1] - steps.starts[at] - steps.yardsticks[at + 1]
            for steps in times for at in inside(steps, span)]


def yardsticks(times, span):
    """Nanoseconds of the yardsticks between these steps."""
    return [steps.yardsticks[at + 1] for steps in times for at in inside(steps, span)]


def trimmed(values):
    ordered = sorted(values)
    cut = int(len(ordered) * TRIM)
    return statistics.fmean(ordered[cut:len(ordered) - cut])


def steps_in(times, span):
    """Steps of all threads in a span, one that lies in it in part as that part."""
    total = 0.0
    for starts in (steps.starts for steps in times):
        for before, after in zip(starts, starts[1:]):
            if after > span[0] and before < span[1]:
                total += (min(after, span[1]) - max(before, span[0])) / (after - before)
    return total


def paces(times, spans):
    """{span: a step by the yardstick of its time}, None without a yardstick. The yardstick has a
    trimmed mean, as steps have."""
    found = {}
    for name, span in spans.items():
        yard = trimmed(yardsticks(times, span))
        found[name] = trimmed(durations(times, span)) / yard if yard else None
    return found


def pair(times, visit):
    """What a visit tells, as JSON; None if a span has too few steps. "plain" and "steady" are
    trimmed means of a step in ns, "plain_mean" and "steady_mean" means, "plain_pace" and
    "steady_pace" steps by the yardstick (None: there is none), "slowest" the longest step while
    gpuprobe came, was there or went; "calls" are calls of a step by operation."""
    spans = {"before": visit.before, "after": visit.after, "first": visit.first,
             "steady": visit.steady}
    took = {name: durations(times, span) for name, span in spans.items()}
    if min(map(len, took.values())) < LEAST_STEPS:
        return None
    coming = durations(times, (visit.starting[0], visit.ending[1]))
    steps, pace = steps_in(times, visit.attached), paces(times, spans)
    return {"seconds": visit.seconds,
            "plain": (trimmed(took["before"]) + trimmed(took["after"])) / 2,
            "steady": trimmed(took["steady"]), "first": trimmed(took["first"]),
            "plain_pace": pace["before"] and (pace["before"] + pace["after"]) / 2,
            "steady_pace": pace["steady"], "first_pace": pace["first"],
            "plain_mean": statistics.fmean(took["before"] + took["after"]),
            "steady_mean": statistics.fmean(took["steady"]),
            "first_mean": statistics.fmean(took["first"]),
            "slowest": max(coming), "slowest_plain": max(took["before"] + took["after"]),
            "starting_seconds": (visit.starting[1] - visit.starting[0]) / 1e9,
            "calls": {name: calls / steps for name, calls in visit.seen.items()}}


def slowdown(pairs, with_it="steady", without="plain"):
    """The interval of the paired differences, relative to the steps without gpuprobe."""
    return interval([one[with_it] / one[without] - 1 for one in pairs])


def has_yardstick(pairs):
    return all(one.get("plain_pace") for one in pairs)


def paced(pairs, with_it="steady"):
    """The same of steps by the yardstick; by the clock where there is none."""
    return (slowdown(pairs, f"{with_it}_pace", "plain_pace") if has_yardstick(pairs)
            else slowdown(pairs, with_it))


def added(pairs):
    """The interval of what a step takes longer, ns."""
    return interval([one["steady"] - one["plain"] for one in pairs])


def plain_step(pairs):
    return interval([one["plain"] for one in pairs])


def calls_of_step(pairs):
    """{operation: calls of a step}, the mean of all pairs."""
    names = {name for one in pairs for name in one["calls"]}
    return {name: statistics.fmean(one["calls"].get(name, 0) for one in pairs) for name in names}


# --- predicted ---

# Operations whose calls cost about as much as those of a loop. All others as a query: an entry, a
# return, a count.
COST_OF = {"launch": "launch", "graph_launch": "launch", "launch_list": "launch", "wait": "wait",
           "copy": "copy", "set": "copy", "alloc": "allocation", "free": "allocation"}
OTHER = "query"


def costs(pairs_of):
    """{loop: interval of what gpuprobe adds to its call, ns}; `pairs_of`: {loop: pairs}."""
    found = {}
    for name, pairs in pairs_of.items():
        operations = {key for key, loop in COST_OF.items() if loop == name} or {OTHER}
        calls = calls_of_step(pairs)
        number = sum(calls.get(key, 0) for key in operations)
        step = added(pairs)
        if step and number:
            found[name] = {key: value if key == "n" or value is None else value / number
                           for key, value in step.items()}
    return found


def predicted(calls, found, step_ns):
    """Share of a step that its calls cost by the calibrated costs; None where a cost is missing."""
    total = 0.0
    for operation, number in calls.items():
        cost = found.get(COST_OF.get(operation, OTHER))
        if number and not cost:
            return None
        total += number * cost["mean"] if number else 0
    return total / step_ns
