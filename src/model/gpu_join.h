/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joins the work of a process's GPUs with the calls that submitted it. CUPTI gives a piece of work
 * and the driver call that submitted it one number; that call is the latest one of its thread that
 * gpuprobe's probes have seen begin before it. All three arrive in any order, and are kept for a
 * while.
 *
 * The watched process may say anything: what is kept is bounded, and the oldest is forgotten.
 */
#ifndef MODEL_GPU_JOIN_H
#define MODEL_GPU_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/gpu_times.h"

#define GPU_JOIN_ROOM 16384 /* kept of each sort; together up to 2.7 MiB */

struct gpu_join;

/* A piece of work with its call. Times are by CUPTI's clock. */
struct gpu_joined {
	const struct gpu_work *work;
	uint64_t called_ns; /* when the call began */
	uint64_t stack;	    /* of the call; 0: none was taken */
	uint64_t path;	    /* of the NVTX ranges that it was in; 0: in none */
	uint32_t tid;	    /* its thread, in gpuprobe's pid namespace */
};

typedef void (*gpu_joined_fn)(const struct gpu_joined *joined, void *arg);
typedef void (*gpu_unjoined_fn)(const struct gpu_work *work, void *arg);

/* NULL without memory. */
struct gpu_join *gpu_join__new(void);
void gpu_join__free(struct gpu_join *join); /* NULL ok */

/* The same moment by both clocks: `boot_ns` may be late, by less than a call takes. */
void gpu_join__set_clock(struct gpu_join *join, uint64_t cupti_ns, uint64_t boot_ns);

/* What is to be added to a time of CUPTI's clock to have CLOCK_BOOTTIME; false: not known yet. */
bool gpu_join__clock(const struct gpu_join *join, int64_t *offset_ns);

/* Each returns whether gpu_join__run is due: without it the earliest is soon forgotten. */
bool gpu_join__add_call(struct gpu_join *join, const struct gpu_call *call);
bool gpu_join__add_work(struct gpu_join *join, const struct gpu_work *work); /* or GPU_WORK_CALL */

/*
 * Passes on the work whose call is known by now, in the order of its start. Returns how many calls
 * have got their record of CUPTI's.
 */
size_t gpu_join__run(struct gpu_join *join, gpu_joined_fn fn, void *arg);

/* From now on work that is forgotten goes to `fn`, which must not call functions of the join. */
void gpu_join__keep_all(struct gpu_join *join, gpu_unjoined_fn fn, void *arg);

/*
 * After gpu_join__run: forgets the work that has been waiting for its call since the last time;
 * with `all`, all work.
 */
void gpu_join__give_up(struct gpu_join *join, bool all);

#endif
