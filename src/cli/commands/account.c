// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe account`: who held the GPUs, and what for; see subcommand.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/commands/subcommand.h"
#include "cli/options/account_options.h"
#include "cli/session/live_run.h"
#include "cli/session/privileges.h"
#include "cli/session/replay.h"
#include "model/silent_targets.h"
#include "output/account/account.h"
#include "ps/quiet.h"
#include "record/reader.h"

#define GROUPS 4096
#define PERIOD 1.0 /* seconds from one reading to the next */

struct account_run {
	const struct account_command *options;
	const struct log *log;
	struct account *account;
	struct live_run *live;
	struct ps_request request; /* for `quiet` */
	struct ps_quiet *quiet;	   /* processes without calls; NULL: not listed */
	uint64_t began_ns;	   /* when the probes were attached */
	bool warned;
};

static void print(const struct account_command *options, const struct account_list *list, FILE *out)
{
	const struct account_output output = {
		.by = options->by,
		.idle_ns = options->idle_ns,
		.is_recorded = options->inputs.count,
		.form = options->form,
	};

	if (options->json)
		account_json__print(out, list, &output);
	else if (options->csv)
		account_csv__print(out, list, &output);
	else
		account_text__print(out, list, &output);
}

static int print_list(FILE *out, void *arg)
{
	const struct account_run *run = arg;
	struct account_list list;
	int ret = account__list(run->account, &list);

	if (!ret)
		print(run->options, &list, out);
	account_list__clear(&list);
	return ret;
}

/* --- live --- */

/* With a filter or COMMAND, strangers on the GPUs are none of its business. */
static const struct model *quiet_of(const struct account_run *run)
{
	static const struct model nobody;
	const struct model *quiet = ps_quiet__model(run->quiet);

	return quiet ? quiet : &nobody;
}

static void take(void *arg)
{
	struct account_run *run = arg;
	const struct model *model = live_run__model(run->live);
	int ret = run->quiet ? ps_quiet__refresh(run->quiet, model) : 0;

	if (!ret)
		ret = account__take(run->account, 0, model, quiet_of(run), run->began_ns);
	if (!ret || run->warned)
		return;
	run->warned = true;
	log__warn(run->log, "out of memory: some processes are not accounted");
}

/*
 * Processes that make no call are in no model. The probes are attached, so none that begins to use
 * CUDA later escapes both.
 */
static void find_quiet(struct account_run *run)
{
	const struct targets *targets = &run->options->targets;
	struct error err;

	run->began_ns = clock__boot_ns();
	if (targets->command)
		return;
	run->request = (struct ps_request){
		.pids = targets->pids,
		.pid_count = targets->pid_count,
		.filter = live_model__filter(run->live->live),
		.attribution = live_model__attribution(run->live->live),
	};
	if (ps_quiet__new(&run->request, &run->quiet, &err))
		log__warn(run->log, "idle processes are not accounted: %s", err.text);
}

static int watch(struct account_run *run, int *status, struct error *err)
{
	const struct account_command *options = run->options;
	struct live_run_options live = {
		.announces = true,
		.live = live_run__for_days(&options->targets, options->duration,
					   options->max_overhead, options->overhead_by_default),
		.reports =
			{
				.interval = options->interval,
				.always_last = true,
				.look = take,
				.print = print_list,
				.arg = run,
			},
		.samples = {.period = PERIOD, .take = take, .arg = run},
	};
	int ret = account__add_source(run->account, NULL, NULL);
	char silence[SILENT_TEXT_SIZE];

	if (ret < 0)
		return error__set(err, -ENOMEM, "out of memory");
	live.live.top = 1;
	ret = live_run__new(&live, run->log, &run->live, err);
	if (!ret)
		ret = live_run__attach(run->live, err);
	if (!ret) {
		find_quiet(run);
		ret = live_run__until_end(run->live, err);
	}
	/* The account may have nothing of processes without calls, or NVML's figure alone. */
	if (!ret && silent_targets__write(&live_run__model(run->live)->targets, silence))
		log__warn(run->log, "%s", silence);
	if (!ret)
		*status = live_run__status(run->live);
	ps_quiet__free(run->quiet);
	live_run__free(run->live);
	return ret;
}

