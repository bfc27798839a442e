/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes dumps of processes (model/dump.h): first all threads, as they are at nearly one moment, then what they are called and
 * what they wait for. Nothing is stopped, written or probed.
 */
#ifndef DUMP_DUMP_H
#define DUMP_DUMP_H

#include "base/error.h"
#include "base/log.h"
#include "model/dump.h"
#include "target/memory_reader.h"
#include "target/proc.h"

/* Threads of all processes in one dump: beyond, threads are `unseen`. */
#define DUMP_THREADS_MAX 2048

struct dumper;

struct dump_request {
	const pid_t *pids; /* in this order; those that have ended are left out */
	size_t count;
	uint64_t since_ns;  /* what dump.taken_ns counts from (CLOCK_BOOTTIME) */
	bool threads_alone; /* who the processes are, and which GPUs they have, is not asked */
};

/* Loads what looks at threads. `memory` and `log` must outlive it. 0 or a negative errno. */
int dumper__new(struct memory_reader *memory, const struct log *log, struct dumper **out, struct error *err);
void dumper__free(struct dumper *dumper); /* NULL ok; after its dumps */

/* 0, or -ENOMEM. NVML is waited for half a second at most. */
int dumper__take(struct dumper *dumper, const struct dump_request *request, struct dump **out);
void dump__free(struct dump *dump); /* NULL ok */

/*
 * Which processes a dump is of (choice.c). Adds those that were asked for, whatever they have mapped, and their descendants
 * that use CUDA; where none was, all that use CUDA. 0 or a negative errno; pid_list__clear releases the list in any case.
 */
int dump_choice__make(const pid_t *asked, size_t count, struct pid_list *pids);

/* Whether the process maps a library that is named like CUDA's. */
bool dump__maps_cuda(pid_t pid);

#endif
