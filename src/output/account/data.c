// SPDX-License-Identifier: BSD-2-Clause
// JSON and comma-separated values of `gpuprobe account`, see account.h.
#include "output/account/account.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/json.h"
#include "output/csv_text.h"
#include "output/json/parts.h"

#define SCHEMA 1

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* --- numbers, in the order of CSV columns --- */

enum number {
	PROCESSES = 0,
	ALIVE,
	GPUS,
	IDLE_GPUS,
	HELD,
	WORK_LEAST,
	WORK_MOST,
	BYTES,
	BYTES_LEAST,
	BYTES_MOST,
	BYTES_BY_NVML,
	PARTIAL,
	NUMBERS,
};

static const char *const number_names[NUMBERS] = {
	[PROCESSES] = "processes",
	[ALIVE] = "processes_alive",
	[GPUS] = "gpus",
	[IDLE_GPUS] = "gpus_idle",
	[HELD] = "gpu_seconds",
	[WORK_LEAST] = "work_seconds_least",
	[WORK_MOST] = "work_seconds_most",
	[BYTES] = "byte_seconds",
	[BYTES_LEAST] = "byte_seconds_least",
	[BYTES_MOST] = "byte_seconds_most",
	[BYTES_BY_NVML] = "byte_seconds_by_nvml",
	[PARTIAL] = "processes_with_unknown_memory",
};

static double number_of(const struct account_group *group, enum number number)
{
	switch (number) {
	case PROCESSES: return (double)group->processes;
	case ALIVE: return (double)group->alive;
	case GPUS: return (double)group->gpus;
	case IDLE_GPUS: return (double)group->idle_gpus;
	case HELD: return seconds(group->held_ns);
	case WORK_LEAST: return seconds(group->work_least_ns);
	case WORK_MOST: return seconds(group->work_most_ns);
	case BYTES: return group->memory.best;
	case BYTES_LEAST: return group->memory.least;
	case BYTES_MOST: return group->memory.most;
	case BYTES_BY_NVML: return group->nvml_byte_seconds;
	case PARTIAL: return (double)group->partial;
	case NUMBERS: break;
	}
	return 0;
}

static double wall_seconds(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* --- JSON --- */

static void key_moment(struct json *j, const char *key, int64_t wall_ns)
{
	json__key_known_double(j, key, wall_seconds(wall_ns), wall_ns);
}

static void write_numbers(struct json *j, const struct account_group *group)
{
	for (int number = 0; number < NUMBERS; number++)
		json__key_double(j, number_names[number], number_of(group, (enum number)number));
	key_moment(j, "last_call", group->last_call_ns);
}

static void write_group(struct json *j, const struct account_group *group)
{
	json__object_begin(j);
	json__key_known_text(j, "name", group->is_other ? "other" : group->name);
	json__key_string(j, "job_kind", account__job_word(group->job));
	json__key_known_text(j, "user", group->user);
	json__key_bool(j, "other", group->is_other);
	write_numbers(j, group);
	json__object_end(j);
}

void account_json__print(FILE *out, const struct account_list *list,
			 const struct account_output *output)
{
	struct json j;

	json__init(&j, out);
	json__object_begin(&j);
	json__key_u64(&j, "schema", SCHEMA);
	json__key_string(&j, "by", account_by_words[output->by]);
	key_moment(&j, "from", list->from_ns);
	key_moment(&j, "to", list->to_ns);
	json__key_double(&j, "idle_after_seconds", seconds(output->idle_ns));
	json__key(&j, "groups");
	json__array_begin(&j);
	for (size_t i = 0; i < list->count; i++)
		write_group(&j, list->groups[i]);
	json__array_end(&j);
	json__key(&j, "total");
	json__object_begin(&j);
	write_numbers(&j, list->total);
	json__object_end(&j);
	json_parts__key_losses(&j, list->lost);
	json__object_end(&j);
	fputc('\n', out);
}

/* --- comma-separated values --- */

static void print_number(FILE *out, double value)
{
	char text[JSON_NUMBER_SIZE];

	json__format_double(text, value);
	fprintf(out, ",%s", text);
}

static void print_row(FILE *out, const struct account_group *group)
{
	const char *kind = account__job_word(group->job);

	csv_text__print(out, group->is_other ? "other" : group->name);
	fprintf(out, ",%s,", kind ? kind : "");
	csv_text__print(out, group->user);
	for (int number = 0; number < NUMBERS; number++)
		print_number(out, number_of(group, (enum number)number));
	if (group->last_call_ns)
		print_number(out, wall_seconds(group->last_call_ns));
	else
		fputc(',', out);
	fputc('\n', out);
}

void account_csv__print(FILE *out, const struct account_list *list,
			const struct account_output *output)
{
	fprintf(out, "%s,job_kind,user",
		output->by == ACCOUNT_BY_USER ? "name" : account_by_words[output->by]);
	for (int number = 0; number < NUMBERS; number++)
		fprintf(out, ",%s", number_names[number]);
	fputs(",last_call\n", out);
	for (size_t i = 0; i < list->count; i++)
		print_row(out, list->groups[i]);
}
