// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe: chooses what to do by the first word of the command line.
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
#include "cli/files/write_signals.h"

static const struct subcommand subcommands[] = {
	{"dump", "what each thread is in, now, and what it waits for", dump_command__run},
	{"trace", "every call as it happens, decoded", trace_command__run},
	{"stat", "where the time of a run goes, by thread and call", stat_command__run},
	{"diagnose", "what is wrong with a program, what it costs", diagnose_command__run},
	{"memleak", "live device memory by call stack, and what of it grows", memleak_command__run},
	{"flame", "a flame graph of memory, launches, waits or failures", flame_command__run},
	{"check", "what of gpuprobe works on this machine, and what to do", check_command__run},
	{"bpftrace-script", "print a script that shows CUDA calls by bpftrace", bpftrace_script_command__run},
	{NULL, NULL, NULL},
};

/* What fails in libevent is told by who called it, but for what it ends the program for. */
static void say_why_it_ends(int severity, const char *text)
{
	if (severity == EVENT_LOG_ERR)
		fprintf(stderr, "gpuprobe: %s\n", text);
}

void subcommand__print_all(FILE *out)
{
	fputs("\nOther commands (gpuprobe COMMAND --help tells their options):\n", out);
	for (size_t i = 0; subcommands[i].word; i++)
		fprintf(out, "  %-23s %s\n", subcommands[i].word, subcommands[i].what);
}

static int unknown_word(const char *word, struct error *err)
{
	char words[128] = "";

	for (size_t i = 0; subcommands[i].word; i++) {
		strncat(words, i ? ", " : "", sizeof(words) - strlen(words) - 1);
		strncat(words, subcommands[i].word, sizeof(words) - strlen(words) - 1);
	}
	return error__set(err, -EINVAL, "no command '%.100s' (there is: %s): put -- before a COMMAND to be run, see gpuprobe --help",
			  word, words);
}

/* Without a word, or with an option first, it is the monitor. */
static int run(int argc, char **argv, int *status, struct error *err)
{
	if (argc < 2 || argv[1][0] == '-')
		return monitor_command__run(argc, argv, status, err);
	for (size_t i = 0; subcommands[i].word; i++)
		if (!strcmp(argv[1], subcommands[i].word))
			return subcommands[i].run(argc - 1, argv + 1, status, err);
	*status = EXIT_USAGE;
	return unknown_word(argv[1], err);
}

/* So that no file that is opened later takes the place of a standard one, and what is meant for that. */
static int check_standard_files(struct error *err)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (fd == STDOUT_FILENO)
			return error__set(err, -EBADF, "standard output is closed");
		/* The lowest one that is free. */
		if (open("/dev/null", O_RDWR) < 0)
			return error__set(err, -errno, "/dev/null: %s", strerror(errno));
	}
	return 0;
}

/* What help and lists have left in the buffer. A reader who has gone wants no more. */
static int finish_output(int *status, struct error *err)
{
	if (*status || (!fflush(stdout) && !ferror(stdout)) || errno == EPIPE)
		return 0;
	*status = EXIT_FAILED;
	return error__set(err, -errno, "cannot write standard output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct error err = {""};
	int status = EXIT_FAILED;

	heap__settle();
	event_set_log_callback(say_why_it_ends);
	write_signals__survive(SIGXFSZ); /* of a file that must not grow (ulimit -f) */
	if (!check_standard_files(&err) && run(argc, argv, &status, &err) >= 0 && !finish_output(&status, &err))
		return status;
	fputs("gpuprobe: ", stderr);
	escape__text(stderr, err.text); /* it may quote an argument or a file's name */
	fputc('\n', stderr);
	return status;
}
