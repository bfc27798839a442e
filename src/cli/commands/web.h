/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The monitor's page for a person, --web: samples for its plots, and answers to its requests
 * (output/web/). A request causes no reading: all answers are of the latest sample.
 *
 * Call order: new, between live_run__new and live_run__attach; answer, while the loop runs; free,
 * before the live run.
 */
#ifndef CLI_COMMANDS_WEB_H
#define CLI_COMMANDS_WEB_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/session/live_model.h"
#include "finding/finding.h"
#include "serve/http.h"

struct web;

struct web_options {
	struct live_model *live;
	const char *watched; /* "the whole machine"; copied */
	bool stacks;	     /* stacks are taken, so there are call sites of memory */
	bool profile;
	const struct findings *state;
	/* Brings `findings` up to date with the model. */
	void (*draw)(void *arg);
	const struct finding_list *findings;
	void *arg;
};

/* Returns 0 or a negative errno with a message. */
int web__new(const struct web_options *options, struct web **out, struct error *err);
void web__free(struct web *web); /* NULL ok */

/* As http_options.web. */
int web__answer(struct web *web, const char *path, struct http_kind *kind, FILE *out);

#endif
