/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of a process: work that its threads submit repeatedly, found and counted as
 * gpuprobe/steps.h describes. Plain data beside struct process, filled from the records by
 * collect/steps.c.
 *
 * A step goes from one anchor, a submission that occurs once per step, to the next. Submissions
 * before the first and after the last anchor belong to no step.
 */
#ifndef MODEL_STEPS_H
#define MODEL_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/steps.h"

#define STEP_FIRSTS 32	     /* steps at the beginning of a phase that are kept individually */
#define STEP_PHASES 4	     /* phases per thread */
#define STEP_THREADS_KEPT 32 /* per process, ended ones included */

struct process;

/*
 * Steps of one kind. Steps without known sums came before the anchor was chosen; their times come
 * from the history.
 */
struct step_phase {
	struct step_anchor anchor; /* its `launches` are those of the thread alone */
	bool sampled; /* found while launches were sampled: what repeats may not be whole steps */
	uint64_t steps, ns, max_ns;
	uint64_t first_ns, latest_ns; /* start of the first, end of the latest; CLOCK_BOOTTIME */
	/* with other launches in between, or a different number of them: excluded from `steps` */
	uint64_t irregular, irregular_ns;
	__u64 buckets[TIME_BUCKETS]; /* histogram of `steps` */
	uint64_t summed;	     /* part of `steps` whose sums are known */
	struct step_sums sums;	     /* sums over these, the process's other threads included */
	/* further steps, of which only the thread's own launches, copies and waits are known */
	uint64_t listed;
	struct step_sums listed_sums; /* sums over these */
	/* slowest first; ns 0 ends the list. If it has no launches, its sums are unknown */
	struct slow_step slowest[STEP_SLOWEST];
	/* The first steps, from those whose sums are unknown; BPF counts later ones */
	struct step_first {
		uint64_t begin_ns, ns;
	} first[STEP_FIRSTS];
	size_t first_count;
};

struct step_thread {
	const char *range; /* the NVTX range that its steps are, raw; NULL: they have anchors */
	int32_t tid;
	uint64_t start_ns; /* of the thread */
	char comm[16];
	uint64_t ended_ns; /* 0: alive */
	uint64_t submissions;
	struct step_sums totals; /* of the thread alone, once it had submitted STEP_FIRST times */
	struct step_phase phases[STEP_PHASES];
	size_t phase_count; /* 0: nothing repeats, or not often enough yet */
	size_t current;	    /* the thread's current or latest phase */
	/* handles that one step of the current phase launches, in order; malloc */
	uint64_t *round;
	size_t round_length;
};

struct process_steps {
	struct step_thread **threads;
	size_t count;
};

/* All zero; release with process_steps__free. NULL without memory. */
struct process_steps *process_steps__new(void);
void process_steps__free(struct process_steps *steps);

/* Approximate size in memory; 0 for NULL. */
size_t process_steps__bytes(const struct process_steps *steps);

/*
 * Appends a new thread, all zero; NULL without memory, or if there are STEP_THREADS_KEPT already.
 */
struct step_thread *process_steps__add(struct process_steps *steps);

/* Adds a step whose sums are unknown. */
void step_phase__add(struct step_phase *phase, uint64_t begin_ns, uint64_t ns);

/* Adds what a record has counted since it adopted the phase's anchor. */
void step_phase__add_record(struct step_phase *phase, const struct step_record *record);

/* Takes away sums over `steps` of the steps that were added: they turned out to be incomplete. */
void step_phase__forget_sums(struct step_phase *phase, uint64_t steps,
			     const struct step_sums *sums);

/*
 * When the phase's steps reached their usual duration: loading modules and trying kernels makes a
 * program's first steps longer. It is the start of the first of two successive steps that take at
 * most twice the median.
 */
uint64_t step_phase__steady_ns(const struct step_phase *phase);

/*
 * The phase in which a thread spent most time in steps; one that was found before launches were
 * sampled, if there is one. NULL: none.
 */
const struct step_phase *step_thread__main_phase(const struct step_thread *thread);

/* The steps of a process: those of one thread, which the others work for. */
struct step_summary {
	const struct step_thread *thread; /* NULL: no repetition was seen */
	const struct step_phase *phase;
	double mean_ns;
	uint64_t p50_ns, p99_ns;
	/*
	 * the median; the mean if that is far longer: work queued without a wait passes in bursts
	 */
	uint64_t usual_ns;
	bool sums_known; /* otherwise only launches, copies and waits are known */
	double launches; /* per step, like the next ones */
	double copies[STEP_DIRECTIONS], bytes[STEP_DIRECTIONS];
	double waits, allocations, frees;
	double inside_ns[TIME_CLASSES]; /* in all threads that count */
};

/* Summarizes everything seen so far. */
void step_summary__make(const struct process *process, struct step_summary *summary);

/* What was most unusual in a slow step, and by how much it exceeded the usual. */
enum step_excess {
	STEP_EXCESS_OUTSIDE = 0, /* time outside CUDA calls */
	STEP_EXCESS_INSIDE,	 /* + enum time_class: time inside calls of that class */
	STEP_EXCESS_UNKNOWN = STEP_EXCESS_INSIDE + TIME_CLASSES,
};

enum step_excess step_summary__excess(const struct step_summary *summary,
				      const struct slow_step *step, uint64_t *ns);

#endif
