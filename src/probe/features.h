/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the running kernel offers gpuprobe, found by trying, not by version:
 * distributions backport and leave out.
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
 * Fills `features`. Fails with a text for a person where gpuprobe cannot run
 * at all: -EPERM without the privileges, -ENOENT without BTF, -ENOSYS on a
 * kernel older than 5.17.
 */
int features__probe(struct features *features, struct error *err);

/* The kernel has not taken a BPF object, with the errno `code`. Returns that, with what to do in `err`. */
int features__refused(int code, struct error *err);

/*
 * Try a part of it alone. Whether the kernel takes a BPF program that does
 * nothing, and one that reads the kernel's memory: 0 or a negative errno.
 */
int features__try_program(void);
int features__try_reading(void);

/* Which links there are, false for all where the kernel takes no program; nothing else of `features` is set. */
void features__try_links(struct features *features);

/*
 * The best kind of link; `forced` is the value of GPUPROBE_LINKS (or NULL):
 * "session", "multi" or "perf". -EINVAL for another word, -ENOTSUP for a kind
 * that the kernel does not have.
 */
int features__choose_links(const struct features *features, const char *forced, enum link_kind *kind,
			   struct error *err);

#endif
