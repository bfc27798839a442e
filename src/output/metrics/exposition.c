// SPDX-License-Identifier: BSD-2-Clause
// Writing the Prometheus and OpenMetrics text forms, see exposition.h.
#include "output/metrics/exposition.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"

#define DIGITS_SIZE 21 /* of a 64-bit number, and a NUL */

void exposition__begin(struct exposition_writer *w, FILE *out, enum exposition form)
{
	memset(w, 0, sizeof(*w));
	w->out = w->page = out;
	w->form = form;
}

void exposition__begin_visit(struct exposition_writer *w, const struct exposition_visitor *visitor)
{
	memset(w, 0, sizeof(*w));
	w->visitor = visitor;
}

static const char *sample_suffix(enum metric_type type)
{
	switch (type) {
	case METRIC_COUNTER: return "_total";
	case METRIC_INFO: return "_info";
	default: return "";
	}
}

static const char *type_name(enum metric_type type, enum exposition form)
{
	if (type == METRIC_COUNTER)
		return "counter";
	if (type == METRIC_HISTOGRAM)
		return "histogram";
	/* Format 0.0.4 has no info type. */
	return type == METRIC_INFO && form == EXPOSITION_OPENMETRICS ? "info" : "gauge";
}

const char *exposition__unit_of(const char *name)
{
	const char *last = strrchr(name, '_');

	if (last && (!strcmp(last, "_bytes") || !strcmp(last, "_seconds")))
		return last + 1;
	return NULL;
}

void exposition__family(struct exposition_writer *w, const struct metric_family *family)
{
	bool openmetrics = w->form == EXPOSITION_OPENMETRICS;
	const char *suffix = openmetrics ? "" : sample_suffix(family->type);
	const char *unit = exposition__unit_of(family->name);

	w->family = family;
	w->in_seconds = unit && !strcmp(unit, "seconds");
	if (w->visitor) {
		w->visitor->family(w->visitor->arg, family);
		return;
	}
	fprintf(w->page, "# TYPE %s%s %s\n", family->name, suffix,
		type_name(family->type, w->form));
	if (openmetrics && unit)
		fprintf(w->page, "# UNIT %s %s\n", family->name, unit);
	fprintf(w->page, "# HELP %s%s %s\n", family->name, suffix, family->help);
}

void exposition__part(struct exposition_writer *w, const char *part)
{
	w->has_labels = false;
	if (w->visitor) {
		w->visitor->sample(w->visitor->arg, part);
		return;
	}
	if (w->sink) {
		rewind(w->out);
		return;
	}
	fputs(w->family->name, w->page);
	fputs(part, w->page);
}

void exposition__sample(struct exposition_writer *w)
{
	exposition__part(w, sample_suffix(w->family->type));
}

/* Length of the printable ASCII that needs no escaping: most of a typical label. */
static size_t plain_length(const char *s)
{
	size_t n = 0;

	while (s[n] >= ' ' && s[n] != '\\' && s[n] != '"' && s[n] != 0x7f)
		n++;
	return n;
}

/*
 * Writes a UTF-8 character. One that a terminal would act on becomes \xNN; a line feed has an
 * escape in the format itself.
 */
static void write_character(FILE *out, const char *s, size_t length)
{
	if (*s == '\n') {
		fputs("\\n", out);
	} else if (*s == '\\' || *s == '"') {
		fprintf(out, "\\%c", *s);
	} else if (escape__printable(s, length)) {
		fwrite(s, 1, length, out);
	} else {
		for (size_t i = 0; i < length; i++)
			fprintf(out, "\\\\x%02x", (unsigned char)s[i]);
	}
}

static void escape(FILE *out, const char *s)
{
	size_t n;

	while (*s) {
		n = plain_length(s);
		if (n) {
			fwrite(s, 1, n, out);
			s += n;
			continue;
		}
		n = json__utf8_length(s);
		if (n == 0) {
			fputs("\xef\xbf\xbd", out);
			s++;
			continue;
		}
		write_character(out, s, n);
		s += n;
	}
}

