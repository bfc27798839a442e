/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that do nothing: probes watch them. They begin with a nop. The kernel knows what a nop
 * does, so that the probe needs no single step, which would cost ten times as much.
 */
#ifndef INJECT_PROBE_POINT_H
#define INJECT_PROBE_POINT_H

/* Defines and exports the function, which a header declares with its arguments. */
#define PROBE_POINT(name) \
	__asm__(".pushsection .text\n" \
		".p2align 4\n" \
		".globl " #name "\n" \
		".type " #name ", @function\n" #name ":\n\t" \
		"nop\n\t" \
		"ret\n" \
		".size " #name ", . - " #name "\n" \
		".popsection")

#endif
