// SPDX-License-Identifier: BSD-2-Clause
// Words for states and waits of threads, see parts.h.
#include "output/dump/parts.h"

const char *dump_words__run(enum dump_run run)
{
	static const char *const words[DUMP_RUN_STATES] = {
		[DUMP_RUNS] = "on the CPU",
		[DUMP_READY] = "waits for a CPU",
		[DUMP_SLEEPS] = "asleep",
		[DUMP_SLEEPS_ON] = "in the kernel (no signal wakes it)",
		[DUMP_STOPPED] = "stopped (SIGSTOP)",
		[DUMP_TRACED] = "stopped by a debugger",
		[DUMP_FROZEN] = "frozen",
	};

	return run < DUMP_RUN_STATES ? words[run] : "in an unknown state";
}

const char *dump_words__run_key(enum dump_run run)
{
	static const char *const keys[DUMP_RUN_STATES] = {
		[DUMP_RUNS] = "running",    [DUMP_READY] = "ready",
		[DUMP_SLEEPS] = "sleeping", [DUMP_SLEEPS_ON] = "uninterruptible",
		[DUMP_STOPPED] = "stopped", [DUMP_TRACED] = "traced",
		[DUMP_FROZEN] = "frozen",
	};

	return run < DUMP_RUN_STATES ? keys[run] : "unknown";
}

const char *dump_words__wait(enum dump_wait kind, bool several)
{
	static const char *const words[DUMP_WAITS][2] = {
		[DUMP_WAIT_LOCK] = {"waits for a lock", "wait for a lock"},
		[DUMP_WAIT_GIL] = {"waits for Python's lock (GIL)", "wait for Python's lock (GIL)"},
		[DUMP_WAIT_FILES] = {"waits for one of several files",
				     "wait for one of several files"},
		[DUMP_WAIT_PIPE] = {"waits for a pipe", "wait for a pipe"},
		[DUMP_WAIT_SOCKET] = {"waits for a socket", "wait for a socket"},
		[DUMP_WAIT_FILE] = {"waits for a file", "wait for a file"},
		[DUMP_WAIT_CHILD] = {"waits for a child", "wait for a child"},
		[DUMP_WAIT_SLEEP] = {"sleeps for a time", "sleep for a time"},
		[DUMP_WAIT_SIGNAL] = {"waits for a signal", "wait for a signal"},
		[DUMP_WAIT_DRIVER] = {"waits for the driver", "wait for the driver"},
		[DUMP_WAIT_OTHER] = {"waits in another system call", "wait in other system calls"},
	};
	const char *text = kind < DUMP_WAITS ? words[kind][several] : NULL;

	return text ? text : dump_words__run(DUMP_SLEEPS);
}

const char *dump_words__wait_key(enum dump_wait kind)
{
	static const char *const keys[DUMP_WAITS] = {
		[DUMP_WAIT_LOCK] = "lock",     [DUMP_WAIT_GIL] = "gil",
		[DUMP_WAIT_FILES] = "files",   [DUMP_WAIT_PIPE] = "pipe",
		[DUMP_WAIT_SOCKET] = "socket", [DUMP_WAIT_FILE] = "file",
		[DUMP_WAIT_CHILD] = "child",   [DUMP_WAIT_SLEEP] = "sleep",
		[DUMP_WAIT_SIGNAL] = "signal", [DUMP_WAIT_DRIVER] = "driver",
		[DUMP_WAIT_OTHER] = "other",
	};

	return kind < DUMP_WAITS ? keys[kind] : NULL;
}
