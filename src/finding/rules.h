/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kinds of findings, see struct finding_kind. Each stands below its rule in the rule's file, so
 * that thresholds, advice and rule are in one place. Rules and their enums of thresholds are
 * private to these files.
 */
#ifndef FINDING_RULES_H
#define FINDING_RULES_H

#include "finding/finding.h"

/* For `every` of a kind. */
#define EVERY_LAUNCH (1 << RATE_LAUNCH)
#define EVERY_COPY (1 << RATE_COPY)
#define EVERY_WAIT (1 << RATE_WAIT)
#define EVERY_CALL (EVERY_LAUNCH | EVERY_COPY | EVERY_WAIT)

/* unavailable.c */
extern const struct finding_kind cuda_unavailable_kind;

/* alloc_churn.c */
extern const struct finding_kind alloc_churn_kind;

/* leak_growing.c */
extern const struct finding_kind leak_growing_kind;

/* leak_at_exit.c */
extern const struct finding_kind leak_at_exit_kind;

/* object_leak.c */
extern const struct finding_kind object_leak_kind;

/* launch_bound.c */
extern const struct finding_kind launch_bound_kind;

/* short_waits.c */
extern const struct finding_kind sync_after_every_launch_kind;
extern const struct finding_kind sync_stall_kind;

/* implicit_sync.c */
extern const struct finding_kind implicit_sync_kind;

/* small_copies.c */
extern const struct finding_kind small_copies_kind;

/* pageable_copies.c */
extern const struct finding_kind pageable_copies_kind;

/* redundant_copies.c */
extern const struct finding_kind redundant_copies_kind;

/* errors.c */
extern const struct finding_kind unchecked_errors_kind;
extern const struct finding_kind sticky_error_kind;
extern const struct finding_kind error_storm_kind;

/* out_of_memory.c */
extern const struct finding_kind oom_near_kind;
extern const struct finding_kind oom_kind;

/* fragmentation.c */
extern const struct finding_kind fragmentation_kind;

/* graph_recapture.c */
extern const struct finding_kind graph_recapture_kind;

/* idle_gaps.c */
extern const struct finding_kind idle_gaps_kind;

/* host_bound.c */
extern const struct finding_kind host_bound_kind;

/* cold_start.c */
extern const struct finding_kind cold_start_kind;

/* mapped_file_copies.c */
extern const struct finding_kind mapped_file_copies_kind;

/* default_stream.c */
extern const struct finding_kind default_stream_kind;

/* driver_contention.c */
extern const struct finding_kind driver_contention_kind;

/* gpu_work.c */
extern const struct finding_kind no_overlap_kind;
extern const struct finding_kind small_kernels_kind;
extern const struct finding_kind launch_latency_kind;

/* chatty_getters.c */
extern const struct finding_kind chatty_getters_kind;

/* device_imbalance.c */
extern const struct finding_kind device_imbalance_kind;

/* missing_sync.c */
extern const struct finding_kind missing_sync_kind;

/* nccl.c */
extern const struct finding_kind nccl_hang_kind;
extern const struct finding_kind nccl_mismatch_kind;
extern const struct finding_kind nccl_straggler_kind;
extern const struct finding_kind nccl_imbalance_kind;
extern const struct finding_kind nccl_error_kind;

/* stuck.c */
extern const struct finding_kind stuck_kind;

/* xid.c */
extern const struct finding_kind xid_kind;

#endif
