// SPDX-License-Identifier: BSD-2-Clause
// Work that SIGKILL does not interrupt; see sigkill_safe.h.
#include "base/sigkill_safe.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define STACK_BYTES 65536

struct job {
	void (*work)(void *arg);
	void *arg;
};

static int run_job(void *arg)
{
	const struct job *job = arg;

	job->work(job->arg);
	return 0;
}

/* No signal is sent when the child ends: no handler of this process should see it. */
static pid_t start(struct job *job, char *stack)
{
	return clone(run_job, stack + STACK_BYTES, CLONE_VM | CLONE_FS | CLONE_FILES, job);
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

void sigkill_safe__run(void (*work)(void *arg), void *arg, unsigned int count)
{
	struct job job = {.work = work, .arg = arg};
	size_t size = (size_t)count * STACK_BYTES;
	char *stacks = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pids[UNKILLED_MAX];
	unsigned int started = 0;

	while (stacks != MAP_FAILED && started < count) {
		pids[started] = start(&job, stacks + (size_t)started * STACK_BYTES);
		if (pids[started] < 0)
			break;
		started++;
	}
	if (!started)
		work(arg);
	for (unsigned int i = 0; i < started; i++)
		wait_for(pids[i]);
	if (stacks != MAP_FAILED)
		munmap(stacks, size);
}
