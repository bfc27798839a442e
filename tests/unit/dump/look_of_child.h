/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children that sleep in a system call, and a look at one of their threads, with data from /proc in
 * place of BPF.
 */
#ifndef LOOK_OF_CHILD_H
#define LOOK_OF_CHILD_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpuprobe/thread_look.h"

/* Starts a child that does `work` and ends with this process. */
static inline pid_t start_child(void (*work)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		work();
		_exit(1);
	}
	assert_true(pid > 0);
	return pid;
}

static inline void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* "NUMBER ARGUMENTS SP IP", or "running". */
static inline bool read_call(pid_t tid, struct thread_look *look)
{
	unsigned long long *argument = look->argument, call, sp, ip;
	char path[64], text[256] = "";
	int fd, found;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	found = sscanf(text, "%llu %llx %llx %llx %llx %llx %llx %llx %llx", &call, &argument[0],
		       &argument[1], &argument[2], &argument[3], &argument[4], &argument[5], &sp,
		       &ip);
	if (found != 9)
		return false;
	look->system_call = call;
	look->stack.registers.sp = sp;
	look->stack.registers.ip = ip;
	look->state = TASK_SLEEPS;
	look->taken = 1;
	return true;
}

/* Looks at a thread that has gone to sleep in this call. The caller frees the look. */
static inline struct thread_look *look_at(pid_t tid, uint64_t number)
{
	struct thread_look *look = calloc(1, sizeof(*look));

	assert_non_null(look);
	for (int i = 0; i < 3000; i++) {
		if (read_call(tid, look) && look->system_call == number)
			return look;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	free(look);
	fail_msg("thread %d did not come to sleep in system call %u", (int)tid,
		 (unsigned int)number);
	return NULL;
}

#endif
