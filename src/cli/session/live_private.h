/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of live_model.h: what it is made of. */
#ifndef CLI_LIVE_PRIVATE_H
#define CLI_LIVE_PRIVATE_H

#include "cli/session/live_host.h"
#include "cli/session/live_model.h"
#include "cli/session/live_nccl.h"
#include "govern/ask_probes.h"
#include "probe/object.h"

struct live_model {
	struct live_model_options options;
	const struct log *log;
	struct session *session;
	struct process_filter filter; /* the targets', opened */
	struct gpuprobe_bpf *skeleton;
	struct probe_programs programs;
	struct collector *collector;
	bool *slow;		   /* by row of api_functions, see struct attacher_counts */
	struct overhead *overhead; /* NULL: all probes stay attached */
	struct ask_probes asks;	   /* with NEEDS_ASKS, if they can be detached */
	bool asks_stay;		   /* probes of error queries cannot be detached */
	struct live_host host;
	struct live_nccl *nccl;		   /* NULL: not with these needs */
	struct shortages *shortages;	   /* NULL: not reported */
	struct tensor_watch *tensor_watch; /* NULL: no events of tensors are kept */
	struct gpu_times_watch *gpu_times; /* NULL: not asked for */
	struct nvtx_watch *nvtx;	   /* the same */
	struct event *ring, *reap;
	uint64_t reap_ns; /* time that the last reaping spent on living processes */
	uint64_t counts_since_ns;
	uint64_t reaping_ns;	  /* time that the present reaping has taken so far */
	uint64_t recent_until_ns; /* see live_model__is_recent */
};

/* A failure is retried at the next reading (live_model.c); `arg` is the live model. */
int live_model__watch_asks(void *arg, bool in);

/* Warns if a reading failed with `ret` (live_reading.c). */
void live_model__warn_unread(const struct live_model *live, int ret);

#endif
