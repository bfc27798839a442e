/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a person should know about one signal's requests: that they fail, are refused, or arrive
 * again. Each kind of news is told at most once a minute.
 */
#ifndef EXPORT_NEWS_H
#define EXPORT_NEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "export/reply.h"

#define EXPORT_NEWS_SIZE 512

enum export_news_kind {
	NEWS_FAILS = 0,
	NEWS_REFUSED,
	NEWS_REJECTED,
	NEWS_WORKS,
	NEWS_KINDS,
};

/* Begins as zeros. */
struct export_news {
	bool has[NEWS_KINDS];
	uint64_t told_ns[NEWS_KINDS]; /* 0: never */
	bool failing;		      /* somebody was told so */
	char reasons[NEWS_KINDS][EXPORT_REASON_SIZE];
	uint64_t rejected; /* items, since the last news about them */
};

/* Notes what became of a request; `rejected`: how many of its items the receiver left out. */
void export_news__note(struct export_news *news, const struct export_verdict *verdict,
		       uint64_t rejected);

/*
 * Writes what has not been told yet, and counts it as told. `what` is sent: "metrics", and where
 * `to`. Returns false if there is nothing.
 */
bool export_news__take(struct export_news *news, uint64_t now_ns, const char *what, const char *to,
		       char text[EXPORT_NEWS_SIZE]);

#endif
