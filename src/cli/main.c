// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe: selects the command by the first word of the command line.
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/heap.h"
#include "cli/commands/subcommand.h"
#include "cli/session/signals.h"

#define MESSAGES_SIZE 8192 /* a line of the log is shorter, and also if all of it is escaped */

/* The callers of libevent report its failures, so only its fatal errors are printed. */
static void say_why_it_ends(int severity, const char *text)
{
	if (severity == EVENT_LOG_ERR)
		fprintf(stderr, "gpuprobe: %s\n", text);
}

/* Without a word, or with an option first, the monitor runs. */
static int run(int argc, char **argv, int *status, struct error *err)
{
	const struct subcommand *chosen;

	if (argc < 2 || argv[1][0] == '-')
		return monitor_command__run(argc, argv, status, err);
	chosen = subcommand__find(argv[1], err);
	if (chosen)
		return chosen->run(argc - 1, argv + 1, status, err);
	*status = EXIT_USAGE;
	return -EINVAL;
}

/*
 * Opens missing standard descriptors, so that no later file takes the place of one and receives its
 * output.
 */
static int check_standard_files(struct error *err)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (fd == STDOUT_FILENO)
			return error__set(err, -EBADF, "standard output is closed");
		/* open(2) returns the lowest free descriptor. */
		if (open("/dev/null", O_RDWR) < 0)
			return error__set(err, -errno, "/dev/null: %s", strerror(errno));
	}
	return 0;
}

/* Writes the rest of help and lists from the buffer. If the reader has gone, that is no error. */
static int finish_output(int *status, struct error *err)
{
	if (*status || (!fflush(stdout) && !ferror(stdout)) || errno == EPIPE)
		return 0;
	*status = EXIT_FAILED;
	return error__set(err, -errno, "cannot write standard output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static char messages[MESSAGES_SIZE];
	struct error err = {""};
	int status = EXIT_FAILED;

	/* Without a buffer each character of a message could be a write of its own. */
	setvbuf(stderr, messages, _IOLBF, sizeof(messages));
	heap__settle();
	event_set_log_callback(say_why_it_ends);
	signals__survive_write(SIGXFSZ); /* from a file that must not grow (ulimit -f) */
	if (!check_standard_files(&err) && run(argc, argv, &status, &err) >= 0 &&
	    !finish_output(&status, &err))
		return status;
	fputs("gpuprobe: ", stderr);
	escape__text(stderr, err.text); /* it may quote an argument or a file's name */
	fputc('\n', stderr);
	return status;
}
