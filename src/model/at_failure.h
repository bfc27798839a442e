/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process held when an allocation failed. The report of the failure comes up to some seconds
 * later, when the program may have freed everything: what was freed since is what BPF
 * has kept (enum late_free).
 * NULL in struct process: no allocation failed of late. Filled by collect/late_frees.h; refers to
 * stacks of the model's latest reading.
 */
#ifndef MODEL_AT_FAILURE_H
#define MODEL_AT_FAILURE_H

#include "gpuprobe/state.h"
#include "model/sites.h"
#include "model/tensors.h"

#define AT_FAILURE_DEVICES 256 /* a device is a byte, or DEVICE_UNKNOWN */

struct at_failure {
	uint64_t time_ns;	 /* CLOCK_BOOTTIME */
	struct live_site *sites; /* memory from CUDA, largest first */
	size_t site_count;
	/* only live_sites and segments; NULL: it had no tensors then */
	struct tensors *tensors;
	/*
	 * Memory from CUDA that was live then, by device: of the same walk as `sites`. Counters are
	 * read earlier, when what was freed in between was still live.
	 */
	uint64_t held_bytes[AT_FAILURE_DEVICES];
	uint64_t lost;		  /* frees since then without room for a record */
	struct site_table *table; /* the source of `sites` */
};

/* NULL without memory. */
struct at_failure *at_failure__new(void);
void at_failure__free(struct at_failure *at_failure);

/* Approximate size in memory; 0 for NULL. */
size_t at_failure__bytes(const struct at_failure *at_failure);

/* A reading begins that makes the lists anew, as of a failure at that time. */
void at_failure__begin(struct at_failure *at_failure, uint64_t time_ns);

/*
 * Adds memory from CUDA that is live now or was freed since: it was live at the failure if it is
 * not younger. `stack` is the id under which it is counted. Returns 0 or -ENOMEM.
 */
int at_failure__add(struct at_failure *at_failure, const struct allocation_record *record,
		    uint64_t stack);

/*
 * Add a segment, as tensors__add_segment, and a tensor in one, also of those freed since. Return 0
 * or -ENOMEM.
 */
int at_failure__add_segment(struct at_failure *at_failure, uint64_t address, uint64_t bytes,
			    uint64_t start_ns, bool expandable, enum segment_owner owner);
int at_failure__add_tensor(struct at_failure *at_failure, const struct allocation *tensor,
			   uint64_t stack, uint32_t weight);

/* Rewrites the lists. Returns 0 or -ENOMEM. */
int at_failure__list(struct at_failure *at_failure, site_stack_fn find, void *arg);

/* Empties the lists that refer to stacks until then. NULL is fine. */
void at_failure__forget_stacks(struct at_failure *at_failure);

#endif
