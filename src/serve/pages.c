// SPDX-License-Identifier: BSD-2-Clause
// Metrics pages that are sent more than once; see pages.h.
#include "serve/pages.h"

#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"

#define COSTLY_NS (100 * NS_PER_MS)
#define REST 10			   /* multiple of the time that making it took */
#define REST_MAX_NS (5 * NS_PER_S) /* an older page is of no use */
#define FORMS 2
#define PACKINGS 2

struct kept_page {
	struct body *body; /* NULL if none is kept */
	struct event *timer;
};

struct pages {
	size_t total;
	struct kept_page kept[FORMS][PACKINGS];
	uint64_t reading;  /* the reading of all of them */
	uint64_t until_ns; /* CLOCK_BOOTTIME until which they may be sent */
};

static void forget(struct kept_page *page)
{
	body__release(page->body);
	page->body = NULL;
}

/*
 * Frees a page that has expired; otherwise a large one would stay until the next request for this
 * form and packing.
 */
static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	forget(arg);
}

uint64_t pages__reuse_ns(uint64_t cost_ns)
{
	if (cost_ns < COSTLY_NS)
		return 0;
	return cost_ns < REST_MAX_NS / REST ? REST * cost_ns : REST_MAX_NS;
}

struct pages *pages__new(struct event_base *base)
{
	struct pages *pages = calloc(1, sizeof(*pages));

	for (int i = 0; pages && i < FORMS * PACKINGS; i++) {
		struct kept_page *page = &pages->kept[i / PACKINGS][i % PACKINGS];

		page->timer = evtimer_new(base, on_timer, page);
		if (page->timer)
			continue;
		pages__free(pages);
		return NULL;
	}
	return pages;
}

void pages__free(struct pages *pages)
{
	if (!pages)
		return;
	for (int i = 0; i < FORMS * PACKINGS; i++) {
		struct kept_page *page = &pages->kept[i / PACKINGS][i % PACKINGS];

		forget(page);
		if (page->timer)
			event_free(page->timer);
	}
	free(pages);
}

size_t *pages__total(struct pages *pages)
{
	return &pages->total;
}

static void forget_all(struct pages *pages)
{
	for (int i = 0; i < FORMS * PACKINGS; i++)
		forget(&pages->kept[i / PACKINGS][i % PACKINGS]);
}

bool pages__rest(struct pages *pages)
{
	if (pages->until_ns > clock__boot_ns())
		return true;
	forget_all(pages);
	return false;
}

struct body *pages__find(struct pages *pages, enum exposition form, bool gzipped)
{
	return pages__rest(pages) ? body__share(pages->kept[form][gzipped].body) : NULL;
}

/* Drops all kept pages, which are of an earlier reading. */
static void begin_reading(struct pages *pages, uint64_t reading, uint64_t cost_ns)
{
	uint64_t reuse_ns = pages__reuse_ns(cost_ns);

	forget_all(pages);
	pages->reading = reading;
	pages->until_ns = reuse_ns ? clock__boot_ns() + reuse_ns : 0;
}

void pages__keep(struct pages *pages, enum exposition form, bool gzipped, struct body *body,
		 uint64_t cost_ns, uint64_t reading)
{
	struct kept_page *page = &pages->kept[form][gzipped];
	uint64_t now_ns = clock__boot_ns();
	struct timeval rest;

	if (reading != pages->reading || pages->until_ns <= now_ns)
		begin_reading(pages, reading, cost_ns);
	rest = clock__timeval(
		pages->until_ns > now_ns ? (double)(pages->until_ns - now_ns) / NS_PER_S : 0);
	if (pages->until_ns <= now_ns || evtimer_add(page->timer, &rest))
		return;
	forget(page);
	page->body = body__share(body);
}
