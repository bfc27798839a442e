// SPDX-License-Identifier: BSD-2-Clause
// Looks at threads beside the event loop, see background_look.h.
#include "cli/session/background_look.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/session/looker.h"

struct background_look {
	const pid_t *pids;
	size_t count;
	const struct log *log;
	pthread_t thread;
	bool runs;
	int fd;		   /* an eventfd */
	struct dump *dump; /* belongs to the thread while it runs */
};

struct background_look *background_look__new(const pid_t *pids, size_t count, const struct log *log)
{
	struct background_look *look = calloc(1, sizeof(*look));

	if (!look)
		return NULL;
	look->pids = pids;
	look->count = count;
	look->log = log;
	look->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (look->fd >= 0)
		return look;
	free(look);
	return NULL;
}

static void *run(void *arg)
{
	struct background_look *look = arg;
	struct looker *looker = looker__new(look->log);
	struct pid_list chosen = {0};
	const uint64_t one = 1;

	if (!dump_choice__make(look->pids, look->count, &chosen))
		look->dump = looker__look(looker, chosen.pids, chosen.count);
	pid_list__clear(&chosen);
	looker__free(looker);
	while (write(look->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return NULL;
}

/* The thread blocks signals: they are for the thread that has the event loop. */
int background_look__start(struct background_look *look)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&look->thread, NULL, run, look);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	look->runs = !ret;
	return -ret;
}

int background_look__fd(const struct background_look *look)
{
	return look->fd;
}

struct dump *background_look__take(struct background_look *look)
{
	struct dump *dump;

	if (look->runs)
		pthread_join(look->thread, NULL);
	look->runs = false;
	dump = look->dump;
	look->dump = NULL;
	return dump;
}

void background_look__free(struct background_look *look)
{
	if (!look)
		return;
	dump__free(background_look__take(look));
	close(look->fd);
	free(look);
}
