/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules: a function for each kind of finding, see struct finding_kind. Each rule's file says
 * what it looks for; kinds.c has the thresholds.
 */
#ifndef FINDING_RULES_H
#define FINDING_RULES_H

#include "finding/finding.h"

/* object_leak.c */
int object_leak__detect(const struct finding_input *input, const struct process *process,
			struct finding_list *out);

/* unavailable.c */
int cuda_unavailable__detect(const struct finding_input *input, const struct process *process,
			     struct finding_list *out);
/*
 * Whether the finding applies by these thresholds: then all other findings would only be about
 * failed calls.
 */
bool cuda_unavailable__holds(const struct process *process, const double *thresholds);

/* alloc_churn.c */
int alloc_churn__detect(const struct finding_input *input, const struct process *process,
			struct finding_list *out);

/* leaks.c */
int leak_growing__detect(const struct finding_input *input, const struct process *process,
			 struct finding_list *out);
int leak_at_exit__detect(const struct finding_input *input, const struct process *process,
			 struct finding_list *out);

/* launch_bound.c */
int launch_bound__detect(const struct finding_input *input, const struct process *process,
			 struct finding_list *out);

/* short_waits.c */
int sync_after_every_launch__detect(const struct finding_input *input,
				    const struct process *process, struct finding_list *out);
int sync_stall__detect(const struct finding_input *input, const struct process *process,
		       struct finding_list *out);

/* implicit_sync.c */
int implicit_sync__detect(const struct finding_input *input, const struct process *process,
			  struct finding_list *out);

/* small_copies.c */
int small_copies__detect(const struct finding_input *input, const struct process *process,
			 struct finding_list *out);

/* redundant_copies.c */
int redundant_copies__detect(const struct finding_input *input, const struct process *process,
			     struct finding_list *out);

/* pageable_copies.c */
int pageable_copies__detect(const struct finding_input *input, const struct process *process,
			    struct finding_list *out);

/* errors.c */
int unchecked_errors__detect(const struct finding_input *input, const struct process *process,
			     struct finding_list *out);
int sticky_error__detect(const struct finding_input *input, const struct process *process,
			 struct finding_list *out);
int error_storm__detect(const struct finding_input *input, const struct process *process,
			struct finding_list *out);

/* out_of_memory.c */
int oom_near__detect(const struct finding_input *input, struct finding_list *out);
int oom__detect(const struct finding_input *input, const struct process *process,
		struct finding_list *out);

/* fragmentation.c */
int fragmentation__detect(const struct finding_input *input, const struct process *process,
			  struct finding_list *out);

/* graph_recapture.c */
int graph_recapture__detect(const struct finding_input *input, const struct process *process,
			    struct finding_list *out);

/* idle_gaps.c */
int idle_gaps__detect(const struct finding_input *input, const struct process *process,
		      struct finding_list *out);

/* host_bound.c */
int host_bound__detect(const struct finding_input *input, const struct process *process,
		       struct finding_list *out);

/* cold_start.c */
int cold_start__detect(const struct finding_input *input, const struct process *process,
		       struct finding_list *out);

/* mapped_file_copies.c */
int mapped_file_copies__detect(const struct finding_input *input, const struct process *process,
			       struct finding_list *out);

/* default_stream.c */
int default_stream__detect(const struct finding_input *input, const struct process *process,
			   struct finding_list *out);

/* driver_contention.c */
int driver_contention__detect(const struct finding_input *input, const struct process *process,
			      struct finding_list *out);

/* chatty_getters.c */
int chatty_getters__detect(const struct finding_input *input, const struct process *process,
			   struct finding_list *out);

/* device_imbalance.c */
int device_imbalance__detect(const struct finding_input *input, struct finding_list *out);

/* nccl.c; `input->kind` says which verdict */
int nccl__detect(const struct finding_input *input, struct finding_list *out);

/* gpu_work.c */
int no_overlap__detect(const struct finding_input *input, const struct process *process,
		       struct finding_list *out);
int small_kernels__detect(const struct finding_input *input, const struct process *process,
			  struct finding_list *out);
int launch_latency__detect(const struct finding_input *input, const struct process *process,
			   struct finding_list *out);

/* stuck.c */
int stuck__detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out);

/* xid.c */
int xid__detect(const struct finding_input *input, struct finding_list *out);

/* missing_sync.c */
int missing_sync__detect(const struct finding_input *input, const struct process *process,
			 struct finding_list *out);

#endif