/* --- recordings --- */

struct account_input {
	struct recording_choice choice;
	struct replay *replay;
	int source;
	bool is_done;
};

static int64_t wall_ns(const struct account_input *input)
{
	const struct timespec *wall = &replay__reading(input->replay)->model->wall;

	return wall->tv_sec * (int64_t)NS_PER_S + wall->tv_nsec;
}

/* The input with the earliest reading: the account wants them in the order of time. */
static struct account_input *earliest(struct account_input *inputs, size_t count)
{
	struct account_input *found = NULL;

	for (size_t i = 0; i < count; i++)
		if (!inputs[i].is_done && (!found || wall_ns(&inputs[i]) < wall_ns(found)))
			found = &inputs[i];
	return found;
}

static int open_inputs(const struct account_run *run, struct account_input *inputs,
		       struct error *err)
{
	const struct option_list *files = &run->options->inputs;

	for (size_t i = 0; i < files->count; i++) {
		const struct recording_header *header;
		int ret;

		inputs[i].choice.path = files->texts[i];
		ret = replay__new(&inputs[i].choice, run->log, &inputs[i].replay, err);
		if (ret)
			return ret;
		header = replay__header(inputs[i].replay);
		inputs[i].source = account__add_source(run->account, header->host, header->boot_id);
		if (inputs[i].source < 0)
			return error__set(err, -ENOMEM, "out of memory");
	}
	return privileges__give_up_all(err);
}

static int take_next(const struct account_run *run, struct account_input *input, struct error *err)
{
	const struct recorded_reading *reading = replay__reading(input->replay);
	int ret =
		account__take(run->account, input->source, reading->model, NULL, reading->began_ns);

	if (ret)
		return error__set(err, ret, "out of memory");
	input->is_done = replay__is_last(input->replay);
	if (input->is_done) {
		replay__warn(input->replay);
		return 0;
	}
	return replay__next(input->replay, err);
}

static int print_all(struct account_run *run, struct error *err)
{
	int ret = print_list(stdout, run), failure;

	if (ret)
		return error__set(err, ret, "out of memory");
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	failure = errno ? errno : EIO;
	return error__set(err, -failure, "cannot write standard output: %s", strerror(failure));
}

static int read_recordings(struct account_run *run, int *status, struct error *err)
{
	size_t count = run->options->inputs.count;
	struct account_input *inputs = calloc(count, sizeof(*inputs)), *input;
	int ret;

	if (!inputs)
		return error__set(err, -ENOMEM, "out of memory");
	ret = open_inputs(run, inputs, err);
	while (!ret && (input = earliest(inputs, count)))
		ret = take_next(run, input, err);
	if (!ret)
		ret = print_all(run, err);
	if (!ret)
		*status = 0;
	for (size_t i = 0; i < count; i++)
		replay__free(inputs[i].replay);
	free(inputs);
	return ret;
}

/* --- both --- */

static int run_account(const struct account_command *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	const struct account_options account = {
		.by = options->by,
		.max_groups = GROUPS,
		.idle_ns = options->idle_ns,
		.since_ns = options->since_ns,
	};
	struct account_run run = {.options = options, .log = &log};
	int ret = 0;

	run.account = account__new(&account);
	if (!run.account)
		return error__set(err, -ENOMEM, "out of memory");
	ret = options->inputs.count ? read_recordings(&run, status, err) : watch(&run, status, err);
	account__free(run.account);
	return ret;
}

int account_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct account_command options;
	int ret = account_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &account_options, status))
		ret = run_account(&options, status, err);
	account_options__clear(&options);
	return ret;
}
