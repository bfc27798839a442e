/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common part of the monitor, stat, diagnose, memleak and flame: counts calls, prints reports
 * of the model while programs run, and samples it. Sets these up in the order that privileges
 * require. With a replay the models come from a recording, and nothing else differs for the owner.
 *
 * Call order: new, attach, until_end, free. Between new and attach gpuprobe still has all the
 * privileges that it was started with: there the owner opens everything that needs them.
 */
#ifndef CLI_SESSION_LIVE_RUN_H
#define CLI_SESSION_LIVE_RUN_H

#include "cli/session/live_model.h"
#include "cli/session/replay.h"
#include "cli/session/reports.h"
#include "cli/session/samples.h"
#include "output/start_line.h"

struct live_run {
	struct live_model *live;	       /* the owner uses it too; NULL: a replay */
	struct replay *replay;		       /* NULL: live */
	struct reports_options replay_reports; /* with a replay, like the next one */
	int replay_fd;
	struct reports *reports;		/* NULL: none */
	struct samples *samples;		/* NULL: none */
	struct samples_options samples_options; /* for attach */
	struct start_line start;		/* for attach, which prints it if `announces` */
	struct filter_text only;		/* for `start` */
	bool announces;
};

struct live_run_options {
	/* the models come from it, and `live` does not matter; NULL: live. It outlives the run */
	struct replay *replay;
	struct live_model_options live;
	/* no reports without `print`: the owner shows the model itself */
	struct reports_options reports;
	struct samples_options samples; /* no samples without `take` */
	bool announces; /* says on a terminal what is watched, unless it is a COMMAND */
};

/*
 * Options of a command that watches all families and the machine's GPUs for days:
 * `max_overhead` samples launches alone. See struct live_model_options about the arguments. The
 * caller sets more, at least `top`.
 */
struct live_model_options live_run__for_days(const struct targets *targets, double duration,
					     double max_overhead, bool overhead_by_default);

/*
 * Starts the session and opens the file of the reports. `log` must outlive the run. This and the
 * next two functions return 0, or a negative errno with a message.
 */
int live_run__new(const struct live_run_options *options, const struct log *log,
		  struct live_run **out, struct error *err);

/* Gives up privileges, loads the BPF object and attaches the probes: counting begins. */
int live_run__attach(struct live_run *run, struct error *err);

/* The latest model. Valid after attach. */
const struct model *live_run__model(const struct live_run *run);

/*
 * Runs until the session ends, and writes the last report. In a replay each reading is sampled, and
 * reports come when they are due by the recorded time; the last one is of the last reading.
 */
int live_run__until_end(struct live_run *run, struct error *err);

/* See session__status; 0 for a replay. */
int live_run__status(const struct live_run *run);

/* Detaches the probes and resumes all held processes. NULL ok. */
void live_run__free(struct live_run *run);

#endif
