// SPDX-License-Identifier: BSD-2-Clause
// One limit of a budget, see limit.h.
#include "compare/limit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/similar.h"
#include "finding/finding.h"

static const struct {
	const char *word;
	enum limit_operator operator;
} operators[] = {
	{"<=", LIMIT_AT_MOST}, {">=", LIMIT_AT_LEAST}, {"==", LIMIT_EQUAL},
	{"<", LIMIT_BELOW},    {">", LIMIT_ABOVE},
};

static const struct {
	const char *word;
	enum figure_unit unit;
	double factor;
} units[] = {
	{"bytes", FIGURE_BYTES, 1},
	{"byte", FIGURE_BYTES, 1},
	{"KiB", FIGURE_BYTES, 1024},
	{"MiB", FIGURE_BYTES, 1048576},
	{"GiB", FIGURE_BYTES, 1073741824},
	{"TiB", FIGURE_BYTES, 1099511627776},
	{"ns", FIGURE_NS, 1},
	{"us", FIGURE_NS, 1e3},
	{"ms", FIGURE_NS, 1e6},
	{"s", FIGURE_NS, 1e9},
};

static const char *const severities[] = {"info", "warning", "critical"};

/* --- the value --- */

static int refuse_value(const struct limit *limit, const char *text, struct error *err)
{
	static const char *const allowed[] = {
		[FIGURE_COUNT] = "a number without a unit",
		[FIGURE_BYTES] = "a number and bytes, KiB, MiB, GiB or TiB",
		[FIGURE_NS] = "a number and ns, us, ms or s",
	};

	return error__set(err, -EINVAL, "'%.60s' is no limit: write %s", text,
			  allowed[limit->unit]);
}

/* A plain decimal number: strtod alone also takes hexadecimal ones, inf and nan. */
static int parse_value(struct limit *limit, const char *text, struct error *err)
{
	size_t digits = strspn(text, "0123456789.");
	double value;
	char *end;

	if (!digits)
		return refuse_value(limit, text, err);
	value = strtod(text, &end);
	if (end != text + digits || !isfinite(value))
		return refuse_value(limit, text, err);
	end += strspn(end, " \t");
	if (!*end && (limit->unit == FIGURE_COUNT || !value)) {
		limit->value = value;
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].unit == limit->unit && !strcmp(end, units[i].word)) {
			limit->value = value * units[i].factor;
			return 0;
		}
	return refuse_value(limit, text, err);
}

/* --- the name --- */

/* Removes `suffix` at the end of the name, if it is there with a word before it. */
static bool cut_suffix(char *name, const char *suffix)
{
	size_t length = strlen(name), cut = strlen(suffix);

	if (length <= cut || strcmp(name + length - cut, suffix))
		return false;
	name[length - cut] = '\0';
	return true;
}

static bool find_figure(struct limit *limit, const char *name)
{
	for (size_t i = 0; i < figure_kind_count; i++) {
		if (strcmp(name, figure_kind__name(&figure_kinds[i]).text))
			continue;
		limit->subject = LIMIT_FIGURE;
		limit->figure = i;
		limit->unit = figure_kinds[i].unit;
		return true;
	}
	return false;
}

static bool is_function(const char *name)
{
	for (size_t i = 0; i < api_function_count; i++)
		if (!strcmp(name, api_functions[i].symbol) ||
		    !strcmp(name, api_functions[i].base) || !strcmp(name, api_functions[i].shown))
			return true;
	return false;
}

static int take_function(struct limit *limit, char *name, enum limit_time time, struct error *err)
{
	limit->subject = LIMIT_FUNCTION;
	limit->unit = FIGURE_COUNT;
	limit->time = time;
	limit->word = name;
	return is_function(name) ?
		       0 :
		       error__set(err, -EINVAL, "no CUDA function '%.60s' is known", name);
}

