/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One stack of native and Python frames. The interpreter runs Python's frames
 * in calls of one C function: each such call in the native stack is replaced
 * by the Python frames that it ran, the other frames of the interpreter go.
 */
#ifndef STACK_MERGE_H
#define STACK_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The interpreter in memory, see struct python_process. */
struct merge_ranges {
	uint64_t object_start, object_end;
	uint64_t eval_start, eval_end;
};

/* A frame of the result: `index` among those of its kind. */
struct merged_frame {
	bool python;
	uint32_t index;
};

/*
 * Merges `native` return addresses (unaligned) and `count` Python frames, both
 * innermost first. `entry` tells of a Python frame whether a call of the
 * interpreter began with it. Where the native stack has fewer such calls than
 * that (it could not be followed), what is left stands behind the interpreter's
 * last frame, or at the end. Returns how many frames *merged has: at most
 * `depth` and `count` together.
 */
size_t python_merge(const uint64_t *native, uint32_t depth, const bool *entry, uint32_t count,
		    const struct merge_ranges *ranges, struct merged_frame *merged);

#endif
