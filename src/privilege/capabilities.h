/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capabilities: which this process has, and which of them gpuprobe needs for
 * what. Started as root it gives up all the others, for good.
 */
#ifndef PRIVILEGE_CAPABILITIES_H
#define PRIVILEGE_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* One that gpuprobe has a use for. */
struct capability_use {
	int number;	     /* CAP_... of linux/capability.h */
	const char *name;    /* "CAP_BPF" */
	const char *what;    /* what it serves: "loads BPF programs and makes their maps" */
	const char *without; /* what becomes of that without it: "nothing can be watched" */
	bool required;	     /* gpuprobe does nothing without it */
	bool perf_only;	     /* only where probes are tracefs or perf links */
};

#define CAPABILITY_USES 6

extern const struct capability_use capability_uses[CAPABILITY_USES];

/* Sets of capabilities: bit n stands for the capability of number n. */
struct capabilities {
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
	uint64_t ambient;
	uint64_t bounding;
};

/* Reads those of the calling thread. A negative errno with the reason in `err`. */
int capabilities__read(struct capabilities *capabilities, struct error *err);

/* The effective set of the calling thread; 0 where it cannot be read. */
uint64_t capabilities__effective(void);

/*
 * Whether a process with this effective set may do what `number` is for: it
 * has it, or has CAP_SYS_ADMIN, which the kernel takes for CAP_BPF,
 * CAP_PERFMON and CAP_CHECKPOINT_RESTORE as well.
 */
bool capabilities__suffice(uint64_t effective, int number);

/*
 * Names those that gpuprobe could use and `effective` lacks, separated by
 * ", ", the empty string where none is lacking. `perf`: probes are tracefs or
 * perf links. Returns `text`.
 */
char *capabilities__lacking(uint64_t effective, bool perf, char *text, size_t size);

/*
 * Whether `effective` has all without which gpuprobe does nothing, whatever the links. 0, or -EPERM with those that are lacking in `err`.
 */
int capabilities__require(uint64_t effective, struct error *err);

/* -EPERM, with what to do in `err`. `lacking`: names, or empty where all are there and it was refused all the same. */
int capabilities__refused(const char *lacking, struct error *err);

/*
 * Gives up every capability but those that gpuprobe uses, in all sets and for
 * good, and sets no_new_privs. With `perf`, CAP_SYS_ADMIN is kept where it is
 * there. What the process does not have is not asked for. Of the calling
 * thread alone, so before any other thread is started. A negative errno with
 * the reason in `err`: then gpuprobe must not go on.
 */
int capabilities__keep_needed(bool perf, struct error *err);

/* Gives up every capability of the calling thread's, for good, and sets no_new_privs. 0 or a negative errno. */
int capabilities__give_up_all(void);

#endif
