/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merges native and Python frames into one stack. The interpreter runs Python frames in calls of
 * one C function. Each such call in the native stack is replaced by the Python frames that it ran;
 * the interpreter's other frames are removed.
 */
#ifndef STACK_MERGE_H
#define STACK_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the interpreter is mapped; see struct python_process. */
struct merge_ranges {
	uint64_t object_start, object_end;
	uint64_t eval_start, eval_end;
};

/* A frame of the result: `index` counts frames of its kind. */
struct merged_frame {
	bool python;
	uint32_t index;
};

/*
 * Merges `native` return addresses (unaligned) and `count` Python frames, both innermost first.
 * `entry` says for a Python frame whether a call of the interpreter began with it. If the native
 * stack has fewer interpreter calls (it could not be followed), the remaining Python frames come
 * after the interpreter's last frame, or at the end. Returns the number of frames in *merged: at
 * most `depth` + `count`.
 */
size_t python_merge(const uint64_t *native, uint32_t depth, const bool *entry, uint32_t count,
		    const struct merge_ranges *ranges, struct merged_frame *merged);

#endif
