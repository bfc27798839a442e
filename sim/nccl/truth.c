// SPDX-License-Identifier: BSD-2-Clause
// Writes the lines of the truth file, each by one write(2).
#include "nccl/truth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t opened_by; /* a forked child opens its own */
static int file = -1;

static int open_file(void)
{
	const char *name = getenv("CUDA_SIM_NCCL_TRUTH"), *mark;
	char path[4096];

	if (!name)
		return -1;
	mark = strstr(name, "%p");
	if (mark)
		snprintf(path, sizeof(path), "%.*s%d%s", (int)(mark - name), name, (int)getpid(),
			 mark + 2);
	else
		snprintf(path, sizeof(path), "%s", name);
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static int current_file(void)
{
	pthread_mutex_lock(&lock);
	if (opened_by != getpid()) {
		opened_by = getpid();
		file = open_file();
	}
	pthread_mutex_unlock(&lock);
	return file;
}

static void write_line(const struct truth *call, char phase, int result)
{
	struct timespec now;
	char line[512];
	int length, fd = current_file();

	if (fd < 0)
		return;
	clock_gettime(CLOCK_BOOTTIME, &now);
	length = snprintf(line, sizeof(line),
			  "%" PRIu64 " %d %ld %c %s %" PRIxPTR " %" PRIx64 " %d %d %" PRIu64
			  " %d %d %d %d %d\n",
			  (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, (int)getpid(),
			  syscall(SYS_gettid), phase, call->function, (uintptr_t)call->comm,
			  call->hash, call->rank, call->size, call->count, call->type, call->op,
			  call->root, call->captured, result);
	if (write(fd, line, (size_t)length) != length)
		abort(); /* a test must not take half a truth for the whole */
}

void truth__begin(const struct truth *call)
{
	write_line(call, 'b', 0);
}

void truth__end(const struct truth *call, int result)
{
	write_line(call, 'e', result);
}
