/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A place in a file where a probe goes, and what a probe there costs.
 */
#ifndef TARGET_PROBE_SITE_H
#define TARGET_PROBE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct probe_point {
	uint64_t file_offset; /* of the function's first instruction */
	uint16_t row;	      /* in api_functions[], or beyond: one that the table does not know */
	uint8_t layer;	      /* enum layer */
	bool slow;	      /* the kernel must single-step it: about 15 us a call, not 0.5 */
	bool nop5;	      /* it is a nop of five bytes, see probe/nop5.h */
};

/*
 * Whether every kernel since 5.15 emulates the instruction at `code` (`n`
 * bytes are known; 16 are always enough) when a probe replaces it: push of a
 * register, nop, and relative jumps and calls. All else, the multi-byte nop
 * (emulated by recent kernels only) and endbr64 included, counts as slow.
 */
bool probe_point__is_fast(const uint8_t *code, size_t n);

/* Whether the instruction is a nop of five bytes, in any of its forms. */
bool probe_point__is_nop5(const uint8_t *code, size_t n);

#endif
