/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF and the links by which probes go in: which the kernel has, and whether
 * they work. All of it is tried: programs are loaded, a function of gpuprobe's own
 * is probed and called.
 */
#ifndef CHECK_LINKS_H
#define CHECK_LINKS_H

#include <stdbool.h>

#include "base/error.h"
#include "check/list.h"
#include "gpuprobe/stack.h"
#include "probe/features.h"
#include "probe/kernel_types.h"
#include "probe/probe_selftest.h"

/* Something that was tried. */
struct attempt {
	bool made;
	int ret; /* 0 or a negative errno */
	struct error error;
};

struct link_facts {
	int program; /* loading a program that does nothing: 0 or a negative errno */
	int reading; /* the same, of one that reads the kernel's memory */
	/* What follows is tried only where programs can be loaded. */
	struct features features;
	int chosen; /* 0: `kind` is used; else why not, by GPUPROBE_LINKS */
	struct error choice_error;
	enum link_kind kind;
	bool forced;	   /* by GPUPROBE_LINKS */
	bool foreign_proc; /* /proc is another pid namespace's, or not there */
	struct attempt probing;
	struct probe_selftest trial;	/* where that succeeded */
	struct attempt iterator;	/* over mappings: tells which file the kernel probes */
	struct attempt monitor, tracer; /* loading their BPF objects */
	struct attempt threads;		/* following threads, as diagnose does */
	enum stack_mode stacks;		/* with which the monitor's was loaded */
};

/*
 * Tries everything. `forced` is the value of GPUPROBE_LINKS, or NULL. With
 * `tracefs` false tracefs links are not tried: they would mount it. Takes a second or two, and
 * forks: before threads are started.
 */
void link_facts__try(const char *forced, bool tracefs, const struct kernel_types *types, struct link_facts *facts);

/* `types` are NULL where they could not be read. */
void check_links__judge(const struct link_facts *facts, const struct kernel_types *types, struct check_list *list);

/* Whether the probes are tracefs links. */
enum tracefs_use {
	TRACEFS_UNUSED = 0,
	TRACEFS_USED,
	TRACEFS_USE_UNKNOWN,
};

enum tracefs_use link_facts__tracefs_use(const struct link_facts *facts);

/* "session", "multi", "perf": what GPUPROBE_LINKS takes. */
const char *link_kind__word(enum link_kind kind);

#endif
