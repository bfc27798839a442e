// SPDX-License-Identifier: BSD-2-Clause
// Findings in JSON, see findings.h.
#include "output/finding/findings.h"
#include "output/json/parts.h"

static const char *unit_word(enum finding_unit unit)
{
	static const char *const words[] = {
		[UNIT_COUNT] = "count",
		[UNIT_BYTES] = "bytes",
		[UNIT_NS] = "ns",
		[UNIT_SHARE] = "share",
		[UNIT_PER_SECOND] = "per_second",
		[UNIT_BYTES_PER_SECOND] = "bytes_per_second",
		[UNIT_RATIO] = "ratio",
	};

	return words[unit];
}

static void write_numbers(struct json *j, const struct finding *finding)
{
	json__key(j, "numbers");
	json__object_begin(j);
	for (size_t i = 0; i < finding->number_count; i++) {
		const struct finding_number *number = &finding->numbers[i];

		json__key(j, number->name);
		json__object_begin(j);
		json__key_double(j, "value", number->value);
		json__key_string(j, "unit", unit_word(number->unit));
		json__object_end(j);
	}
	json__object_end(j);
}

/* Writes null for 0, which means several processes or several threads. */
static void key_number(struct json *j, const char *key, int64_t number)
{
	json__key_known_i64(j, key, number, number);
}

static void key_seconds(struct json *j, const char *key, bool known, double ns)
{
	json__key_known_double(j, key, ns / 1e9, known);
}

/* Only for kinds that have two locations. */
static void write_other_location(struct json *j, const struct finding *finding)
{
	if (!finding->other_title)
		return;
	json__key(j, "other_place");
	json__object_begin(j);
	json__key_string(j, "is", finding->other_title);
	json_stack__write(j, finding->other_stack);
	json__object_end(j);
}

static void write_finding(struct json *j, const struct finding *finding)
{
	json__object_begin(j);
	json__key_string(j, "id", finding->kind->id);
	json__key_string(j, "severity", findings_text__severity_word(finding->severity));
	json__key_string(j, "title", finding->title ? finding->title : finding->kind->title);
	key_number(j, "pid", finding->pid);
	key_number(j, "tid", finding->tid);
	json__key_string(j, "comm", finding->pid ? finding->comm : NULL);
	json__key_string(j, "subject", finding->subject);
	json__key_string(j, "evidence", finding->evidence);
	write_numbers(j, finding);
	key_seconds(j, "cost_seconds", finding->has_cost, (double)finding->cost_ns);
	json__key_known_double(j, "cost_share", finding->share, finding->has_cost);
	key_seconds(j, "cost_step_seconds", finding->step_ns, finding->a_step_ns);
	json__key_bool(j, "steady", finding->steady);
	key_seconds(j, "saving_seconds", finding->has_saving, (double)finding->saving_ns);
	json__key_string(j, "assumption", finding->assumption);
	json_stack__write(j, finding->stack);
	write_other_location(j, finding);
	/* Only for kinds that have them. */
	if (finding->details) {
		json__key(j, "details");
		json__ready(j, finding->details);
	}
	json__object_end(j);
}

/* Kinds that need every call, while calls are being sampled. */
static void write_sampled_kinds(struct json *j, const struct finding_list *list)
{
	json__key(j, "not_looked_for_where_sampled");
	json__array_begin(j);
	for (size_t i = 0; i < finding_kind_count; i++)
		if (list->sampled_kinds & 1ull << i)
			json__string(j, finding_kinds[i]->id);
	json__array_end(j);
}

void json_findings__write(struct json *j, const struct finding_list *list)
{
	json__key(j, "findings");
	json__array_begin(j);
	for (size_t i = 0; i < list->count; i++)
		write_finding(j, &list->items[i]);
	json__array_end(j);
	if (list->sampled_kinds)
		write_sampled_kinds(j, list);
}

void json_findings__write_thresholds(struct json *j, const struct findings *findings)
{
	json__key(j, "thresholds");
	json__object_begin(j);
	for (size_t i = 0; i < finding_kind_count; i++) {
		const struct finding_kind *kind = finding_kinds[i];

		json__key(j, kind->id);
		json__object_begin(j);
		for (size_t n = 0; n < FINDING_THRESHOLDS && kind->thresholds[n].name; n++)
			json__key_double(j, kind->thresholds[n].name,
					 findings__threshold(findings, kind, n));
		json__object_end(j);
	}
	json__object_end(j);
}
