/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Distinguishes the program that a process runs from one that it ran before exec; pid and start
 * time do not change at exec.
 */
#ifndef GPUPROBE_IMAGE_H
#define GPUPROBE_IMAGE_H

#include <linux/types.h>

/*
 * Computed from members of the kernel's mm_struct that /proc/PID/stat shows too. They are 0 during
 * exec(2).
 */
static inline __u64 image_of(__u64 end_code, __u64 start_stack)
{
	return end_code * 31 + start_stack;
}

#endif
