// SPDX-License-Identifier: BSD-2-Clause
// Samples and answers for the page for a person, see web.h.
#include "cli/commands/web.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text_stream.h"
#include "cli/session/samples.h"
#include "model/process_rates.h"
#include "output/web/web.h"

#define PERIOD 3.0	 /* approximate seconds between points: 300 are 15 minutes */
#define SECOND_POINT 1.0 /* rates are known from the second one on */
/*
 * Readings of the page's own would be a tenth of the monitor's CPU time. While nobody looks, points
 * come from the readings that reports and scrapes make, and from few of its own.
 */
#define WATCHED_NS (60 * NS_PER_S) /* since the latest request: somebody looks */
#define FRESH_NS (1 * NS_PER_S)	   /* readings of others that serve while somebody looks */
#define UNWATCHED_FRESH_NS (30 * NS_PER_S)

#define TEXTS 16 /* answers that are sent again until the next sample */
#define TEXT_BYTES_MAX ((size_t)2 << 20)
#define PATH_MAX_BYTES 48

/* The page loads no foreign code, sends nothing elsewhere, and no other page can frame it. */
#define PAGE_POLICY \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
	"img-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; " \
	"frame-ancestors 'none'"
/* A flame graph has its own script. The sandbox keeps that from everything else of the server. */
#define FLAME_POLICY \
	"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; " \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"

#define JSON "application/json"

struct kept_text {
	char path[PATH_MAX_BYTES];
	char *text;
	size_t length;
};

struct web {
	struct web_options options;
	char *watched;
	struct process_rates *rates;
	struct history *history;
	struct samples *samples;
	bool drawn;	     /* the findings are of the latest sample */
	uint64_t sampled_ns; /* the reading of the latest point */
	uint64_t asked_ns;   /* the latest request for data, CLOCK_BOOTTIME; 0: none */
	struct kept_text texts[TEXTS];
	size_t next; /* the text that is replaced next */
};

static void forget_texts(struct web *web)
{
	for (int i = 0; i < TEXTS; i++) {
		free(web->texts[i].text);
		web->texts[i] = (struct kept_text){0};
	}
}

/* --- samples --- */

static bool is_watched(const struct web *web)
{
	return web->asked_ns && clock__boot_ns() - web->asked_ns < WATCHED_NS;
}

static uint64_t fresh_ns(void *arg)
{
	return is_watched(arg) ? FRESH_NS : UNWATCHED_FRESH_NS;
}

static void sample(void *arg)
{
	struct web *web = arg;
	const struct history_input input = {
		.model = live_model__model(web->options.live),
		.rates = web->rates,
		.verdicts = web->options.profile ? web->options.state : NULL,
	};

	if (input.model->now_ns == web->sampled_ns)
		return;
	web->sampled_ns = input.model->now_ns;
	/* Without memory, some processes have no rates: they are unknown in this point. */
	process_rates__sample(web->rates, input.model);
	history__add(web->history, &input);
	web->drawn = false;
	forget_texts(web);
}

/* --- answers --- */

static int write_overview(FILE *out, const struct web_view *view, const struct process *process)
{
	(void)process;
	return web_overview__print(out, view);
}

static int write_history(FILE *out, const struct web_view *view, const struct process *process)
{
	(void)process;
	return web_history__print(out, view);
}

struct route {
	const char *path; /* followed by the process's id and `end`, if it is of a process */
	const char *end;  /* NULL: it is not */
	struct http_kind kind;
	int (*write)(FILE *out, const struct web_view *view, const struct process *process);
};

static const struct route routes[] = {
	{"/api/v1/overview", NULL, {JSON, PAGE_POLICY}, write_overview},
	{"/api/v1/history", NULL, {JSON, PAGE_POLICY}, write_history},
	{"/api/v1/processes/", "", {JSON, PAGE_POLICY}, web_process__print},
	{"/api/v1/processes/", "/flame.svg", {"image/svg+xml", FLAME_POLICY}, web_flame__print},
};

/* The running process with the id in the path; NULL if there is none. */
static const struct process *find_process(const struct model *model, const char *id,
					  const char *end)
{
	uint64_t serial = 0;
	const char *digit;

	for (digit = id; *digit >= '0' && *digit <= '9' && digit < id + 19; digit++)
		serial = serial * 10 + (uint64_t)(*digit - '0');
	if (digit == id || strcmp(digit, end) != 0)
		return NULL;
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].serial == serial && !model->processes[i].ended)
			return &model->processes[i];
	return NULL;
}

