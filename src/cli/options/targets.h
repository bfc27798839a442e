/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What to watch by the command line: processes, libraries, a command, and the filter of --comm and
 * the like. All functions that take a `struct error` return 0, or -EINVAL (-ENOMEM) with a message
 * in it.
 */
#ifndef CLI_TARGETS_H
#define CLI_TARGETS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "target/process_filter.h"

/* What to watch. The texts belong to argv. */
struct targets {
	pid_t *pids;
	size_t pid_count;
	const char **libraries; /* from --libcudart-path and --libcuda-path */
	size_t library_count;
	char **command; /* NULL-terminated, or NULL */
	struct process_filter filter;
};

int targets__add_pid(struct targets *targets, const char *text, struct error *err);
int targets__add_library(struct targets *targets, const char *path, struct error *err);

/*
 * targets__check_library checks the text of a library's path. targets__library_error adds what to
 * do if `ret` says that there is no such library; returns `ret`.
 */
int targets__check_library(const char *path, struct error *err);
int targets__library_error(int ret, struct error *err);

/*
 * Takes COMMAND from where getopt_long stopped (optind). `program` names the help in messages,
 * "gpuprobe trace". COMMAND and processes exclude each other.
 */
int targets__take_command(struct targets *targets, int argc, char **argv, const char *program,
			  struct error *err);

/* What is watched, for a person: "the whole machine, only --uid alice". Not escaped. */
struct targets_text {
	char text[400];
};
struct targets_text targets__text(const struct targets *targets);

void targets__clear(struct targets *targets);

#endif
