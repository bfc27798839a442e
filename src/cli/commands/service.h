/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The monitor as a service (--service): what it says to the service manager, and what it logs
 * instead of reports.
 */
#ifndef CLI_COMMANDS_SERVICE_H
#define CLI_COMMANDS_SERVICE_H

#include <stdbool.h>

#include "base/error.h"
#include "finding/finding.h"
#include "model/model.h"

struct event_base;
struct service;

/*
 * Connects to the service manager, if there is one, and to the journal, if it reads standard error.
 * Returns 0, or a negative errno with a message. The caller frees *out.
 */
int service__new(struct service **out, struct error *err);

/* Says that gpuprobe is stopping. NULL ok. */
void service__free(struct service *service);

/* Whether lines on standard error should have priorities. */
bool service__has_journal(const struct service *service);

/*
 * The probes are attached: says that gpuprobe is ready, and from now on that `loop` runs.
 * `metrics`: the address of the metrics; NULL: none. It must outlive the service. Returns 0 or a
 * negative errno with a message.
 */
int service__ready(struct service *service, struct event_base *loop, const char *metrics,
		   struct error *err);

/*
 * Logs what has changed since the last call, and updates the status. `list` was detected from the
 * model. Returns 0 or -ENOMEM.
 */
int service__look(struct service *service, const struct model *model,
		  const struct finding_list *list);

#endif