/* Sets *process to NULL for a route that is of none. NULL: nothing is at the path. */
static const struct route *find_route(const struct model *model, const char *path,
				      const struct process **process)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		const struct route *route = &routes[i];

		*process = NULL;
		if (!route->end && !strcmp(path, route->path))
			return route;
		if (!route->end || strncmp(path, route->path, strlen(route->path)) != 0)
			continue;
		*process = find_process(model, path + strlen(route->path), route->end);
		if (*process)
			return route;
	}
	return NULL;
}

static int write_answer(struct web *web, const struct route *route, const struct process *process,
			FILE *out)
{
	const struct web_view view = {
		.version = GPUPROBE_VERSION,
		.watched = web->watched,
		.began_ns = findings__began_ns(web->options.state),
		.state = web->options.state,
		.profile = web->options.profile,
		.model = live_model__model(web->options.live),
		.findings = web->options.findings,
		.rates = web->rates,
		.history = web->history,
	};

	if (!web->drawn)
		web->options.draw(web->options.arg);
	web->drawn = true;
	return route->write(out, &view, process);
}

/* Takes ownership of the text, which may be sent until the next sample. */
static void keep_text(struct web *web, const char *path, char *text, size_t length)
{
	struct kept_text *kept = &web->texts[web->next];

	if (length > TEXT_BYTES_MAX || strlen(path) >= sizeof(kept->path)) {
		free(text);
		return;
	}
	free(kept->text);
	snprintf(kept->path, sizeof(kept->path), "%s", path);
	kept->text = text;
	kept->length = length;
	web->next = (web->next + 1) % TEXTS;
}

static const struct kept_text *find_text(const struct web *web, const char *path)
{
	for (int i = 0; i < TEXTS; i++)
		if (web->texts[i].text && !strcmp(web->texts[i].path, path))
			return &web->texts[i];
	return NULL;
}

static int answer_data(struct web *web, const char *path, struct http_kind *kind, FILE *out)
{
	const struct process *process;
	const struct route *route =
		find_route(live_model__model(web->options.live), path, &process);
	const struct kept_text *kept = route ? find_text(web, path) : NULL;
	size_t length = 0;
	char *text = NULL;
	FILE *stream;
	int ret;

	if (!route)
		return -ENOENT;
	if (!is_watched(web))
		samples__hurry(web->samples);
	web->asked_ns = clock__boot_ns();
	*kind = route->kind;
	if (kept) {
		fwrite(kept->text, 1, kept->length, out);
		return 0;
	}
	stream = text_stream__open(&text, &length);
	if (!stream)
		return -ENOMEM;
	ret = write_answer(web, route, process, stream);
	if (fclose(stream))
		return -ENOMEM;
	fwrite(text, 1, length, out);
	if (ret)
		free(text);
	else
		keep_text(web, path, text, length);
	return ret;
}

int web__answer(struct web *web, const char *path, struct http_kind *kind, FILE *out)
{
	const struct web_file *file = web_files__find(path);

	if (!file)
		return answer_data(web, path, kind, out);
	*kind = (struct http_kind){file->content_type, PAGE_POLICY};
	fwrite(file->text, 1, (size_t)(file->end - file->text), out);
	return 0;
}

/* --- setting up --- */

int web__new(const struct web_options *options, struct web **out, struct error *err)
{
	struct web *web = calloc(1, sizeof(*web));
	const struct samples_options samples = {
		.period = PERIOD,
		.second = SECOND_POINT,
		.with_lists = options->stacks,
		/* Not all readings have the lists of call sites. */
		.fresh_ns = options->stacks ? NULL : fresh_ns,
		.take = sample,
		.arg = web,
	};
	int ret = -ENOMEM;

	if (!web)
		return error__set(err, -ENOMEM, "out of memory");
	web->options = *options;
	web->watched = strdup(options->watched);
	web->rates = process_rates__new();
	web->history = history__new(HISTORY_BYTES_MAX);
	if (web->watched && web->rates && web->history)
		ret = samples__new(options->live, &samples, &web->samples, err);
	else
		error__set(err, ret, "out of memory");
	if (ret) {
		web__free(web);
		return ret;
	}
	*out = web;
	return 0;
}

void web__free(struct web *web)
{
	if (!web)
		return;
	samples__free(web->samples);
	forget_texts(web);
	history__free(web->history);
	process_rates__free(web->rates);
	free(web->watched);
	free(web);
}
