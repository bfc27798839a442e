// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls that hang on request: CUDA_SIM_HANG, a list of NAME=HOW[:N]. The Nth call of NAME and the
 * ones after it hang before they do their work, until the process gets SIGUSR1; after that none
 * does. They hang in the ways of the real driver. Each writes a line "TID NAME" to
 * CUDA_SIM_HANG_LOG first, because spinning is not visible in /proc.
 */
#define _GNU_SOURCE
#include "record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum how { HANG_SPIN, HANG_YIELD, HANG_POLL, HANG_FUTEX, HANG_IOCTL, HANG_BY_FLAGS };

/* CU_CTX_SCHED_: how a context waits. */
#define SCHED_YIELD 2u
#define SCHED_BLOCKING 4u

struct sim_hang {
	enum how how;
	uint64_t number;
};

static struct {
	bool armed;
	uint32_t released;
	int event;
	const char *log;
} hanging = { .event = -1 };

static void release(int number)
{
	int kept = errno;
	ssize_t written;

	(void)number;
	__atomic_store_n(&hanging.released, 1, __ATOMIC_RELEASE);
	written = write(hanging.event, &(uint64_t){ 1 }, sizeof(uint64_t));
	(void)written;
	syscall(SYS_futex, &hanging.released, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	errno = kept;
}

static void arm_release(const char *list)
{
	struct sigaction action = { .sa_handler = release, .sa_flags = SA_RESTART };

	if (hanging.armed)
		return;
	hanging.armed = true;
	hanging.log = getenv("CUDA_SIM_HANG_LOG");
	hanging.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (hanging.event < 0 || sigaction(SIGUSR1, &action, NULL))
		sim_parse__refuse("CUDA_SIM_HANG", list, "cannot be released");
}

static bool parse(const char *text, struct sim_hang *hang)
{
	static const char *const ways[] = {
		[HANG_SPIN] = "spin", [HANG_YIELD] = "yield", [HANG_POLL] = "poll",
		[HANG_FUTEX] = "futex", [HANG_IOCTL] = "ioctl", [HANG_BY_FLAGS] = "flags",
	};
	size_t length = strcspn(text, ":,");
	char *end;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (strncmp(text, ways[i], length) || ways[i][length])
			continue;
		hang->how = (enum how)i;
		hang->number = 1;
		text += length;
		if (*text == ':') {
			hang->number = strtoull(text + 1, &end, 10);
			text = end;
		}
		return hang->number && (!*text || *text == ',');
	}
	return false;
}

void sim_hang__arm(struct sim_function *function)
{
	const char *list = getenv("CUDA_SIM_HANG");
	const char *text = sim_parse__next_setting(list, function->name, '=');

	if (!text)
		return;
	function->hang = calloc(1, sizeof(*function->hang));
	if (!function->hang || !parse(text, function->hang))
		sim_parse__refuse("CUDA_SIM_HANG", list,
				  "expected NAME=HOW or NAME=HOW:N in a list with commas, HOW is "
				  "spin, yield, poll, futex, ioctl or flags");
	arm_release(list);
}

static void tell(const char *name)
{
	char line[128];
	int length = snprintf(line, sizeof(line), "%d %s\n", gettid(), name);
	int file = open(hanging.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (file < 0 || write(file, line, (size_t)length) != length)
		sim_parse__refuse("CUDA_SIM_HANG_LOG", hanging.log, "cannot be written");
	close(file);
}

static enum how by_flags(void)
{
	unsigned int flags = sim_state.schedule ? sim_state.schedule() : 0;

	if (flags & SCHED_BLOCKING)
		return HANG_POLL;
	return flags & SCHED_YIELD ? HANG_YIELD : HANG_SPIN;
}

static bool is_released(void)
{
	return __atomic_load_n(&hanging.released, __ATOMIC_ACQUIRE) != 0;
}

void sim_hang__wait(const struct sim_function *function, uint64_t call)
{
	struct pollfd event = { .fd = hanging.event, .events = POLLIN };
	enum how how;

	if (call < function->hang->number || is_released())
		return;
	how = function->hang->how == HANG_BY_FLAGS ? by_flags() : function->hang->how;
	if (hanging.log)
		tell(function->name);
	while (!is_released()) {
		if (how == HANG_YIELD)
			sched_yield();
		else if (how == HANG_POLL)
			poll(&event, 1, -1);
		else if (how == HANG_FUTEX)
			syscall(SYS_futex, &hanging.released, FUTEX_WAIT, 0, NULL, NULL, 0);
		else if (how == HANG_IOCTL)
			sim_hang__ioctl(hanging.event);
		else
			__builtin_ia32_pause();
	}
}
