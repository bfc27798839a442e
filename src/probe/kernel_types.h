/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the running kernel's BTF says that it has: looked up by name, as the BPF programs do when
 * they are loaded, and without any privilege.
 */
#ifndef PROBE_KERNEL_TYPES_H
#define PROBE_KERNEL_TYPES_H

#include <stdbool.h>

struct btf;

struct kernel_types {
	bool loops;	      /* bpf_loop (Linux 5.17) */
	bool finds_mappings;  /* bpf_find_vma (Linux 5.17) */
	bool one_process;     /* mapping iterators can be limited to a process (Linux 6.1) */
	bool counts_mappings; /* mm_struct counts mapping changes, mm_lock_seq (6.13) */
};

/*
 * Reads the kernel's types. Returns a negative errno if they cannot be read: -ENOENT if the kernel
 * has none.
 */
int kernel_types__read(struct kernel_types *types);

/* The same from BTF that is already loaded. For tests. */
void kernel_types__of(const struct btf *btf, struct kernel_types *types);

#endif
