// SPDX-License-Identifier: BSD-2-Clause
// The list of gpuprobe's commands, and what they share, see subcommand.h.
#include "cli/commands/subcommand.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/similar.h"
#include "cli/options/account_options.h"
#include "cli/options/profile_options.h"
#include "cli/options/record_options.h"
#include "cli/options/diff_options.h"
#include "cli/options/dump_options.h"
#include "cli/options/export_options.h"
#include "cli/options/flame_options.h"
#include "cli/options/memleak_options.h"
#include "cli/options/monitor_options.h"
#include "cli/options/nccl_options.h"
#include "cli/options/ps_options.h"
#include "cli/options/snapshot_options.h"
#include "cli/options/top_options.h"
#include "cli/options/trace_options.h"

static const struct subcommand subcommands[] = {
	{"ps", "which processes use the GPUs, and what they are doing", ps_command__run,
	 &ps_options},
	{"top", "GPUs and their processes, live, with keys as in htop", top_command__run,
	 &top_options},
	{"dump", "what each thread is doing now, and what it waits for", dump_command__run,
	 &dump_options},
	{"trace", "every call as it happens, decoded", trace_command__run, &trace_option_table},
	{"record", "write every call to a file, to look at it later", record_command__run,
	 &record_option_table},
	{"export", "a recording as a timeline for Perfetto or Chrome", export_command__run,
	 &export_option_table},
	{"stat", "where the time of a run goes, by thread and call", stat_command__run,
	 &stat_options},
	{"diagnose", "what is wrong with a program, and what it costs", diagnose_command__run,
	 &diagnose_options},
	{"diff", "what two runs do differently; a gate for CI", diff_command__run, &diff_options},
	{"nccl", "which rank of an NCCL job hangs, is late or differs", nccl_command__run,
	 &nccl_option_table},
	{"memleak", "live device memory by call stack, and where it grows", memleak_command__run,
	 &memleak_option_table},
	{"flame", "a flame graph of memory, launches, waits or failures", flame_command__run,
	 &flame_options},
	{"snapshot", "tensors and segments for PyTorch's memory visualiser", snapshot_command__run,
	 &snapshot_options},
	{"account", "who held the GPUs, and what for, by job or user", account_command__run,
	 &account_options},
	{"check", "what works on this machine, and how to fix the rest", check_command__run,
	 &check_command_options},
	{"bpftrace-script", "print a bpftrace script that shows CUDA calls",
	 bpftrace_script_command__run, &bpftrace_script_options},
	{"help", "this text, or that of a command: gpuprobe help stat", help_command__run,
	 &help_command_options},
	{NULL, NULL, NULL, NULL},
};

static const struct subcommand monitor = {"", "the monitor", monitor_command__run,
					  &monitor_options};

void subcommand__each(void (*each)(const struct subcommand *subcommand, void *arg), void *arg)
{
	each(&monitor, arg);
	for (size_t i = 0; subcommands[i].word; i++)
		each(&subcommands[i], arg);
}

void subcommand__print_all(FILE *out)
{
	fputs("\n"
	      "Other commands (gpuprobe COMMAND --help lists their options):\n",
	      out);
	for (size_t i = 0; subcommands[i].word; i++)
		fprintf(out, "  %-23s %s\n", subcommands[i].word, subcommands[i].what);
}

const struct subcommand *subcommand__find(const char *word, struct error *err)
{
	const char *names[sizeof(subcommands) / sizeof(*subcommands)], *meant;
	char words[256] = "";
	size_t count = 0;

	for (size_t i = 0; subcommands[i].word; i++) {
		if (!strcmp(word, subcommands[i].word))
			return &subcommands[i];
		names[count++] = subcommands[i].word;
		strncat(words, i ? ", " : "", sizeof(words) - strlen(words) - 1);
		strncat(words, subcommands[i].word, sizeof(words) - strlen(words) - 1);
	}
	meant = similar__find(word, names, count);
	if (meant) {
		error__set(err, -EINVAL,
			   "no command '%.100s': did you mean %s? See gpuprobe --help; put -- "
			   "before a program to run",
			   word, meant);
		return NULL;
	}
	error__set(err, -EINVAL,
		   "no command '%.100s' (commands: %s): put -- before a program to run, see "
		   "gpuprobe --help",
		   word, words);
	return NULL;
}

/* Prints "gpuprobe 0.1.0" on standard output, for --version of every command. */
static void print_version(void)
{
	puts("gpuprobe " GPUPROBE_VERSION);
}

bool subcommand__is_done(int parsed, const struct option_table *table, int *status)
{
	if (parsed == OPTIONS_RUN)
		return false;
	*status = parsed < 0 ? EXIT_USAGE : 0;
	if (parsed == OPTIONS_HELP)
		option_table__print_help(table, stdout);
	else if (parsed == OPTIONS_VERSION)
		print_version();
	return true;
}

static __attribute__((format(printf, 2, 0))) int print_all(enum libbpf_print_level level,
							   const char *format, va_list args)
{
	(void)level;
	return vfprintf(stderr, format, args);
}

static __attribute__((format(printf, 2, 0))) int print_warnings(enum libbpf_print_level level,
								const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

struct log subcommand__set_log(enum log_level level)
{
	libbpf_set_print(level >= LOG_DEBUG ? print_all :
			 level >= LOG_INFO  ? print_warnings :
					      print_nothing);
	return (struct log){.level = level};
}

