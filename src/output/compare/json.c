// SPDX-License-Identifier: BSD-2-Clause
// The JSON of `gpuprobe diff`, see compare.h.
#include "base/json.h"
#include "output/compare/compare.h"

static const char *unit_word(enum figure_unit unit)
{
	static const char *const words[] = {
		[FIGURE_COUNT] = "count", [FIGURE_BYTES] = "bytes", [FIGURE_NS] = "ns"};

	return words[unit];
}

static void write_run(struct json *j, const char *key, const struct compared_run *run)
{
	json__key(j, key);
	json__object_begin(j);
	json__key_string(j, "file", run->path);
	json__key_double(j, "watched_seconds", run->seconds);
	json__key_u64(j, "processes", run->process_count + run->processes_left);
	json__object_end(j);
}

static void write_process(struct json *j, const char *key, const struct compared_process *process)
{
	json__key(j, key);
	json__object_begin(j);
	json__key_i64(j, "pid", process->pid);
	json__key_string(j, "comm", process->comm);
	json__key_known_double(j, "steps", process->steps, process->has_steps);
	json__object_end(j);
}

/* A name, under `key`, and its value in both runs. */
static void write_pair(struct json *j, const char *key, const char *name, double a, double b)
{
	json__object_begin(j);
	json__key_string(j, key, name);
	json__key_double(j, "a", a);
	json__key_double(j, "b", b);
	json__object_end(j);
}

static void write_parts(struct json *j, const struct difference *difference)
{
	json__key(j, "from");
	json__array_begin(j);
	for (size_t i = 0; i < difference->part_count; i++) {
		write_pair(j, "name", difference->parts[i].shown, difference->parts[i].a,
			   difference->parts[i].b);
	}
	json__array_end(j);
	json__key_u64(j, "from_unlisted", difference->parts_left);
}

static void write_difference(struct json *j, const struct difference *difference)
{
	static const char *const groups[DIFFERENCE_GROUPS] = {"counts", "memory", "times"};
	static const char *const scopes[SCOPES] = {"step", "all", "process"};

	json__object_begin(j);
	json__key_string(j, "group", groups[difference->group]);
	json__key_string(j, difference->of_function ? "function" : "figure", difference->name);
	json__key_string(j, "per", scopes[difference->scope]);
	json__key_string(j, "unit", unit_word(difference->unit));
	json__key_double(j, "a", difference->a);
	json__key_double(j, "b", difference->b);
	json__key_known_double(j, "cost_ns", difference->cost_ns, difference->cost_ns > 0);
	json__key_bool(j, "worse", difference->worse);
	write_parts(j, difference);
	json__object_end(j);
}

static void write_pairs(struct json *j, const struct comparison *comparison)
{
	json__key(j, "processes");
	json__array_begin(j);
	for (size_t i = 0; i < comparison->pair_count; i++) {
		json__object_begin(j);
		write_process(j, "a", comparison->pairs[i].a);
		write_process(j, "b", comparison->pairs[i].b);
		json__key_bool(j, "by_steps", comparison->pairs[i].by_steps);
		json__key(j, "differences");
		json__array_begin(j);
		for (size_t d = 0; d < comparison->difference_count; d++)
			if (comparison->differences[d].pair == i)
				write_difference(j, &comparison->differences[d]);
		json__array_end(j);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_findings(struct json *j, const struct comparison *comparison)
{
	json__key(j, "findings");
	json__array_begin(j);
	for (size_t i = 0; i < comparison->finding_count; i++) {
		const struct finding_change *change = &comparison->findings[i];

		json__object_begin(j);
		json__key_string(j, "id", json_value__string(change->finding, "id"));
		json__key_string(j, "severity", json_value__string(change->finding, "severity"));
		json__key_string(j, "title", json_value__string(change->finding, "title"));
		json__key_string(j, "change", change->came ? "new" : "gone");
		json__key_bool(j, "worse", change->worse);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_left_out(struct json *j, const struct comparison *comparison)
{
	json__key(j, "left_out");
	json__array_begin(j);
	for (size_t i = 0; i < comparison->left_out_count; i++) {
		write_pair(j, "function", comparison->left_out[i].function,
			   comparison->left_out[i].a, comparison->left_out[i].b);
	}
	json__array_end(j);
	json__key(j, "not_compared");
	json__array_begin(j);
	for (size_t i = 0; i < comparison->refusal_count; i++)
		json__string(j, comparison->refusals[i].text);
	json__array_end(j);
}

static void write_comparison(struct json *j, const struct comparison *comparison)
{
	write_run(j, "a", comparison->a);
	write_run(j, "b", comparison->b);
	json__key_bool(j, "compared", !comparison->refused);
	json__key_bool(j, "worse", comparison->worse);
	write_pairs(j, comparison);
	write_findings(j, comparison);
	write_left_out(j, comparison);
}

static void write_limit(struct json *j, const struct budget_result *limit)
{
	static const char *const states[] = {
		[BUDGET_KEPT] = "kept", [BUDGET_BROKEN] = "broken", [BUDGET_UNKNOWN] = "unknown"};

	json__object_begin(j);
	json__key_string(j, "limit", limit->text);
	json__key_u64(j, "line", limit->line);
	json__key_string(j, "state", states[limit->state]);
	json__key_string(j, "unit", unit_word(limit->unit));
	json__key_known_double(j, "value", limit->value, limit->state != BUDGET_UNKNOWN);
	json__key_string(j, "why", limit->state == BUDGET_UNKNOWN ? limit->why : NULL);
	if (limit->state != BUDGET_UNKNOWN && limit->process)
		json__key_i64(j, "pid", limit->process->pid);
	json__object_end(j);
}

void compare_json__print(FILE *out, const struct compare_report *report)
{
	struct json j;

	json__init(&j, out);
	json__object_begin(&j);
	json__key_string(&j, "schema", COMPARE_JSON_SCHEMA);
	if (report->comparison)
		write_comparison(&j, report->comparison);
	if (report->limit_count) {
		json__key(&j, "budget");
		json__array_begin(&j);
		for (size_t i = 0; i < report->limit_count; i++)
			write_limit(&j, &report->limits[i]);
		json__array_end(&j);
	}
	json__object_end(&j);
	fputc('\n', out);
}
