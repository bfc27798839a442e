/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Errors that the CUDA documentation describes as follows: the process is in an inconsistent state,
 * any further CUDA work fails with the same code, and only a new process can use CUDA again (Driver
 * API 13.0, CUresult; the runtime's codes have the same numbers).
 */
#ifndef GPUPROBE_STICKY_H
#define GPUPROBE_STICKY_H

#include <linux/types.h>

static inline int error__is_sticky(__s32 code)
{
	switch (code) {
	case 226: /* CONTAINED */
	case 700: /* ILLEGAL_ADDRESS */
	case 702: /* LAUNCH_TIMEOUT */
	case 710: /* ASSERT */
	case 714: /* HARDWARE_STACK_ERROR */
	case 715: /* ILLEGAL_INSTRUCTION */
	case 716: /* MISALIGNED_ADDRESS */
	case 717: /* INVALID_ADDRESS_SPACE */
	case 718: /* INVALID_PC */
	case 719: /* LAUNCH_FAILED */
	case 721: /* TENSOR_MEMORY_LEAK */
	case 810: /* MPS_CLIENT_TERMINATED */
	case 911: /* EXTERNAL_DEVICE */ return 1;
	default: return 0;
	}
}

#endif
