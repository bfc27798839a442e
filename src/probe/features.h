/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the running kernel supports, found by trying rather than by version, because distributions
 * backport and omit features.
 */
#ifndef PROBE_FEATURES_H
#define PROBE_FEATURES_H

#include <stdbool.h>

#include "base/error.h"
#include "gpuprobe/state.h"

struct features {
	bool uprobe_multi;   /* BPF_TRACE_UPROBE_MULTI links (Linux 6.6) */
	bool uprobe_session; /* BPF_TRACE_UPROBE_SESSION links (Linux 6.13) */
	bool lazy_maps;	     /* hash maps can grow safely under tracing programs (Linux 6.1) */
};

/*
 * Fills `features`. Fails with a message for a person if gpuprobe cannot run at all: -EPERM without
 * the privileges, -ENOENT without BTF, -ENOSYS on a kernel older than 5.17.
 */
int features__probe(struct features *features, struct error *err);

/*
 * Explains why the kernel refused a BPF object with errno `code`. Returns `code`, with what to do
 * in `err`.
 */
int features__refused(int code, struct error *err);

/*
 * Partial trials: whether the kernel accepts an empty BPF program, and one that reads kernel
 * memory. Return 0 or a negative errno.
 */
int features__try_program(void);
int features__try_reading(void);

/*
 * Finds out which kinds of links exist; all false if the kernel accepts no program. Sets nothing
 * else in `features`.
 */
void features__try_links(struct features *features);

/*
 * Chooses the best kind of link. `forced` is the value of GPUPROBE_LINKS (or NULL): "session",
 * "multi" or "perf". Returns -EINVAL for another word, -ENOTSUP for a kind that the kernel does not
 * have.
 */
int features__choose_links(const struct features *features, const char *forced,
			   enum link_kind *kind, struct error *err);

#endif
