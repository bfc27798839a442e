/* SPDX-License-Identifier: BSD-2-Clause */
/* gpuprobe's commands, from which main.c chooses; each has its own file. */
#ifndef CLI_SUBCOMMAND_H
#define CLI_SUBCOMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/option_table.h"

#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define EXIT_LOST 3	/* --strict: events were lost */
#define EXIT_FINDINGS 4 /* --fail-on: such findings were detected */
#define EXIT_WORSE 4	/* diff: B is worse, or breaks the budget */

struct subcommand {
	const char *word; /* first word of the command line */
	const char *what; /* its line in gpuprobe --help */
	/*
	 * argv[0] is the word. Returns 0, or a negative errno with the reason in `err`. *status is
	 * gpuprobe's exit status in both cases; it is EXIT_FAILED before the call.
	 */
	int (*run)(int argc, char **argv, int *status, struct error *err);
	const struct option_table *options;
};

int monitor_command__run(int argc, char **argv, int *status, struct error *err);
int stat_command__run(int argc, char **argv, int *status, struct error *err);
int diagnose_command__run(int argc, char **argv, int *status, struct error *err);
int top_command__run(int argc, char **argv, int *status, struct error *err);
int memleak_command__run(int argc, char **argv, int *status, struct error *err);
int trace_command__run(int argc, char **argv, int *status, struct error *err);
int record_command__run(int argc, char **argv, int *status, struct error *err);
int diff_command__run(int argc, char **argv, int *status, struct error *err);
int export_command__run(int argc, char **argv, int *status, struct error *err);
int nccl_command__run(int argc, char **argv, int *status, struct error *err);
int flame_command__run(int argc, char **argv, int *status, struct error *err);
int snapshot_command__run(int argc, char **argv, int *status, struct error *err);
int ps_command__run(int argc, char **argv, int *status, struct error *err);
int account_command__run(int argc, char **argv, int *status, struct error *err);
int dump_command__run(int argc, char **argv, int *status, struct error *err);
int check_command__run(int argc, char **argv, int *status, struct error *err);
int bpftrace_script_command__run(int argc, char **argv, int *status, struct error *err);
int help_command__run(int argc, char **argv, int *status, struct error *err);

/* Tables of commands that have no header. */
extern const struct option_table bpftrace_script_options, check_command_options,
	help_command_options;

/* Calls `each` for every command, including the monitor, whose word is empty. */
void subcommand__each(void (*each)(const struct subcommand *subcommand, void *arg), void *arg);

/*
 * Returns the command of that name, except the monitor. NULL: there is none, and `err` names the
 * one that was probably meant, or lists them all.
 */
const struct subcommand *subcommand__find(const char *word, struct error *err);

/* Prints a line for each of them, for the monitor's help. */
void subcommand__print_all(FILE *out);

/*
 * Whether the command is done after parsing with this result: the command line is wrong, or
 * requested the help text or the version, which this prints. Sets *status then.
 */
bool subcommand__is_done(int parsed, const struct option_table *table, int *status);

/*
 * Returns a log of this level and sets the level of libbpf's own messages: all with -vv, its
 * warnings with -v, otherwise none.
 */
struct log subcommand__set_log(enum log_level level);

#endif
