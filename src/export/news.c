// SPDX-License-Identifier: BSD-2-Clause
// What a person should know about requests, see news.h.
#include "export/news.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/quantity.h"

#define REST_NS (60 * NS_PER_S)

static void set(struct export_news *news, enum export_news_kind kind, const char *reason)
{
	news->has[kind] = true;
	memcpy(news->reasons[kind], reason, EXPORT_REASON_SIZE);
}

void export_news__note(struct export_news *news, const struct export_verdict *verdict,
		       uint64_t rejected)
{
	switch (verdict->outcome) {
	case EXPORT_FAILED: set(news, NEWS_FAILS, verdict->reason); break;
	case EXPORT_REFUSED: set(news, NEWS_REFUSED, verdict->reason); break;
	case EXPORT_ACCEPTED:
		/* A failure that is over before anybody was told is no news. */
		news->has[NEWS_FAILS] = false;
		news->has[NEWS_WORKS] |= news->failing;
		news->failing = false;
		if (rejected)
			set(news, NEWS_REJECTED, verdict->reason);
		news->rejected += rejected;
		break;
	}
}

static bool may_tell(const struct export_news *news, enum export_news_kind kind, uint64_t now_ns)
{
	return news->has[kind] && (kind == NEWS_WORKS || !news->told_ns[kind] ||
				   now_ns - news->told_ns[kind] >= REST_NS);
}

static void write_news(struct export_news *news, enum export_news_kind kind, const char *what,
		       const char *to, char text[EXPORT_NEWS_SIZE])
{
	const char *reason = news->reasons[kind];

	switch (kind) {
	case NEWS_FAILS:
		news->failing = true;
		snprintf(text, EXPORT_NEWS_SIZE, "OTLP: cannot send %s to %.200s: %s; retrying",
			 what, to, reason);
		break;
	case NEWS_REFUSED:
		snprintf(text, EXPORT_NEWS_SIZE, "OTLP: %.200s refuses %s, which are lost: %s", to,
			 what, reason);
		break;
	case NEWS_REJECTED:
		snprintf(text, EXPORT_NEWS_SIZE, "OTLP: %.200s rejected %s items of the %s: %s", to,
			 quantity__count(news->rejected).text, what,
			 reason[0] ? reason : "no reason given");
		news->rejected = 0;
		break;
	default: snprintf(text, EXPORT_NEWS_SIZE, "OTLP: %s reach %.200s again", what, to); break;
	}
}

bool export_news__take(struct export_news *news, uint64_t now_ns, const char *what, const char *to,
		       char text[EXPORT_NEWS_SIZE])
{
	for (int i = 0; i < NEWS_KINDS; i++) {
		enum export_news_kind kind = (enum export_news_kind)i;

		if (!may_tell(news, kind, now_ns))
			continue;
		news->has[kind] = false;
		news->told_ns[kind] = now_ns;
		write_news(news, kind, what, to, text);
		return true;
	}
	return false;
}
