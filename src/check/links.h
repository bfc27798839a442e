/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF and the links that attach probes: which kinds the kernel has, and whether they work.
 * Everything is tried: programs are loaded, and a function of gpuprobe itself is probed and called.
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

/* The result of a trial. */
struct attempt {
	bool made;
	int ret; /* 0 or a negative errno */
	struct error error;
};

struct link_facts {
	int program; /* loading an empty program: 0 or a negative errno */
	int reading; /* the same for a program that reads kernel memory */
	/* The following are tried only if programs can be loaded. */
	struct features features;
	int chosen; /* 0 if `kind` is used; otherwise the error about GPUPROBE_LINKS */
	struct error choice_error;
	enum link_kind kind;
	bool forced;	   /* GPUPROBE_LINKS decided */
	bool foreign_proc; /* /proc belongs to another pid namespace, or is missing */
	struct attempt probing;
	struct probe_selftest trial;	/* valid if probing succeeded */
	struct attempt iterator;	/* over mappings: tells which file the kernel probes */
	struct attempt monitor, tracer; /* loading their BPF objects */
	struct attempt threads;		/* following threads, as diagnose does */
	enum stack_mode stacks;		/* the mode in which the monitor was loaded */
};

/*
 * Tries everything. `forced` is the value of GPUPROBE_LINKS, or NULL. If `tracefs` is false,
 * tracefs links are not tried, because trying them would mount it. Takes a second or two and forks,
 * so call it before starting threads.
 */
void link_facts__try(const char *forced, bool tracefs, const struct kernel_types *types,
		     struct link_facts *facts);

/* `types` is NULL if they could not be read. */
void check_links__judge(const struct link_facts *facts, const struct kernel_types *types,
			struct check_list *list);

/* Whether the probes are tracefs links. */
enum tracefs_use {
	TRACEFS_UNUSED = 0,
	TRACEFS_USED,
	TRACEFS_USE_UNKNOWN,
};

enum tracefs_use link_facts__tracefs_use(const struct link_facts *facts);

#endif
