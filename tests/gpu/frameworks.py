# SPDX-License-Identifier: BSD-2-Clause
"""CuPy and JAX: their kernels, copies and memory, compared with what they say themselves."""
from machine import device_memory, kernels_of, lost


def test_cupy(machine, results):
    report, status = machine.watch(machine.python("cupy_loop.py", "--steps", "100"))
    said = machine.said[0]
    copies = {kind: sum(copy["bytes"] for process in report["processes"]
                        for copy in process["copies"] if copy["kind"] == kind)
              for kind in ("H2D", "D2H")}
    results.check(f"CuPy {said['cupy']}: exit status, right result, launches of its kernel",
                  (0, True, 100), (status, said["right"], kernels_of(report)["triple"]))
    results.check("CuPy: bytes to and from the device",
                  {"H2D": said["copied"], "D2H": said["copied"]}, copies)
    results.check("CuPy: device memory at exit (its pool's total)", {"device": said["pool_bytes"]},
                  device_memory(report))


def test_jax(machine, results):
    none, _ = machine.watch(machine.python("jax_loop.py", "--steps", "10"))
    report, status = machine.watch(machine.python("jax_loop.py", "--steps", "110"))
    said = machine.said[0]
    more = kernels_of(report)
    more.subtract(kernels_of(none))
    more = {name: count for name, count in more.items() if count}
    results.check(f"JAX {said['jax']}: exit status, every kernel of a step 100 times more in 110 "
                  "steps than in 10, lost", (0, True, 0),
                  (status, bool(more) and all(count % 100 == 0 for count in more.values()),
                   lost(report)))
    results.tell("JAX: kernels of 100 steps", more)
    results.tell("JAX: device memory at exit; its own statistics",
                 {**device_memory(report), **said["stats"]})
