// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe check`: what works on this machine and what does not, see subcommand.h.
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check.h"
#include "cli/options/shared_rows.h"
#include "cli/options/targets.h"
#include "cli/commands/subcommand.h"
#include "cli/files/terminal.h"
#include "cli/session/watch.h"
#include "output/check/check.h"
#include "privilege/capabilities.h"
#include "probe/features.h"
#include "target/cuda_files.h"

#define PROGRAM "gpuprobe check"

struct request {
	struct targets targets;
	struct cuda_files named;
	enum log_level log_level;
	bool json;
};

#define FIELD(member) .offset = offsetof(struct request, member)

static const struct option_row rows[] = {
	{.rows = process_rows, FIELD(targets)},
	{.rows = library_rows, FIELD(targets)},
	{"json", 0, NULL, "one JSON object instead of text", option__flag, FIELD(json)},
	{.help = ""},
	{"verbose", 'v', NULL, "print messages of libbpf (twice: of the kernel, too)",
	 option__verbose, FIELD(log_level)},
	{"quiet", 'q', NULL, "only degraded and missing lines, and the totals", option__quiet,
	 FIELD(log_level)},
	{.rows = help_rows},
	{0},
};

const struct option_table check_command_options = {
	.program = PROGRAM,
	.head = "Usage: gpuprobe check [OPTIONS]\n"
		"\n"
		"Checks what works on this machine: the kernel, privileges, probes, CUDA's\n"
		"libraries, GPUs and running CUDA processes. Each line says ok, degraded or\n"
		"missing, and what to do. gpuprobe briefly probes itself to find out. Without\n"
		"privileges it checks as much as it can.\n"
		"\n",
	.rows = rows,
	.tail = "\n"
		"Exit status: 0 if nothing is missing (degraded does not count), 1 if something\n"
		"is missing or the check itself failed, 2 for a usage error.\n",
};

static int parse(struct request *request, int argc, char **argv, struct error *err)
{
	int ret = option_table__parse(&check_command_options, request, argc, argv, err);

	if (!ret && optind < argc)
		return error__set(err, -EINVAL,
				  "unexpected '%.100s': give a process with -p PID, see " PROGRAM
				  " --help",
				  argv[optind]);
	return ret;
}

static int add_libraries(struct request *request, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < request->targets.library_count && !ret; i++)
		ret = cuda_files__add(&request->named, request->targets.libraries[i], err);
	return ret ? targets__library_error(ret, err) : 0;
}

static int print(const struct request *request, const struct check_list *list, struct error *err)
{
	int failure;

	if (request->json)
		check_json__print(stdout, list);
	else
		check_text__print(stdout, list, request->log_level == LOG_QUIET,
				  terminal__width(STDOUT_FILENO));
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	failure = errno ? errno : EIO;
	return error__set(err, -failure, "cannot write standard output: %s", strerror(failure));
}

/*
 * Gives up the same privileges as all commands, so that the check works with what they keep. If the
 * kind of links is unknown, CAP_SYS_ADMIN is kept.
 */
static int give_up_privileges(const char *links, struct error *err)
{
	enum link_kind kind = LINKS_TRACEFS;
	struct features features = {false};

	features__try_links(&features);
	features__choose_links(&features, links, &kind, NULL);
	return capabilities__keep_needed(kind == LINKS_TRACEFS, err);
}

static int check(struct request *request, int *status, struct error *err)
{
	const struct targets *targets = &request->targets;
	const struct check_options options = {
		.pids = targets->pids,
		.pid_count = targets->pid_count,
		.filter = &request->targets.filter,
		.named = &request->named,
		.links = getenv("GPUPROBE_LINKS"),
	};
	struct check_list list = {0};
	int ret;

	subcommand__set_log(request->log_level);
	ret = process_filter__open(&request->targets.filter, err);
	if (!ret)
		ret = watch__check_pids(targets->pids, targets->pid_count, err);
	if (!ret)
		ret = give_up_privileges(options.links, err);
	if (!ret)
		ret = add_libraries(request, err);
	if (!ret)
		ret = check__run(&options, &list, err);
	if (!ret)
		ret = print(request, &list, err);
	if (!ret)
		*status = check_list__in_state(&list, CHECK_MISSING) ? EXIT_FAILED : 0;
	check_list__clear(&list);
	return ret;
}

int check_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct request request = {.log_level = LOG_WARN};
	int ret = parse(&request, argc, argv, err);

	if (!subcommand__is_done(ret, &check_command_options, status))
		ret = check(&request, status, err);
	targets__clear(&request.targets);
	cuda_files__clear(&request.named);
	return ret < 0 ? ret : 0;
}
