// SPDX-License-Identifier: BSD-2-Clause
// The JSON of `gpuprobe check`, see check.h.
#include <string.h>

#include "base/json.h"
#include "output/check/check.h"

#define SCHEMA 1

/*
 * Keys that may have several values are always lists, even with one value, so that programs need
 * not check.
 */
static bool is_list(const char *key)
{
	static const char *const lists[] = {"layers",
					    "libraries",
					    "topics",
					    "probed_functions_missing",
					    "functions_not_in_table",
					    "slow_functions"};

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (!strcmp(key, lists[i]))
			return true;
	return false;
}

static void write_value(struct json *j, const struct check_fact *fact)
{
	if (fact->text)
		json__string(j, fact->text);
	else
		json__u64(j, fact->number);
}

/* All values of one key are next to each other. */
static void write_facts(struct json *j, const struct check_line *line)
{
	json__key(j, "facts");
	json__object_begin(j);
	for (size_t i = 0; i < line->fact_count;) {
		const char *key = line->facts[i].key;

		json__key(j, key);
		if (!is_list(key)) {
			write_value(j, &line->facts[i++]);
			continue;
		}
		json__array_begin(j);
		for (; i < line->fact_count && !strcmp(line->facts[i].key, key); i++)
			write_value(j, &line->facts[i]);
		json__array_end(j);
	}
	json__object_end(j);
}

static void write_line(struct json *j, const struct check_line *line)
{
	json__object_begin(j);
	json__key_string(j, "topic", line->topic);
	json__key_string(j, "state", check_state__word(line->state));
	json__key_string(j, "text", line->text);
	json__key_string(j, "advice", line->advice);
	write_facts(j, line);
	json__object_end(j);
}

void check_json__print(FILE *out, const struct check_list *list)
{
	struct json json;

	json__init(&json, out);
	json__object_begin(&json);
	json__key_u64(&json, "schema", SCHEMA);
	json__key_string(&json, "version", GPUPROBE_VERSION);
	for (int state = 0; state < CHECK_STATES; state++)
		json__key_u64(&json, check_state__word((enum check_state)state),
			      check_list__in_state(list, (enum check_state)state));
	json__key(&json, "lines");
	json__array_begin(&json);
	for (size_t i = 0; i < list->count; i++)
		write_line(&json, &list->lines[i]);
	json__array_end(&json);
	json__object_end(&json);
	fputc('\n', out);
}