static int take_findings(struct limit *limit, char *rest, struct error *err)
{
	limit->subject = LIMIT_FINDINGS;
	limit->unit = FIGURE_COUNT;
	limit->word = rest + strspn(rest, " ");
	if (!*limit->word || finding_kind__find(limit->word))
		return 0;
	for (size_t i = 0; i < sizeof(severities) / sizeof(severities[0]); i++)
		if (!strcmp(limit->word, severities[i]))
			return 0;
	return error__set(err, -EINVAL,
			  "no finding '%.60s': write info, warning, critical, or an id of gpuprobe "
			  "diagnose --list",
			  limit->word);
}

/* Names the most similar figure, or else some that show what is allowed. */
static int refuse_name(const char *name, struct error *err)
{
	struct figure_name names[FIGURES_MAX];
	struct similar similar;

	similar__begin(&similar, name);
	for (size_t i = 0; i < figure_kind_count; i++) {
		names[i] = figure_kind__name(&figure_kinds[i]);
		similar__try(&similar, names[i].text);
	}
	if (similar.best)
		return error__set(err, -EINVAL, "no figure '%.60s': did you mean '%s'?", name,
				  similar.best);
	return error__set(
		err, -EINVAL,
		"no figure '%.60s': write 'launches per step', 'waits per step', 'copied "
		"bytes per step', 'peak memory', 'step time', 'cudaMalloc in steady state', "
		"'findings critical' or another of gpuprobe-diff(8)",
		name);
}

static int parse_name(struct limit *limit, char *name, struct error *err)
{
	if (find_figure(limit, name))
		return 0;
	if (!strcmp(name, "findings") || !strncmp(name, "findings ", strlen("findings ")))
		return take_findings(limit, name + strlen("findings"), err);
	if (cut_suffix(name, " in steady state"))
		return take_function(limit, name, LIMIT_STEADY, err);
	if (!strncmp(name, "cu", 2) && cut_suffix(name, " in all"))
		return take_function(limit, name, LIMIT_ALL, err);
	return refuse_name(name, err);
}

/* --- the line --- */

/* One blank between words, none around them. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		bool blank = *from == ' ' || *from == '\t' || *from == '\r';

		if (!blank)
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	}
	if (to > text && to[-1] == ' ')
		to--;
	*to = '\0';
}

/* The text has room for the limit as written and, behind its NUL, for the name. */
static char *copy_line(const char *line, size_t length)
{
	char *text = malloc(2 * (length + 1));

	if (!text)
		return NULL;
	memcpy(text, line, length);
	text[length] = '\0';
	squeeze(text);
	return text;
}

int limit__parse(struct limit *limit, const char *line, size_t length, struct error *err)
{
	char *name, *value;
	size_t used;
	int ret;

	limit->text = memchr(line, '\0', length) ? NULL : copy_line(line, length);
	if (!limit->text)
		return memchr(line, '\0', length) ?
			       error__set(err, -EINVAL, "it has a NUL: a budget is text") :
			       error__set(err, -ENOMEM, "out of memory");
	used = strcspn(limit->text, "<>=");
	name = limit->text + strlen(limit->text) + 1;
	memcpy(name, limit->text, used);
	name[used] = '\0';
	squeeze(name);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		size_t width = strlen(operators[i].word);

		if (strncmp(limit->text + used, operators[i].word, width))
			continue;
		limit->operator= operators[i].operator;
		value = limit->text + used + width;
		ret = parse_name(limit, name, err);
		return ret ? ret : parse_value(limit, value + strspn(value, " "), err);
	}
	return error__set(err, -EINVAL,
			  "'%.60s' has no <=, <, ==, >= or >: write 'launches per step <= 400'",
			  limit->text);
}

bool limit__is_kept(const struct limit *limit, double value)
{
	switch (limit->operator) {
	case LIMIT_AT_MOST: return value <= limit->value;
	case LIMIT_AT_LEAST: return value >= limit->value;
	case LIMIT_EQUAL: return value == limit->value;
	case LIMIT_BELOW: return value < limit->value;
	case LIMIT_ABOVE: return value > limit->value;
	}
	return false;
}

bool limit__is_worse(const struct limit *limit, double value, double other)
{
	switch (limit->operator) {
	case LIMIT_AT_LEAST:
	case LIMIT_ABOVE: return value < other;
	case LIMIT_EQUAL: return fabs(value - limit->value) > fabs(other - limit->value);
	default: return value > other;
	}
}
