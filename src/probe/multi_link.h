/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uprobe_multi and session links through bpf(2): libbpf 1.1 (Debian 12) has
 * no call for them, and its linux/bpf.h no words. Facts: include/uapi/linux/bpf.h
 * of Linux 6.13.
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
 * Links a loaded program (expected attach type `type`) to `count` file
 * offsets of the file at `path`, each with its cookie (NULL: all 0).
 * `on_return` is for ATTACH_UPROBE_MULTI only. Returns the link's descriptor,
 * whose close detaches all sites, or a negative errno.
 */
int multi_link__create(int program, int type, const char *path, const uint64_t *offsets,
		       const uint64_t *cookies, size_t count, bool on_return);

/* The same in one process only, as gpuprobe's pid namespace numbers it; 0: in all. */
int multi_link__create_in(pid_t pid, int program, int type, const char *path, const uint64_t *offsets,
			  const uint64_t *cookies, size_t count, bool on_return);

/*
 * Whether the leading thread of the one process that a link is for, by which the kernel knows it, is gone: the process
 * has ended and been waited for, or another of its threads has executed a program.
 */
bool multi_link__is_orphaned(int link_fd);

#endif
