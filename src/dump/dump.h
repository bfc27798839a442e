/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes dumps of processes (model/dump.h): first all threads at nearly the same moment, then their
 * names and what they wait for. Nothing is stopped, written or probed.
 */
#ifndef DUMP_DUMP_H
#define DUMP_DUMP_H

#include "base/error.h"
#include "base/log.h"
#include "model/dump.h"
#include "target/memory_reader.h"
#include "target/proc.h"
#include "target/process_filter.h"

/* Threads of all processes in one dump; further threads are counted as `unseen`. */
#define DUMP_THREADS_MAX 2048

struct dumper;

struct dump_request {
	const pid_t *pids; /* in this order; those that have ended are left out */
	size_t count;
	uint64_t since_ns;  /* start for dump.taken_ns (CLOCK_BOOTTIME) */
	bool threads_alone; /* skip the processes' identity and their GPUs */
	/*
	 * name only the functions that are needed to find the calls, which is much faster; other
	 * frames have their object, there are no Python frames, and `maps_cuda` is not set
	 */
	bool calls_alone;
};

/*
 * Loads the BPF program that reads threads. `memory` and `log` must outlive the dumper. Returns 0
 * or a negative errno.
 */
int dumper__new(struct memory_reader *memory, const struct log *log, struct dumper **out,
		struct error *err);
void dumper__free(struct dumper *dumper); /* NULL ok; free its dumps first */

/*
 * Returns 0 or -ENOMEM. Waits for NVML at most GPU_WAIT_MS, and no more after it did not
 * answer.
 */
int dumper__take(struct dumper *dumper, const struct dump_request *request, struct dump **out);
void dump__free(struct dump *dump); /* NULL ok */

/*
 * Adds the processes in `requested`, whatever they map, and their descendants that use CUDA; if
 * `requested` is empty, all processes that use CUDA (choice.c). Returns 0 or a negative errno. The
 * caller releases the list with pid_list__clear in any case.
 */
int dump_choice__make(const pid_t *requested, size_t count, struct pid_list *pids);

/* Takes out the processes that the filter leaves out. */
void dump_choice__filter(const struct process_filter *filter, struct pid_list *pids);

/* Whether the process maps a library with the name of a CUDA library. */
bool dump__maps_cuda(pid_t pid);

#endif
