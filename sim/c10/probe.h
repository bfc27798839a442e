/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static probe points (USDT) with semaphores, as <sys/sdt.h> of SystemTap makes them: a nop, and a
 * note that says where it is, where the semaphore is, and where the operands are. The operands are
 * written out here, so that each point has the form that a test needs.
 */
#ifndef SIM_C10_PROBE_H
#define SIM_C10_PROBE_H

/* A semaphore: the number of watchers. Probe points are passed only if it is not 0. */
#define SIM_SEMAPHORE(name) \
	volatile unsigned short name __attribute__((section(".probes"), used))

/*
 * The text of a probe point, for an asm statement whose inputs are what `operands` names: a string
 * such as "-8@%%rax -1@%%dl".
 */
#define SIM_PROBE(provider, name, semaphore, operands) \
	"990:	nop\n" \
	"	.pushsection .note.stapsdt,\"?\",\"note\"\n" \
	"	.balign 4\n" \
	"	.4byte 992f-991f, 994f-993f, 3\n" \
	"991:	.asciz \"stapsdt\"\n" \
	"992:	.balign 4\n" \
	"993:	.8byte 990b, _.stapsdt.base, " #semaphore "\n" \
	"	.asciz \"" #provider "\"\n" \
	"	.asciz \"" #name "\"\n" \
	"	.asciz \"" operands "\"\n" \
	"994:	.balign 4\n" \
	"	.popsection\n" \
	"	.ifndef _.stapsdt.base\n" \
	"	.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	"	.weak _.stapsdt.base\n" \
	"	.hidden _.stapsdt.base\n" \
	"_.stapsdt.base:	.space 1\n" \
	"	.size _.stapsdt.base, 1\n" \
	"	.popsection\n" \
	"	.endif\n"

#endif
