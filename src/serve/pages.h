/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recently made metrics pages. An expensive page is reused for ten times as long as it took to
 * make, so that making pages takes at most a tenth of the time however many clients request them.
 * Cheap pages are made for each request. A client that requests another form meanwhile gets the
 * same reading in that form, so that no counter goes back.
 */
#ifndef SERVE_PAGES_H
#define SERVE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/body.h"
#include "serve/http.h"

struct pages;

/*
 * For how long what took `cost_ns` of CPU time to make may be used again, in nanoseconds; 0 if it
 * was cheap.
 */
uint64_t pages__reuse_ns(uint64_t cost_ns);

/* Returns NULL if out of memory. `base` must outlive it. */
struct pages *pages__new(struct event_base *base);

/* All bodies except those that it keeps must be released before. NULL does nothing. */
void pages__free(struct pages *pages);

/* The bytes of all existing bodies; see body__new. */
size_t *pages__total(struct pages *pages);

/* The page that may be reused, with one more holder; NULL if it must be made. */
struct body *pages__find(struct pages *pages, enum exposition form, bool gzipped);

/*
 * Whether a page of another form may still be reused: the next page must then be of the same
 * reading.
 */
bool pages__rest(struct pages *pages);

/*
 * Stores a page of reading `reading` that took `cost_ns` of CPU time to make, for as long as it may
 * be reused. Pages of earlier readings are dropped.
 */
void pages__keep(struct pages *pages, enum exposition form, bool gzipped, struct body *body,
		 uint64_t cost_ns, uint64_t reading);

#endif
