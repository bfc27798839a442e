/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tells a program that a process runs from one that it ran before exec: neither its pid nor its start does. */
#ifndef GPUPROBE_IMAGE_H
#define GPUPROBE_IMAGE_H

#include <linux/types.h>

/* From the members of the kernel's mm_struct, which /proc/PID/stat has too. While exec(2) is being done they are 0. */
static inline __u64 image_of(__u64 end_code, __u64 start_stack)
{
	return end_code * 31 + start_stack;
}

#endif
