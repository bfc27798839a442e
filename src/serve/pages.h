/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The metrics pages that have been made. A page that took long is given to whoever asks within ten times as long, so
 * that pages take a tenth of the time at most, however many clients ask; others are made anew for each. A client that asks for
 * another form meanwhile gets the same reading in that form, so that no counter goes back.
 */
#ifndef SERVE_PAGES_H
#define SERVE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/body.h"
#include "serve/http.h"

struct pages;

/* NULL without memory. `base` must outlive it. */
struct pages *pages__new(struct event_base *base);

/* All bodies are to be released before, but for those that it keeps. NULL does nothing. */
void pages__free(struct pages *pages);

/* Bytes of all bodies that there are, see body__new. */
size_t *pages__total(struct pages *pages);

/* The page that may be given out once more, with one more holder; NULL: it is to be made. */
struct body *pages__find(struct pages *pages, enum exposition form, bool gzipped);

/* Whether a page of another form may be given out once more: the next one is to be of the same reading. */
bool pages__rest(struct pages *pages);

/*
 * A page of that reading, which took `cost_ns` of CPU time to be made; it is kept for as long as it may be given out. Those of
 * earlier readings go.
 */
void pages__keep(struct pages *pages, enum exposition form, bool gzipped, struct body *body, uint64_t cost_ns, uint64_t reading);

#endif
