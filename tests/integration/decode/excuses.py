# SPDX-License-Identifier: BSD-2-Clause
"""The rows that have an operation and cannot be driven, by reason.
Each reason is checked, and must be needed."""

# The simulator exports the function and answers 801 (not supported).
NOT_SIMULATED = frozenset({
    "cuMulticastCreate", "cuExternalMemoryGetMappedBuffer",
    "cuExternalMemoryGetMappedMipmappedArray",
    "cuGraphAddExternalSemaphoresSignalNode", "cuGraphAddExternalSemaphoresWaitNode",
    "cudaExternalMemoryGetMappedBuffer", "cudaExternalMemoryGetMappedMipmappedArray",
    "cudaGraphAddExternalSemaphoresSignalNode", "cudaGraphAddExternalSemaphoresWaitNode",
})

# There is no library of that soname major in the simulator: only rows for it and for older ones.
NO_LIBRARY = 11


def reason(row):
    """Why the row is not driven, or None."""
    if row.arguments is None:
        return "prototype not recorded"
    if row.symbol in NOT_SIMULATED:
        return "not simulated"
    if row.layer == "library":
        return "no function of CUDA: stacks/test_handles.py"
    if row.operation == "ask":
        return "no argument of it is read"
    if row.soname and row.soname <= NO_LIBRARY:
        return "no such library"
    return None
