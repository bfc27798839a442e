/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capabilities: which ones this process has, and what gpuprobe needs each for. If started as root,
 * gpuprobe gives up all others, for good.
 */
#ifndef PRIVILEGE_CAPABILITIES_H
#define PRIVILEGE_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A capability that gpuprobe uses. */
struct capability_use {
	int number;	     /* CAP_... of linux/capability.h */
	const char *name;    /* "CAP_BPF" */
	const char *what;    /* its purpose: "loads BPF programs and makes their maps" */
	const char *without; /* the effect of its absence: "nothing can be watched" */
	bool required;	     /* gpuprobe cannot work without it */
	bool perf_only;	     /* needed only if probes are tracefs or perf links */
};

#define CAPABILITY_USES 6

extern const struct capability_use capability_uses[CAPABILITY_USES];

/* Sets of capabilities: bit n is capability number n. */
struct capabilities {
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
	uint64_t ambient;
	uint64_t bounding;
};

/* Reads the sets of the calling thread. Returns a negative errno with the reason in `err`. */
int capabilities__read(struct capabilities *capabilities, struct error *err);

/* The effective set of the calling thread; 0 if it cannot be read. */
uint64_t capabilities__effective(void);

/*
 * Whether a process with this effective set may do what capability `number` allows: it has it, or
 * it has CAP_SYS_ADMIN, which the kernel accepts for CAP_BPF, CAP_PERFMON and
 * CAP_CHECKPOINT_RESTORE as well.
 */
bool capabilities__suffice(uint64_t effective, int number);

/*
 * Lists the capabilities that gpuprobe could use and `effective` lacks, separated by ", "; empty if
 * it lacks none. `perf`: probes are tracefs or perf links. Returns `text`.
 */
char *capabilities__lacking(uint64_t effective, bool perf, char *text, size_t size);

/*
 * Checks that `effective` has all mandatory capabilities, whatever the links. Returns 0, or -EPERM
 * with the missing ones in `err`.
 */
int capabilities__require(uint64_t effective, struct error *err);

/*
 * Returns -EPERM, with what to do in `err`. `lacking`: the missing names; empty if the operation
 * was refused although none is missing.
 */
int capabilities__refused(const char *lacking, struct error *err);

/*
 * Gives up every capability that gpuprobe does not use, in all sets and for good, and sets
 * no_new_privs. `perf`: keep CAP_SYS_ADMIN if present. It never acquires one. Affects only the
 * calling thread, so call it before starting threads. Returns a negative errno with the reason in
 * `err`; gpuprobe must not go on then.
 */
int capabilities__keep_needed(bool perf, struct error *err);

/*
 * Gives up every capability of the calling thread, for good, and sets no_new_privs. Returns 0 or a
 * negative errno.
 */
int capabilities__give_up_all(void);

#endif