static void begin_label(struct exposition_writer *w)
{
	if (w->has_labels)
		fputc(',', w->out);
	else if (!w->sink)
		fputc('{', w->out);
	w->has_labels = true;
}

void exposition__label(struct exposition_writer *w, const char *name, const char *value)
{
	if (w->visitor) {
		w->visitor->label(w->visitor->arg, name, value);
		return;
	}
	begin_label(w);
	fputs(name, w->out);
	fputs("=\"", w->out);
	escape(w->out, value);
	fputs("\"", w->out);
}

void exposition__taken_labels(struct exposition_writer *w, const char *labels)
{
	if (!*labels)
		return;
	begin_label(w);
	fputs(labels, w->out);
}

/* Replaces printf, which takes longer than the rest of the line. */
static const char *decimal(uint64_t value, char digits[DIGITS_SIZE])
{
	char *at = digits + DIGITS_SIZE - 1;

	*at = '\0';
	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	return at;
}

/* Also ends the line. */
static void write_billionths(FILE *out, uint64_t billionths)
{
	uint64_t whole = billionths / 1000000000, rest = billionths % 1000000000;
	char digits[16];
	size_t n;

	if (!rest) {
		fprintf(out, "%" PRIu64 "\n", whole);
		return;
	}
	snprintf(digits, sizeof(digits), "%09" PRIu64, rest);
	for (n = strlen(digits); digits[n - 1] == '0'; n--)
		;
	fprintf(out, "%" PRIu64 ".%.*s\n", whole, (int)n, digits);
}

static void end_labels(const struct exposition_writer *w)
{
	fputs(w->has_labels ? "} " : " ", w->page);
}

/* The sink has no labels if memory ran out, which exposition__divert reports. */
static void give(struct exposition_writer *w, uint64_t value)
{
	fputc('\0', w->out);
	if (!fflush(w->out))
		w->sink->take(w->sink->arg, w->labels, value);
}

static void write_number(struct exposition_writer *w, uint64_t value, bool as_is)
{
	char digits[DIGITS_SIZE];

	if (w->visitor) {
		w->visitor->number(w->visitor->arg, value);
		return;
	}
	if (w->sink) {
		give(w, value);
		return;
	}
	end_labels(w);
	if (w->in_seconds && !as_is) {
		write_billionths(w->page, value);
		return;
	}
	fputs(decimal(value, digits), w->page);
	fputs("\n", w->page);
}

void exposition__number(struct exposition_writer *w, uint64_t value)
{
	write_number(w, value, false);
}

void exposition__count(struct exposition_writer *w, uint64_t value)
{
	write_number(w, value, true);
}

void exposition__ratio(struct exposition_writer *w, double ratio)
{
	if (w->visitor) {
		w->visitor->real(w->visitor->arg, ratio);
		return;
	}
	if (w->sink)
		return;
	end_labels(w);
	write_billionths(w->page, (uint64_t)(ratio * 1e6 + 0.5) * 1000);
}

void exposition__real(struct exposition_writer *w, double value)
{
	char text[JSON_NUMBER_SIZE];

	if (w->visitor) {
		w->visitor->real(w->visitor->arg, value);
		return;
	}
	if (w->sink)
		return;
	end_labels(w);
	json__format_double(text, value);
	fprintf(w->page, "%s\n", text);
}

int exposition__divert(struct exposition_writer *w, const struct exposition_sink *sink)
{
	int ret = 0;

	if (w->sink) {
		ret = ferror(w->out) ? -ENOMEM : 0;
		fclose(w->out);
		free(w->labels);
		w->out = w->page;
		w->labels = NULL;
	}
	w->sink = NULL;
	if (!sink)
		return ret;
	w->out = open_memstream(&w->labels, &w->labels_length);
	if (!w->out) {
		w->out = w->page;
		return -ENOMEM;
	}
	w->sink = sink;
	return ret;
}

void exposition__end(struct exposition_writer *w)
{
	if (!w->visitor && w->form == EXPOSITION_OPENMETRICS)
		fputs("# EOF\n", w->page);
}
