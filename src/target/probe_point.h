/* SPDX-License-Identifier: BSD-2-Clause */
/* An address for a probe in a file, and the cost of a probe there. */
#ifndef TARGET_PROBE_POINT_H
#define TARGET_PROBE_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct probe_point {
	uint64_t file_offset; /* of the function's first instruction */
	uint16_t row;	      /* in api_functions[], or beyond for an unknown function */
	uint8_t layer;	      /* enum layer */
	bool slow;	      /* the kernel must single-step it: about 15 us per call, not 0.5 */
	bool nop5;	      /* it is a five-byte nop, see probe/nop5.h */
};

/*
 * Whether every kernel since 5.15 emulates the instruction at `code` when a probe replaces it (`n`
 * bytes are known; 16 are always enough): push of a register, nop, and relative jumps and calls.
 * Everything else counts as slow, including the multi-byte nop (which only recent kernels emulate)
 * and endbr64.
 */
bool probe_point__is_fast(const uint8_t *code, size_t n);

/* Whether the instruction is a five-byte nop, in any of its forms. */
bool probe_point__is_nop5(const uint8_t *code, size_t n);

#endif
