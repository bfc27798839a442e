/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the running kernel's own types (BTF) tell that it has: by name, as the
 * BPF programs look for it when they are loaded, and without any privilege.
 */
#ifndef PROBE_KERNEL_TYPES_H
#define PROBE_KERNEL_TYPES_H

#include <stdbool.h>

struct btf;

struct kernel_types {
	bool loops;	      /* bpf_loop (Linux 5.17) */
	bool finds_mappings;  /* bpf_find_vma (Linux 5.17) */
	bool one_process;     /* an iterator over mappings can be limited to one process (Linux 6.1) */
	bool counts_mappings; /* mm_lock_seq in mm_struct counts changes of mappings (Linux 6.13) */
};

/* The kernel's; a negative errno where its types cannot be read: -ENOENT where it has none. */
int kernel_types__read(struct kernel_types *types);

/* The same of types that are there already. For tests. */
void kernel_types__of(const struct btf *btf, struct kernel_types *types);

#endif
