/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel itself: its version, its types, what its lockdown and its compiler of BPF programs allow. */
#ifndef CHECK_KERNEL_H
#define CHECK_KERNEL_H

#include "check/list.h"
#include "probe/kernel_types.h"

struct kernel_facts {
	char release[80], machine[80]; /* as uname(2) tells */
	int btf;		       /* 0: the kernel's types can be read; or a negative errno */
	int types_read;		       /* the same of what is in them */
	struct kernel_types types;
	char lockdown[32]; /* "none", "integrity", "confidentiality"; empty: not told */
	long jit;	   /* net.core.bpf_jit_enable; negative: not told */
};

/* Reads them; files below `root`, which is "" for this machine. */
void kernel_facts__read(const char *root, struct kernel_facts *facts);

/* The word in brackets of "none [integrity] confidentiality"; empty without one. */
void kernel_facts__parse_lockdown(const char *text, char word[32]);

void check_kernel__judge(const struct kernel_facts *facts, struct check_list *list);

#endif
