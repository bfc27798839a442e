// SPDX-License-Identifier: BSD-2-Clause
// Parses thresholds, see threshold.h.
#include "finding/threshold.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/similar.h"

#define NUMBER_LENGTH 32

struct suffix {
	const char *text;
	double factor;
};

/* The suffixes that a unit's numbers may have. */
struct unit_form {
	const char *example;
	double most;
	bool whole; /* at least 1: a finding needs at least one occurrence */
	struct suffix suffixes[16];
};

/* clang-format off */
#define BYTE_SUFFIXES \
	{"", 1}, {"B", 1}, {"K", 1ull << 10}, {"KiB", 1ull << 10}, {"k", 1ull << 10}, {"M", 1ull << 20}, \
		{"MiB", 1ull << 20}, {"m", 1ull << 20}, {"G", 1ull << 30}, {"GiB", 1ull << 30}, {"g", 1ull << 30}, \
		{"T", 1ull << 40}, {"TiB", 1ull << 40}
/* clang-format on */

static const struct unit_form forms[] = {
	[UNIT_COUNT] = {"a whole number such as 10, from 1 up", 1e18, true, {{"", 1}}},
	[UNIT_BYTES] = {"bytes such as 65536, 64K, 1M or 2GiB", 1e18, false, {BYTE_SUFFIXES}},
	[UNIT_NS] =
		{
			"a time with its unit such as 20us, 100ms or 1.5s",
			1e18,
			false,
			{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}},
		},
	[UNIT_SHARE] = {"a share such as 5% or 0.05", 1, false, {{"", 1}, {"%", 0.01}}},
	[UNIT_PER_SECOND] = {"a rate such as 10/s", 1e18, false, {{"", 1}, {"/s", 1}}},
	[UNIT_BYTES_PER_SECOND] = {"bytes a second such as 100M", 1e18, false, {BYTE_SUFFIXES}},
	[UNIT_RATIO] = {"a ratio such as 1.2", 1e18, false, {{"", 1}, {"x", 1}}},
};

/* Digits with at most one point among them; returns the rest of the text, or NULL. */
static const char *parse_number(const char *text, double *value)
{
	size_t length = strspn(text, "0123456789.");
	char number[NUMBER_LENGTH], *end;

	if (!length || length >= sizeof(number))
		return NULL;
	memcpy(number, text, length);
	number[length] = '\0';
	*value = strtod(number, &end);
	return end == number + length ? text + length : NULL;
}

static int parse_value(const char *text, const struct threshold_choice *choice, double *value)
{
	const struct finding_threshold *threshold = &choice->kind->thresholds[choice->index];
	const struct unit_form *form = &forms[threshold->unit];
	const char *rest = parse_number(text, value);

	for (size_t i = 0; rest && i < sizeof(form->suffixes) / sizeof(*form->suffixes); i++) {
		const struct suffix *suffix = &form->suffixes[i];

		if (!suffix->text || strcmp(suffix->text, rest))
			continue;
		*value *= suffix->factor;
		if (form->whole && (*value < 1 || *value != floor(*value)))
			return -EINVAL;
		return *value <= form->most && *value >= threshold->least ? 0 : -EINVAL;
	}
	return -EINVAL;
}

static int no_name(const struct finding_kind *kind, const char *name, int length, struct error *err)
{
	const char *names[FINDING_THRESHOLDS], *meant;
	char known[200] = "", word[64];
	size_t at = 0, count = 0;

	for (; count < FINDING_THRESHOLDS && kind->thresholds[count].name && at < sizeof(known);
	     count++) {
		names[count] = kind->thresholds[count].name;
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", count ? ", " : "",
				       names[count]);
	}
	snprintf(word, sizeof(word), "%.*s", length, name);
	meant = similar__find(word, names, count);
	return error__set(err, -EINVAL, "%s has no threshold '%s'; it has %s%s%s%s", kind->id, word,
			  known, meant ? "; did you mean " : "", meant ? meant : "",
			  meant ? "?" : "");
}

static bool is_text(const char *known, const char *text, size_t length)
{
	return strlen(known) == length && !memcmp(known, text, length);
}

static int find_threshold(const struct finding_kind *kind, const char *name, size_t length,
			  size_t *index, struct error *err)
{
	for (*index = 0; *index < FINDING_THRESHOLDS && kind->thresholds[*index].name; ++*index)
		if (is_text(kind->thresholds[*index].name, name, length))
			return 0;
	return no_name(kind, name, length < 63 ? (int)length : 63, err);
}

static int no_value(const struct threshold_choice *choice, const char *value, struct error *err)
{
	const struct finding_threshold *threshold = &choice->kind->thresholds[choice->index];
	char least[40] = "";

	if (threshold->least > 0)
		snprintf(least, sizeof(least), ", from %g up", threshold->least);
	return error__set(err, -EINVAL, "%s.%s: '%.64s' is not %s%s", choice->kind->id,
			  threshold->name, value, forms[threshold->unit].example, least);
}

int threshold__parse(const char *text, struct threshold_choice *choice, struct error *err)
{
	const char *value = strchr(text, '='), *name;
	size_t length;
	int ret = 0;

	if (!value)
		return error__set(err, -EINVAL, "'%.64s' is not ID=VALUE or ID.NAME=VALUE", text);
	*choice = (struct threshold_choice){0};
	name = memchr(text, '.', (size_t)(value - text));
	length = (size_t)((name ? name : value) - text);
	for (size_t i = 0; i < finding_kind_count && !choice->kind; i++)
		if (is_text(finding_kinds[i]->id, text, length))
			choice->kind = finding_kinds[i];
	if (!choice->kind)
		return finding_kind__unknown(text, length, err);
	if (name)
		ret = find_threshold(choice->kind, name + 1, (size_t)(value - name - 1),
				     &choice->index, err);
	if (ret)
		return ret;
	return parse_value(value + 1, choice, &choice->value) ? no_value(choice, value + 1, err) :
								0;
}
