// SPDX-License-Identifier: BSD-2-Clause
// The command lines of all commands: the first byte chooses the command, the rest is its arguments,
// each ended by a NUL.
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/profile_options.h"
#include "cli/options/dump_options.h"
#include "cli/options/flame_options.h"
#include "cli/options/memleak_options.h"
#include "cli/options/nccl_options.h"
#include "cli/options/export_options.h"
#include "cli/options/record_options.h"
#include "cli/options/monitor_options.h"
#include "cli/options/account_options.h"
#include "cli/options/ps_options.h"
#include "cli/options/diff_options.h"
#include "cli/options/snapshot_options.h"
#include "cli/commands/subcommand.h"
#include "cli/options/top_options.h"
#include "cli/options/trace_options.h"
#include "cli/session/watch.h"
#include "finding/threshold.h"
#include "harness.h"
#include "serve/address.h"

#define ARGUMENTS_MAX 32

static int parse_monitor(int argc, char **argv, struct error *err)
{
	struct monitor_options options;
	int ret = monitor_options__parse(&options, argc, argv, err);

	monitor_options__clear(&options);
	return ret;
}

static int parse_trace(int argc, char **argv, struct error *err)
{
	struct trace_options options;
	int ret = trace_options__parse(&options, argc, argv, err);

	trace_options__clear(&options);
	return ret;
}

static int parse_profile(bool diagnose, int argc, char **argv, struct error *err)
{
	struct profile_command options;
	int ret = profile_options__parse(&options, diagnose, argc, argv, err);

	profile_options__clear(&options);
	return ret;
}

static int parse_stat(int argc, char **argv, struct error *err)
{
	return parse_profile(false, argc, argv, err);
}

static int parse_diagnose(int argc, char **argv, struct error *err)
{
	return parse_profile(true, argc, argv, err);
}

static int parse_nccl(int argc, char **argv, struct error *err)
{
	struct nccl_options options;
	int ret = nccl_options__parse(&options, argc, argv, err);

	nccl_options__clear(&options);
	return ret;
}

static int parse_memleak(int argc, char **argv, struct error *err)
{
	struct memleak_command options;
	int ret = memleak_options__parse(&options, argc, argv, err);

	memleak_options__clear(&options);
	return ret;
}

static int parse_record(int argc, char **argv, struct error *err)
{
	struct record_command options;
	int ret = record_options__parse(&options, argc, argv, err);

	record_options__clear(&options);
	return ret;
}

static int parse_export(int argc, char **argv, struct error *err)
{
	struct trace_options options;
	int ret = export_options__parse(&options, argc, argv, err);

	trace_options__clear(&options);
	return ret;
}

static int parse_flame(int argc, char **argv, struct error *err)
{
	struct flame_options options;
	int ret = flame_options__parse(&options, argc, argv, err);

	flame_options__clear(&options);
	return ret;
}

static int parse_snapshot(int argc, char **argv, struct error *err)
{
	struct snapshot_options options;
	int ret = snapshot_options__parse(&options, argc, argv, err);

	snapshot_options__clear(&options);
	return ret;
}

/* Fails once the command line is accepted: the processes do not exist. */
int __wrap_watch__check_pids(const pid_t *pids, size_t count, struct error *err);
int __wrap_watch__check_pids(const pid_t *pids, size_t count, struct error *err)
{
	(void)pids, (void)count;
	return error__set(err, -ESRCH, "no such process");
}

/* These commands have no separate parser: their output is discarded, and there is no file. */
static int run(int (*command)(int argc, char **argv, int *status, struct error *err), int argc,
	       char **argv, struct error *err)
{
	FILE *out = stdout, *messages = stderr;
	int status = EXIT_FAILED, ret;

	harness__set_file("", NULL, 0);
	stdout = stderr = harness__sink();
	ret = command(argc, argv, &status, err);
	stdout = out;
	stderr = messages;
	harness__set_file(NULL, NULL, 0);
	MUST(ret ? status : !status);
	return ret;
}

static int parse_dump(int argc, char **argv, struct error *err)
{
	struct dump_options options;
	int ret = dump_options__parse(&options, argc, argv, err);

	dump_options__clear(&options);
	return ret;
}

static int parse_ps(int argc, char **argv, struct error *err)
{
	struct ps_options options;
	int ret = ps_options__parse(&options, argc, argv, err);

	ps_options__clear(&options);
	return ret;
}

static int parse_account(int argc, char **argv, struct error *err)
{
	struct account_command options;
	int ret = account_options__parse(&options, argc, argv, err);

	account_options__clear(&options);
	return ret;
}

static int parse_top(int argc, char **argv, struct error *err)
{
	struct top_options options;
	int ret = top_options__parse(&options, argc, argv, err);

	top_options__clear(&options);
	return ret;
}

static int parse_diff(int argc, char **argv, struct error *err)
{
	struct diff_options options;

	return diff_options__parse(&options, argc, argv, err);
}

static int parse_check(int argc, char **argv, struct error *err)
{
	return run(check_command__run, argc, argv, err);
}

static int parse_bpftrace_script(int argc, char **argv, struct error *err)
{
	return run(bpftrace_script_command__run, argc, argv, err);
}

/* The argument values that are parsed after the options. */
static int parse_values(int argc, char **argv, struct error *err)
{
	char host[ADDRESS_HOST_MAX], port[ADDRESS_PORT_MAX];
	struct threshold_choice choice;
	int ret = 0;

	for (int i = 1; i < argc && !ret; i++) {
		ret = threshold__parse(argv[i], &choice, err);
		if (ret)
			ret = address__split(argv[i], host, port, err);
	}
	return ret;
}

static int (*const commands[])(int argc, char **argv, struct error *err) = {
	parse_monitor, parse_trace,  parse_stat,   parse_diagnose, parse_memleak,
	parse_nccl,    parse_flame,  parse_values, parse_check,	   parse_bpftrace_script,
	parse_dump,    parse_ps,     parse_top,	   parse_snapshot, parse_record,
	parse_diff,    parse_export, parse_account};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	size_t which = input__number(&input, 1) % (sizeof(commands) / sizeof(*commands));
	char *argv[ARGUMENTS_MAX + 2] = {NULL}, *kept[ARGUMENTS_MAX + 2];
	struct error err = {""};
	int argc = 1, ret;

	argv[0] = strdup("gpuprobe");
	while (input.left && argc <= ARGUMENTS_MAX)
		argv[argc++] = input__string(&input);
	memcpy(kept, argv, sizeof(kept));
	optind = 0;
	ret = commands[which](argc, argv, &err);
	MUST(ret >= 0 || err.text[0]);
	MUST(memchr(err.text, '\0', sizeof(err.text)));
	for (int i = 0; i < argc; i++)
		free(kept[i]);
	return 0;
}
