// SPDX-License-Identifier: BSD-2-Clause
// The monitor as a service, see service.h.
#include "cli/commands/service.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "service/changes.h"
#include "service/journal.h"
#include "service/manager.h"

/* The manager hears that often from gpuprobe within the time of its watchdog. */
#define WATCHDOG_BEATS 3

struct service {
	struct service_manager manager;
	bool has_journal;
	struct journal *journal;
	struct changes *changes;
	const char *metrics;
	struct event *beat;
	char status[256]; /* what the manager was told last */
};

int service__new(struct service **out, struct error *err)
{
	struct service *service = calloc(1, sizeof(*service));
	int ret;

	if (!service)
		return error__set(err, -ENOMEM, "out of memory");
	ret = service_manager__open(&service->manager, err);
	if (!ret) {
		service->has_journal = journal__reads(STDERR_FILENO);
		service->journal =
			journal__new(service->has_journal ? JOURNAL_SOCKET : NULL, stderr);
		service->changes = changes__new(service->journal);
		if (!service->journal || !service->changes)
			ret = error__set(err, -ENOMEM, "out of memory");
	}
	if (ret)
		service__free(service);
	else
		*out = service;
	return ret;
}

void service__free(struct service *service)
{
	if (!service)
		return;
	service_manager__notify(&service->manager, "STOPPING=1\nSTATUS=detaching the probes");
	if (service->beat)
		event_free(service->beat);
	changes__free(service->changes);
	journal__free(service->journal);
	service_manager__close(&service->manager);
	free(service);
}

bool service__has_journal(const struct service *service)
{
	return service->has_journal;
}

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
	const struct service *service = arg;

	(void)fd;
	(void)what;
	service_manager__notify(&service->manager, "WATCHDOG=1");
}

static int start_beat(struct service *service, struct event_base *loop, struct error *err)
{
	struct timeval period = clock__timeval((double)service->manager.watchdog_ns /
					       WATCHDOG_BEATS / (double)NS_PER_S);

	if (!service->manager.watchdog_ns)
		return 0;
	service->beat = event_new(loop, -1, EV_PERSIST, on_beat, service);
	if (!service->beat || event_add(service->beat, &period))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

int service__ready(struct service *service, struct event_base *loop, const char *metrics,
		   struct error *err)
{
	service->metrics = metrics;
	service_manager__notify(&service->manager, "READY=1\nSTATUS=watching");
	return start_beat(service, loop, err);
}

static size_t running(const struct model *model)
{
	size_t count = 0;

	for (size_t i = 0; i < model->process_count; i++)
		count += !model->processes[i].ended;
	return count;
}

/* "STATUS=watching 2 CUDA processes; 1 finding; metrics at 127.0.0.1:9000" */
static void update_status(struct service *service, const struct model *model, size_t findings)
{
	size_t processes = running(model);
	char status[sizeof(service->status)];

	snprintf(status, sizeof(status),
		 "STATUS=watching %zu CUDA process%s; %zu finding%s%s; %s%s", processes,
		 processes == 1 ? "" : "es", findings, findings == 1 ? "" : "s",
		 model__has_losses(model) ? "; calls were lost" : "",
		 service->metrics ? "metrics at " : "no metrics",
		 service->metrics ? service->metrics : "");
	if (!strcmp(status, service->status))
		return;
	memcpy(service->status, status, sizeof(status));
	service_manager__notify(&service->manager, status);
}

int service__look(struct service *service, const struct model *model,
		  const struct finding_list *list)
{
	update_status(service, model, list->count);
	return changes__write(service->changes, model, list);
}
