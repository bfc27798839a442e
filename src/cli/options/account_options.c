// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe account`, see account_options.h.
#include "cli/options/account_options.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "cli/options/arguments.h"
#include "cli/options/shared_rows.h"
#include "cli/options/recording_options.h"

#define PROGRAM "gpuprobe account"
#define IDLE_NS (600 * NS_PER_S)
#define OVERHEAD 0.02
#define DAY_NS 86400e9

/* A time of the day by the clock on the wall here. */
static bool read_moment(const char *text, int64_t *wall_ns)
{
	static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
					    "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(text, forms[i], &tm);
		time_t seconds;

		if (!end || *end)
			continue;
		seconds = mktime(&tm);
		*wall_ns = (int64_t)seconds * (int64_t)NS_PER_S;
		return seconds > 0;
	}
	return false;
}

static bool read_age(const struct option_row *row, const char *text, uint64_t *ns)
{
	struct error why;

	return arguments__in_unit(text, "d", DAY_NS, ns) ||
	       !recording_choice__take_moment(row, ns, text, &why);
}

static int take_since(const struct option_row *row, void *field, const char *text,
		      struct error *err)
{
	struct timespec now = clock__wall();
	int64_t *wall_ns = field, now_ns = now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
	uint64_t age_ns = 0;

	if (read_moment(text, wall_ns))
		return 0;
	if (read_age(row, text, &age_ns) && age_ns < (uint64_t)now_ns) {
		*wall_ns = now_ns - (int64_t)age_ns;
		return 0;
	}
	return error__set(err, -EINVAL,
			  "--since '%.100s': give how long ago, such as 90s, 30m, 24h or 7d, or a "
			  "time, such as 2026-11-28 or '2026-11-28 09:30'",
			  text);
}

/* The default budget is ignored where it is unavailable, one that is given is not. */
static int take_overhead(const struct option_row *row, void *field, const char *text,
			 struct error *err)
{
	struct account_command *options = field;

	options->overhead_by_default = false;
	return shared_rows__take_overhead(row, &options->max_overhead, text, err);
}

#define FIELD(member) .offset = offsetof(struct account_command, member)

static const struct option_row rows[] = {
	{"by", 0, "WORD",
	 "job (of Slurm or PBS, Kubernetes pod, systemd unit),\n"
	 "user, container, image of containers or process [job]",
	 option__word, FIELD(by), WORDS(account_by_words)},
	{"input", 'i', "FILE",
	 "add up recordings of gpuprobe record,\n"
	 "do not watch (repeatable)",
	 option__list, FIELD(inputs)},
	{"since", 0, "TIME",
	 "with -i: leave out what was before: 30m, 24h or 7d\n"
	 "ago, or 2026-11-28, '2026-11-28 09:30'",
	 take_since, FIELD(since_ns)},
	{"idle", 0, "TIME", "a GPU without a CUDA call for this long is idle [10m]",
	 recording_choice__take_moment, FIELD(idle_ns)},
	{.rows = exact_rows, FIELD(form)},
	{"json", 0, NULL, "one JSON object per report", option__flag, FIELD(json)},
	{"csv", 0, NULL, "comma-separated values", option__flag, FIELD(csv)},
	{.help = "What to watch:"},
	{.rows = process_rows, FIELD(targets)},
	{"interval", 0, "S", "print a report of all so far every S seconds [0 = off]",
	 option__seconds, FIELD(interval), .min = 0.1},
	{"duration", 0, "S", DURATION_HELP, option__seconds, FIELD(duration), .min = 0.001},
	{"max-overhead", 0, "PERCENT|off",
	 "limit how much probes slow a thread down to about\n"
	 "this, by watching launches part of the time [2]",
	 take_overhead, .offset = 0},
	{.rows = library_rows, FIELD(targets)},
	{.help = ""},
	{.rows = log_rows, FIELD(log_level)},
	{0},
};

const struct option_table account_options = {
	.program = PROGRAM,
	.head = "Usage: gpuprobe account [OPTIONS] [-- COMMAND [ARG...]]\n"
		"\n"
		"Who held the GPUs, and what did they do with them? Adds up by job, user,\n"
		"container, image or process: GPU time, bounds of the part with work, memory\n"
		"by time, the last call, GPUs held and idle. Watches until Ctrl-C or --duration,\n"
		"or reads recordings (-i), also of several machines.\n"
		"\n",
	.rows = rows,
};

static int check(const struct account_command *options, struct error *err)
{
	const struct recording_choice input = {
		.path = options->inputs.count ? options->inputs.texts[0] : NULL};

	if (options->json && options->csv)
		return error__set(err, -EINVAL, "--json and --csv exclude each other");
	if (options->since_ns && !input.path)
		return error__set(err, -EINVAL,
				  "--since chooses a part of recordings: give one with -i FILE");
	if (options->interval && input.path)
		return error__set(err, -EINVAL,
				  "--interval does not go with -i: there is one report of all "
				  "recordings");
	return recording_choice__check_targets(&input, &options->targets, options->duration, err);
}

int account_options__parse(struct account_command *options, int argc, char **argv,
			   struct error *err)
{
	int ret;

	*options = (struct account_command){
		.idle_ns = IDLE_NS,
		.max_overhead = OVERHEAD,
		.overhead_by_default = true,
		.log_level = LOG_WARN,
	};
	ret = option_table__parse(&account_options, options, argc, argv, err);
	if (ret)
		return ret;
	ret = targets__take_command(&options->targets, argc, argv, PROGRAM, err);
	return ret ? ret : check(options, err);
}

void account_options__clear(struct account_command *options)
{
	free(options->inputs.texts);
	targets__clear(&options->targets);
}
