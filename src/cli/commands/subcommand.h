/* SPDX-License-Identifier: BSD-2-Clause */
/* What main.c chooses from: gpuprobe's commands, each in a file of its own. */
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
#define EXIT_FINDINGS 4 /* --fail-on: there are such findings */

struct subcommand {
	const char *word; /* the first of the command line */
	const char *what; /* a line of gpuprobe --help */
	/*
	 * argv[0] is the word. Returns 0 or a negative errno with the reason in
	 * `err`; *status is what gpuprobe exits with in either case,
	 * EXIT_FAILED beforehand.
	 */
	int (*run)(int argc, char **argv, int *status, struct error *err);
	const struct option_table *options;
};

int monitor_command__run(int argc, char **argv, int *status, struct error *err);
int stat_command__run(int argc, char **argv, int *status, struct error *err);
int diagnose_command__run(int argc, char **argv, int *status, struct error *err);
int memleak_command__run(int argc, char **argv, int *status, struct error *err);
int trace_command__run(int argc, char **argv, int *status, struct error *err);
int flame_command__run(int argc, char **argv, int *status, struct error *err);
int dump_command__run(int argc, char **argv, int *status, struct error *err);
int check_command__run(int argc, char **argv, int *status, struct error *err);
int bpftrace_script_command__run(int argc, char **argv, int *status, struct error *err);

/* The tables of commands without a header of their own. */
extern const struct option_table bpftrace_script_options, check_command_options;

/* Calls `each` for every command, the monitor, whose word is empty, included. */
void subcommand__each(void (*each)(const struct subcommand *subcommand, void *arg), void *arg);

/* The command of that name but the monitor; NULL: there is none, and `err` says which there are. */
const struct subcommand *subcommand__find(const char *word, struct error *err);

/* A line for each of them, for the monitor's help. */
void subcommand__print_all(FILE *out);

/* "gpuprobe 0.1.0" on standard output, which every command prints for --version. */
void subcommand__print_version(void);

/*
 * Whether nothing is left to do once the command line was parsed, with that result: it is wrong, or asks for the help text or the
 * version, which are printed. Sets *status then.
 */
bool subcommand__is_done(int parsed, const struct option_table *table, int *status);

/* Returns a log of this level and sets libbpf's own messages to it: all with -vv, its warnings with -v, else none. */
struct log subcommand__set_log(enum log_level level);

#endif
