# SPDX-License-Identifier: BSD-2-Clause
"""The page of run.py's measurements as Markdown, made from its JSON alone,
so that it can be made again anywhere."""
from setup import table

HOW = """Each loop runs in its own process and does blocks of steps, the same number in all blocks
of a round. A block with gpuprobe attached (`-p` of all loops) has a block without before and after
it. The figure is how much longer its steps took than the mean of those two: the mean of {rounds}
such pairs, with its 95 % confidence interval (Student's t). In the last round the blocks of the
launch-bound training took about {block:.2f} s. For the first loop only launches are timed, not its
waits (one after 256). The GPU-bound training reads its loss in every step. Calls are those that the
monitor counted."""


def percent(value, digits=2):
    return f"{100 * value:+.{digits}f} %"


def cell(found, form):
    """An interval: mean (low to high)."""
    if not found:
        return "-"
    if found["low"] is None:
        return form(found["mean"])
    return f"{form(found['mean'])} ({form(found['low'])} to {form(found['high'])})"


def amount(found):
    """What must be the same in each block."""
    if not found:
        return "-"
    if found["most"] - found["least"] < 0.005:
        return f"{found['mean']:,.2f}".rstrip("0").rstrip(".")
    return f"{found['mean']:,.2f} ({found['least']:,.2f} to {found['most']:,.2f})"


def microseconds(found):
    return (
        f"{found['mean'] * 1e6:,.2f} ({found['least'] * 1e6:,.2f} to {found['most'] * 1e6:,.2f})"
        if found else "-")


def machine(versions):
    gpu = (f"{versions['gpu']}, driver {versions['driver']}"
           if versions["driver"] else versions["gpu"])
    if versions["simulated"]:
        gpu = ("no GPU: simulated CUDA libraries, PyTorch on the CPU; "
               "these figures only show that the script works")
    torch = (f"PyTorch {versions['torch']} (CUDA {versions['torch_cuda']})"
             if versions["torch"] else "no PyTorch")
    return (f"{gpu}; nvcc {versions['nvcc']}, {torch}, Python {versions['python']}, "
            f"{versions['gpuprobe']}")


def waits(loop):
    return f"{100 * loop['wait_share']['mean']:.0f} %" if loop["wait_share"] else "-"


def loop_rows(result):
    for loop in result["loops"].values():
        calls = loop["calls_per_step"]["monitor"] or loop["calls_per_step"].get("stat")
        launches = loop["launches_per_step"]["monitor"] or loop["launches_per_step"].get("stat")
        rate = loop["calls_per_second"]
        yield [loop["title"], microseconds(loop["plain_step_seconds"]),
               f"{amount(calls)} ({amount(launches)})", "-" if rate is None else f"{rate:,.0f}",
               waits(loop)]


def slowdown_rows(result):
    for loop in result["loops"].values():
        yield [loop["title"], *(cell(loop["slowdown"][tool], percent) for tool in result["tools"])]


def added(loop, tool, calls):
    """Nanoseconds that a tool adds, by so many calls a step."""
    found = loop["added_ns"][tool]
    return found and {key: found[key] if key == "n" or found[key] is None else found[key] / calls
                      for key in found}


def cost_rows(result):
    loops, shares = result["loops"], result["calls_times_cost"]
    for what, key in (("a launch of the first loop, ns", "launch"),
                      ("a launch and its wait, ns", "sync"),
                      ("an allocation and its free, ns", "allocation")):
        each = 8 if key == "allocation" else 1
        if key not in loops:
            continue
        yield [what,
               *(cell(added(loops[key], tool, each), "{:,.0f}".format) for tool in result["tools"])]
    for key in ("torch_operations", "torch_training"):
        if key not in loops:
            continue
        calls = loops[key]["calls_per_step"]["monitor"] or loops[key]["calls_per_step"].get("stat")
        if calls and calls["mean"]:
            yield [f"a call of: {loops[key]['title']}, ns",
                   *(cell(added(loops[key], tool, calls["mean"]), "{:,.0f}".format)
                     for tool in result["tools"])]
    yield ["calls x cost of a launch, GPU-bound loop (by the cost's upper end)",
           *(share_of(shares[tool]) for tool in result["tools"])]


def share_of(share):
    if not share:
        return "-"
    return f"{100 * share['share']:.3f} %" + (
        "" if share["high"] is None else f" ({100 * share['high']:.3f} %)")


def measured(bar):
    if bar["measured"] is None:
        return "not measured"
    values = bar["measured"] if isinstance(bar["measured"], list) else [bar["measured"]]
    return " to ".join(percent(value, 3) for value in values)


def bar_rows(result):
    for bar in result["bars"]:
        wanted = f"≤ {100 * bar['bar']:g} %" if bar["bar"] else "contains 0"
        yield [bar["what"], wanted, measured(bar),
               {True: "met", False: "NOT MET", None: "-"}[bar["met"]]]


def seconds(found):
    return f"{found['mean']:.2f} ({found['least']:.2f} to {found['most']:.2f})" if found else "-"


def tool_rows(result):
    for tool in result["tools"].values():
        yield [f"`{tool['title']}`", seconds(tool["start_seconds"]), seconds(tool["stop_seconds"]),
               tool["lost"]]


def failures(result):
    lines = [f"- {loop['title']}: {loop['failed']}" for loop in result["loops"].values()
             if loop["failed"]]
    lines += [f"- `{tool['title']}`: {tool['failed']}" for tool in result["tools"].values()
              if tool["failed"]]
    lines += [f"- {what}" for what in result["told"] if what.startswith("out of time")]
    return ["Not measured, or not completely:",
            "\n".join(" ".join(line.split()) for line in lines)] if lines else []


def show(result):
    """A section's text, without its heading."""
    block, weight = result["block_seconds"] or 0, result["loops"]["torch_training"]["weight"]
    titles = [f"`{tool['title']}`" for tool in result["tools"].values()]
    parts = [f"{machine(result['versions'])}.",
             HOW.format(rounds=result["rounds"], block=block * weight),
             table(["bar", "wanted", "measured", ""], bar_rows(result)), *failures(result),
             "Without gpuprobe: the time of a step, as mean and extremes of all blocks. "
             "The share of waits for the GPU is from `stat`.",
             table(["loop", "µs a step", "calls a step (launches)", "calls/s", "waits"],
                   loop_rows(result)),
             "Slowdown with:", table(["loop", *titles], slowdown_rows(result)),
             "Added time of a call:", table(["what", *titles], cost_rows(result)),
             "Seconds from exec to live probes (noticed 0.2 s later), seconds from SIGINT to the "
             "end, and losses:", table(["", "start", "end", "lost"], tool_rows(result))]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"
