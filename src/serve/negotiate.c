// SPDX-License-Identifier: BSD-2-Clause
// Content negotiation; see negotiate.h.
#include "serve/negotiate.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define CONTENT_TYPE_PROMETHEUS "text/plain; version=0.0.4; charset=utf-8"
#define CONTENT_TYPE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define CONTENT_TYPE_OPENMETRICS_0 "application/openmetrics-text; version=0.0.1; charset=utf-8"

/* Qualities are in thousandths; this value means not named. */
#define QUALITY_NONE (-1)

/* A piece of the header, not NUL-terminated. */
struct slice {
	const char *start;
	size_t length;
};

/* One element of the header: the name, its version parameter, its quality. */
struct element {
	struct slice name;
	struct slice version; /* empty: none given */
	int quality;
};

static bool equals(struct slice s, const char *text)
{
	return strlen(text) == s.length && strncasecmp(s.start, text, s.length) == 0;
}

static struct slice trim(struct slice s)
{
	while (s.length && isspace((unsigned char)s.start[0])) {
		s.start++;
		s.length--;
	}
	while (s.length && isspace((unsigned char)s.start[s.length - 1]))
		s.length--;
	return s;
}

/*
 * Cuts the part before the next `separator` that is not inside quotes off the front of `rest`.
 * Returns false if nothing is left.
 */
static bool take(struct slice *rest, char separator, struct slice *piece)
{
	bool quoted = false;
	size_t i;

	if (!rest->start)
		return false;
	for (i = 0; i < rest->length; i++) {
		char c = rest->start[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && c == separator)
			break;
	}
	piece->start = rest->start;
	if (i >= rest->length) {
		piece->length = rest->length;
		rest->start = NULL;
	} else {
		piece->length = i;
		rest->start += i + 1;
		rest->length -= i + 1;
	}
	*piece = trim(*piece);
	return true;
}

/*
 * Parses "0.5" as 500. Returns false unless it is a number from 0 to 1 with up to three decimals.
 */
static bool parse_quality(struct slice s, int *quality)
{
	int weight = 100, value;
	size_t i;

	if (!s.length || (s.start[0] != '0' && s.start[0] != '1'))
		return false;
	value = (s.start[0] - '0') * 1000;
	if (s.length > 5 || (s.length > 1 && s.start[1] != '.'))
		return false;
	for (i = 2; i < s.length; i++, weight /= 10) {
		if (!isdigit((unsigned char)s.start[i]))
			return false;
		value += (s.start[i] - '0') * weight;
	}
	*quality = value;
	return value <= 1000;
}

static struct slice unquote(struct slice s)
{
	if (s.length >= 2 && s.start[0] == '"' && s.start[s.length - 1] == '"') {
		s.start++;
		s.length -= 2;
	}
	return s;
}

/* Returns false if the element is malformed; it is then ignored. */
static bool parse_element(struct slice text, struct element *e)
{
	struct slice parameter, name;

	memset(e, 0, sizeof(*e));
	e->quality = 1000;
	if (!take(&text, ';', &e->name) || !e->name.length)
		return false;
	while (take(&text, ';', &parameter)) {
		if (!take(&parameter, '=', &name) || !parameter.start)
			continue;
		parameter = unquote(trim(parameter));
		if (equals(name, "q")) {
			if (!parse_quality(parameter, &e->quality))
				return false;
		} else if (equals(name, "version")) {
			e->version = parameter;
		}
	}
	return true;
}

static bool next_element(struct slice *rest, struct element *e)
{
	struct slice piece;

	while (take(rest, ',', &piece)) {
		if (parse_element(piece, e))
			return true;
	}
	return false;
}

static struct slice whole(const char *header)
{
	struct slice s = {header, header ? strlen(header) : 0};

	return s;
}

static void raise_to(int *quality, int other)
{
	if (other > *quality)
		*quality = other;
}

/* How precisely a media range matches Prometheus text; 0 if it does not. */
static int text_precision(const struct element *e)
{
	if (equals(e->name, "*/*"))
		return 1;
	if (equals(e->name, "text/*"))
		return 2;
	if (!equals(e->name, "text/plain"))
		return 0;
	if (!e->version.length)
		return 3;
	return equals(e->version, "0.0.4") ? 4 : 0;
}

enum exposition negotiate__exposition(const char *accept, const char **content_type)
{
	int text = QUALITY_NONE, current = QUALITY_NONE, old = QUALITY_NONE, precision = 0, p;
	struct slice rest = whole(accept);
	struct element e;

	while (next_element(&rest, &e)) {
		p = text_precision(&e);
		/* The most precise range decides; among equally precise ones, the best quality. */
		if (p > precision)
			text = QUALITY_NONE;
		if (p && p >= precision) {
			precision = p;
			raise_to(&text, e.quality);
		}
		if (!equals(e.name, "application/openmetrics-text"))
			continue;
		if (!e.version.length || equals(e.version, "1.0.0"))
			raise_to(&current, e.quality);
		else if (equals(e.version, "0.0.1"))
			raise_to(&old, e.quality);
	}
	*content_type = CONTENT_TYPE_OPENMETRICS;
	if (current > 0 && current >= text && current >= old)
		return EXPOSITION_OPENMETRICS;
	*content_type = CONTENT_TYPE_OPENMETRICS_0;
	if (old > 0 && old >= text)
		return EXPOSITION_OPENMETRICS;
	*content_type = CONTENT_TYPE_PROMETHEUS;
	return EXPOSITION_PROMETHEUS;
}

bool negotiate__gzip(const char *accept_encoding)
{
	int gzip = QUALITY_NONE, any = QUALITY_NONE, identity = QUALITY_NONE;
	struct slice rest = whole(accept_encoding);
	struct element e;

	while (next_element(&rest, &e)) {
		if (equals(e.name, "gzip") || equals(e.name, "x-gzip"))
			raise_to(&gzip, e.quality);
		else if (equals(e.name, "*"))
			raise_to(&any, e.quality);
		else if (equals(e.name, "identity"))
			raise_to(&identity, e.quality);
	}
	if (gzip == QUALITY_NONE)
		gzip = any;
	return gzip > 0 && gzip >= identity;
}
