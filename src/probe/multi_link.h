/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uprobe_multi and session links by bpf(2): libbpf 1.1 (Debian 12) has no function for them, and
 * its linux/bpf.h lacks the constants. Source: include/uapi/linux/bpf.h of Linux 6.13.
 */
#ifndef PROBE_MULTI_LINK_H
#define PROBE_MULTI_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTACH_UPROBE_MULTI 48	 /* BPF_TRACE_UPROBE_MULTI */
#define ATTACH_UPROBE_SESSION 57 /* BPF_TRACE_UPROBE_SESSION */

/*
 * Links a loaded program (expected attach type `type`) to `count` file offsets of the file at
 * `path`, each with its cookie (NULL: all 0). `on_return` is for ATTACH_UPROBE_MULTI only. Returns
 * the link's descriptor, or a negative errno. Closing the descriptor detaches all sites.
 */
int multi_link__create(int program, int type, const char *path, const uint64_t *offsets,
		       const uint64_t *cookies, size_t count, bool on_return);

/* The same in one process only, given by its pid in gpuprobe's pid namespace; 0: in all. */
int multi_link__create_in(pid_t pid, int program, int type, const char *path,
			  const uint64_t *offsets, const uint64_t *cookies, size_t count,
			  bool on_return);

/* Where a link is, for multi_link__create_at. */
struct multi_link_sites {
	const uint64_t *offsets;
	const uint64_t *cookies; /* NULL: all 0 */
	/* file offsets of 16-bit counters that are raised while the link exists; NULL: none */
	const uint64_t *counters;
	size_t count;
};

/* As multi_link__create_in, with counters. */
int multi_link__create_at(pid_t pid, int program, int type, const char *path,
			  const struct multi_link_sites *sites, bool on_return);

/*
 * Whether the link's process has lost the main thread by which the kernel identifies it: the
 * process has ended and been waited for, or another of its threads has executed a program.
 */
bool multi_link__is_orphaned(int link_fd);

#endif
