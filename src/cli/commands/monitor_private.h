/* SPDX-License-Identifier: BSD-2-Clause */
/* What the monitor's source files share: its state, and the pages and OTLP that it serves. */
#ifndef CLI_COMMANDS_MONITOR_PRIVATE_H
#define CLI_COMMANDS_MONITOR_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/commands/otlp.h"
#include "cli/commands/service.h"
#include "cli/commands/web.h"
#include "cli/options/monitor_options.h"
#include "cli/session/live_run.h"
#include "cli/session/xid_watch.h"
#include "finding/finding.h"
#include "output/metrics/metrics.h"
#include "output/monitor/monitor.h"
#include "serve/http.h"

struct monitor {
	const struct monitor_options *options;
	const struct log *log;
	struct replay *replay; /* NULL: live */
	struct live_run *live;
	struct metrics *metrics;
	struct http_server *server;
	struct web *web;	   /* NULL: nobody is served */
	struct otlp_export *otlp;  /* NULL: nothing is sent */
	struct monitor_text *text; /* the report by process; NULL: another form was chosen */
	struct service *service;   /* NULL: reports are printed */
	struct xid_watch *xids;	   /* NULL: none are watched */
	struct findings *findings;
	struct finding_list list; /* findings of the latest report or page */
	uint64_t sampled_ns;
	uint64_t landing_cost_ns; /* of the latest reading for the page at / */
	bool warned;
};

/* Brings findings up to date after an update of the model, for a report or a page. */
void monitor__draw(struct monitor *monitor);

/*
 * Serves pages on the address of the options, unless there is none. A default address that cannot
 * be used is a warning. Returns 0 or a negative errno, with a message in `err`.
 */
int monitor__start_server(struct monitor *monitor, struct error *err);

/* Samples for the page at /, if it is served. Returns 0 or a negative errno. */
int monitor__make_web(struct monitor *monitor, struct error *err);

/* Sends OTLP if an endpoint is configured. Returns 0 or a negative errno. */
int monitor__make_otlp(struct monitor *monitor, struct error *err);

#endif
