# SPDX-License-Identifier: BSD-2-Clause
"""Which rule drives a row, by its operation."""
from decode import (captures, contexts, copies, graphs, launches, memory, objects, pools, virtual,
                    waits)
from decode.case import NoRule

RULES = {
    "alloc": memory.allocate,
    "free": memory.release,
    "copy": copies.copy,
    "set": copies.fill,
    "launch": launches.launch,
    "launch_list": launches.launch_list,
    "host_function": launches.host_function,
    "wait": waits.answer,
    "query": waits.answer,
    "event_record": waits.event_record,
    "create": objects.create,
    "destroy": objects.destroy,
    "get_kernel": objects.get_kernel,
    "context": contexts.change,
    "device": contexts.device,
    "virtual": virtual.change,
    "pool": pools.change,
    "graph_launch": graphs.launch,
    "capture": captures.change,
    "graph": graphs.change,
}


def drive(case):
    """Drives the case's row; raises NoRule where nobody has said how."""
    rule = RULES.get(case.row.operation)
    if not rule or case.row.arguments is None:
        raise NoRule(case.row)
    rule(case)
