/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The variables of a process's environment that concern Kineto. The process controls them. A change
 * that it makes itself (setenv, os.environ) does not show.
 */
#ifndef KINETO_ENVIRONMENT_H
#define KINETO_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define KINETO_FOLDER_SIZE 256

struct kineto_environment {
	/* the block is as the program got it; some programs write their title over it */
	bool known;
	bool uses_daemon;		    /* KINETO_USE_DAEMON is set */
	bool other_socket;		    /* KINETO_IPC_SOCKET_DIR is set */
	char folder[KINETO_FOLDER_SIZE];    /* KINETO_ONDEMAND_TRACE_DIR; "": not set */
	char temporary[KINETO_FOLDER_SIZE]; /* TMPDIR; "": not set, or too long */
	bool folder_cut;		    /* the former is longer */
};

/*
 * Reads /proc/PID/environ, which may wait for the process's memory for ever. Returns 0 or a
 * negative errno.
 */
int kineto_environment__read(pid_t pid, struct kineto_environment *environment);

/* An environment block that is read in pieces; all zeros at first. */
struct kineto_variables {
	struct kineto_environment found;
	size_t length;
	bool has_equals, has_broken;
	char text[KINETO_FOLDER_SIZE + 64]; /* the variable so far; the rest is cut */
};

/* Takes the next `size` bytes. */
void kineto_variables__push(struct kineto_variables *variables, const char *bytes, size_t size);

/* Ends the block. Returns what was found. */
struct kineto_environment kineto_variables__end(struct kineto_variables *variables);

#endif
