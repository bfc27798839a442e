/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process's tensors: what a framework's allocator hands out of the segments that it takes from
 * CUDA. NULL in struct process: none was seen. Plain data, filled by collect/tensors.h.
 *
 * Exact, from the attach on: counts and requested bytes, also those of call sites unless they are
 * sampled under a budget (struct tensor_pace). Modelled: how tensors fill their segments
 * (struct tensor_segments), because the allocator's rounding is assumed and tensors from before the
 * attach are not known.
 */
#ifndef MODEL_TENSORS_H
#define MODEL_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/tensor.h"
#include "model/model.h"
#include "model/sites.h"

/* Counts on one device; on the unknown one only frees of unknown tensors. */
struct tensor_device {
	int32_t device; /* the framework's number, or TENSOR_DEVICE_UNKNOWN */
	struct tensor_device_record counts;
};

/* Counts at one call site, that of the allocations. */
struct tensor_site {
	const struct stack *stack; /* NULL: unknown */
	struct tensor_site_record counts;
	uint64_t step_made, step_bytes; /* in the steps of tensors->steps */
};

/*
 * How the process's tensors on record fill its memory from CUDA: modelled. An allocation of CUDA is
 * a segment here, and so are mappings of expandable segments that follow each other. A segment
 * without a tensor on record counts if the framework's allocator took it (enum segment_owner).
 */
struct tensor_segments {
	uint64_t count, bytes;
	uint64_t tensors, tensor_bytes; /* the blocks of tensors inside, see tensors__block_end */
	uint64_t unused_bytes;		/* no tensor on record is there */
	uint64_t pinned_bytes;		/* part of these: in segments with tensors */
	uint64_t pinning;		/* tensors in these */
	uint64_t largest_hole;		/* the longest unused stretch in one segment */
};

/* The library that allocated a segment. */
enum segment_owner {
	SEGMENT_UNKNOWN, /* no stack was taken */
	SEGMENT_FRAMEWORK,
	SEGMENT_OTHER,
};

/* A stretch of memory: a segment, or a tensor in one. */
struct tensor_stretch {
	uint64_t address, bytes;
	/* of a segment */
	bool expandable; /* mappings of an expandable segment that follow each other */
	enum segment_owner owner;
};

struct tensors_detail; /* sources of the lists; only for model/tensors.c */

struct tensors {
	struct tensor_device *devices; /* by number; the unknown one first */
	size_t device_count;
	struct tensor_device_record total; /* over devices; peak_bytes: of the fullest device */
	uint64_t live_count, live_bytes;   /* on record, requested bytes */

	struct tensor_site *sites; /* by stack, for tensors__site */
	size_t site_count;
	/* As live_sites, live and left_out_* in struct process. */
	struct live_site *live_sites; /* largest first */
	size_t live_site_count;
	struct allocation *live;
	size_t live_listed;
	uint64_t left_out_bytes, left_out_count;

	/* Whether call sites of some were left out under a budget: those of sites are estimates. */
	bool is_sampled;
	bool has_python; /* the stack of some site has Python frames */
	/*
	 * Steady steps of the process that the step_* of sites are of; 0: unknown. A site's counts
	 * are read a little before the steps, so less than a step is missing or too much.
	 */
	uint64_t steps;
	struct tensor_segments segments; /* as of the latest list */
	/* the process's memory from CUDA, by address; owned by `detail` */
	const struct tensor_stretch *stretches;
	size_t stretch_count;
	struct tensors_detail *detail;
};

/* PyTorch rounds requests up to this. */
#define TENSOR_ROUND 512
/*
 * The size of its segments for requests up to 1 MiB. In others it splits off the rest of a block
 * only if that is more than 1 MiB; of expandable segments it splits off any rest.
 */
#define TENSOR_SMALL_SEGMENT (2ull << 20)
#define TENSOR_LARGEST_REST (1ull << 20)

/*
 * The end of the block of a tensor that ends at `end`, rounded up, in a segment of `segment_bytes`;
 * `limit` is where the next tensor begins, or the segment's end. By the rules above: a gap that is
 * too short to be a block by itself belongs to the tensor before it.
 */
uint64_t tensors__block_end(uint64_t end, uint64_t limit, uint64_t segment_bytes, bool expandable);

/* NULL without memory. */
struct tensors *tensors__new(void);
void tensors__free(struct tensors *tensors);

/* Approximate size in memory; 0 for NULL. */
size_t tensors__bytes(const struct tensors *tensors);

/* A reading begins: counts of devices are set anew, and lists if `with_lists`. */
void tensors__begin(struct tensors *tensors, bool with_lists);

/* Adds the counts of a device. Returns 0 or -ENOMEM. */
int tensors__add_device(struct tensors *tensors, int32_t device,
			const struct tensor_device_record *counts);

/* Sets the counts of the site with this stack id. Returns 0 or -ENOMEM. */
int tensors__set_site(struct tensors *tensors, uint64_t stack,
		      const struct tensor_site_record *counts);

/*
 * For the lists: adds a segment; all before the first tensor. A mapping of an expandable segment
 * is `expandable`; if its owner is unknown, it counts only with a tensor inside. Then adds a
 * tensor; `stack` is the id under which it is counted, `weight` as how many (struct
 * tensor_record), and `listed` says whether it goes into `live`. Return 0 or -ENOMEM.
 */
int tensors__add_segment(struct tensors *tensors, uint64_t address, uint64_t bytes, bool expandable,
			 enum segment_owner owner);
int tensors__add_live(struct tensors *tensors, const struct allocation *tensor, uint64_t stack,
		      uint32_t weight, bool listed);

/* Fills in how tensors are in their segments, without regard to filters. Returns 0 or -ENOMEM. */
int tensors__place(struct tensors *tensors, uint64_t address, uint64_t bytes);
int tensors__sum_segments(struct tensors *tensors);

/* Steps that it takes to say what a call site allocates in one. */
#define TENSOR_STEPS_LEAST 10

/*
 * Follows what call sites allocate in the process's steady steps (model/steps.h), before the lists
 * are rewritten.
 */
void tensors__follow_steps(struct tensors *tensors, const struct process *process, uint64_t now_ns);

/* Rewrites the lists that refer to stacks. Returns 0 or -ENOMEM. */
int tensors__list(struct tensors *tensors, site_stack_fn find, void *arg);

/* Orders the sites for tensors__site, in a model that was read from a recording. */
void tensors__sort_sites(struct tensors *tensors);

/* Removes all references to stacks until then. NULL is fine. */
void tensors__forget_stacks(struct tensors *tensors);

/*
 * The sites with the most allocated bytes first, in a list (malloc) of *count that the caller frees
 * and that refers to `sites`. NULL without memory.
 */
const struct tensor_site **tensors__by_made(const struct tensors *tensors, size_t *count);

/* The counts of the site with this stack; NULL if there are none. */
const struct tensor_site *tensors__site(const struct tensors *tensors, const struct stack *stack);

#endif
