/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel itself: its version, its types, its lockdown and its BPF JIT. */
#ifndef CHECK_KERNEL_H
#define CHECK_KERNEL_H

#include "check/list.h"
#include "probe/kernel_types.h"

struct kernel_facts {
	char release[80], machine[80]; /* from uname(2) */
	int btf;		       /* 0: the kernel's types can be read; or a negative errno */
	int types_read;		       /* the same for their contents */
	struct kernel_types types;
	char lockdown[32]; /* "none", "integrity", "confidentiality"; empty if unknown */
	long jit;	   /* net.core.bpf_jit_enable; negative if unknown */
};

/* Reads the facts from files below `root` ("" for this machine). */
void kernel_facts__read(const char *root, struct kernel_facts *facts);

/* Extracts the word in brackets from "none [integrity] confidentiality"; empty if there is none. */
void kernel_facts__parse_lockdown(const char *text, char word[32]);

void check_kernel__judge(const struct kernel_facts *facts, struct check_list *list);

#endif
