// SPDX-License-Identifier: BSD-2-Clause
// The table of figures that are compared, see figures.h.
#include "compare/figures.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
const struct figure_kind figure_kinds[] = {
	/* Exact counts of a step. */
	{.name = "launches", .unit = FIGURE_COUNT, .scope = SCOPE_STEP, .rule = RULE_EXACT,
	 .family = "launch", .paths = {"steps.launches"}, .time = "steps.inside_ns.launch"},
	{.name = "waits", .unit = FIGURE_COUNT, .scope = SCOPE_STEP, .rule = RULE_EXACT,
	 .family = "wait", .paths = {"steps.waits"}, .time = "steps.inside_ns.wait"},
	{.name = "copies to device", .unit = FIGURE_COUNT, .scope = SCOPE_STEP, .rule = RULE_EXACT,
	 .family = "copy", .paths = {"steps.copies.to_device"}, .time = "steps.inside_ns.copy"},
	{.name = "copies to host", .unit = FIGURE_COUNT, .scope = SCOPE_STEP, .rule = RULE_EXACT,
	 .family = "copy", .paths = {"steps.copies.to_host"}, .time = "steps.inside_ns.copy"},
	{.name = "other copies", .unit = FIGURE_COUNT, .scope = SCOPE_STEP, .rule = RULE_EXACT,
	 .family = "copy", .paths = {"steps.copies.other"}, .time = "steps.inside_ns.copy"},
	{.name = "copies", .unit = FIGURE_COUNT, .scope = SCOPE_STEP, .rule = RULE_BUDGET,
	 .family = "copy",
	 .paths = {"steps.copies.to_device", "steps.copies.to_host", "steps.copies.other"}},
	{.name = "bytes copied to device", .unit = FIGURE_BYTES, .scope = SCOPE_STEP, .rule = RULE_EXACT,
	 .family = "copy", .paths = {"steps.bytes.to_device"}, .events = "steps.copies.to_device"},
	{.name = "bytes copied to host", .unit = FIGURE_BYTES, .scope = SCOPE_STEP, .rule = RULE_EXACT,
	 .family = "copy", .paths = {"steps.bytes.to_host"}, .events = "steps.copies.to_host"},
	{.name = "bytes of other copies", .unit = FIGURE_BYTES, .scope = SCOPE_STEP, .rule = RULE_EXACT,
	 .family = "copy", .paths = {"steps.bytes.other"}, .events = "steps.copies.other"},
	{.name = "copied bytes", .unit = FIGURE_BYTES, .scope = SCOPE_STEP, .rule = RULE_BUDGET,
	 .family = "copy",
	 .paths = {"steps.bytes.to_device", "steps.bytes.to_host", "steps.bytes.other"}},
	{.name = "allocations", .unit = FIGURE_COUNT, .scope = SCOPE_STEP, .rule = RULE_EXACT,
	 .paths = {"steps.allocations"}, .time = "steps.inside_ns.memory"},
	{.name = "frees", .unit = FIGURE_COUNT, .scope = SCOPE_STEP, .rule = RULE_EXACT,
	 .paths = {"steps.frees"}, .time = "steps.inside_ns.memory"},

	/* Times of a step. */
	{.name = "step time", .unit = FIGURE_NS, .scope = SCOPE_PROCESS, .rule = RULE_STEP_TIME,
	 .paths = {"steps.p50_ns"}},
	{.name = "step time p99", .unit = FIGURE_NS, .scope = SCOPE_PROCESS, .rule = RULE_BUDGET,
	 .paths = {"steps.p99_ns"}},
	{.name = "time in launches", .unit = FIGURE_NS, .scope = SCOPE_STEP, .rule = RULE_TIME,
	 .paths = {"steps.inside_ns.launch"}},
	{.name = "time in waits", .unit = FIGURE_NS, .scope = SCOPE_STEP, .rule = RULE_TIME,
	 .paths = {"steps.inside_ns.wait"}},
	{.name = "time in copies", .unit = FIGURE_NS, .scope = SCOPE_STEP, .rule = RULE_TIME,
	 .paths = {"steps.inside_ns.copy"}},
	{.name = "time in allocations and frees", .unit = FIGURE_NS, .scope = SCOPE_STEP, .rule = RULE_TIME,
	 .paths = {"steps.inside_ns.memory"}},
	{.name = "time in other calls", .unit = FIGURE_NS, .scope = SCOPE_STEP, .rule = RULE_TIME,
	 .paths = {"steps.inside_ns.other"}},

	/* Counts of the whole run. */
	{.name = "launches", .unit = FIGURE_COUNT, .scope = SCOPE_ALL, .rule = RULE_EXACT,
	 .family = "launch", .paths = {"launches"}},
	{.name = "graph launches", .unit = FIGURE_COUNT, .scope = SCOPE_ALL, .rule = RULE_EXACT,
	 .family = "launch", .paths = {"graph_launches"}},
	{.name = "waits", .unit = FIGURE_COUNT, .scope = SCOPE_ALL, .rule = RULE_EXACT,
	 .family = "wait", .paths = {"waits.*.calls"}},
	{.name = "copies", .unit = FIGURE_COUNT, .scope = SCOPE_ALL, .rule = RULE_EXACT,
	 .family = "copy", .paths = {"copies.*.calls"}},
	{.name = "copied bytes", .unit = FIGURE_BYTES, .scope = SCOPE_ALL, .rule = RULE_EXACT,
	 .family = "copy", .paths = {"copies.*.bytes"}},
	{.name = "copies from pageable memory", .unit = FIGURE_COUNT, .scope = SCOPE_ALL, .rule = RULE_EXACT,
	 .family = "copy", .paths = {"copies.*.pageable.calls"}},
	{.name = "allocations", .unit = FIGURE_COUNT, .scope = SCOPE_ALL, .rule = RULE_EXACT,
	 .paths = {"memory.*.allocations"}},
	{.name = "frees", .unit = FIGURE_COUNT, .scope = SCOPE_ALL, .rule = RULE_EXACT,
	 .paths = {"memory.*.frees"}},

	/* Memory. */
	{.name = "peak memory", .unit = FIGURE_BYTES, .scope = SCOPE_PROCESS, .rule = RULE_MEMORY,
	 .paths = {"peak_bytes"}},
	{.name = "memory live at exit", .unit = FIGURE_BYTES, .scope = SCOPE_PROCESS, .rule = RULE_MEMORY,
	 .paths = {"memory.live_at_exit_bytes"}},
};
/* clang-format on */

const size_t figure_kind_count = sizeof(figure_kinds) / sizeof(figure_kinds[0]);

_Static_assert(sizeof(figure_kinds) / sizeof(figure_kinds[0]) <= FIGURES_MAX, "too many figures");

struct figure_name figure_kind__name(const struct figure_kind *kind)
{
	static const char *const scopes[SCOPES] = {" per step", " in all", ""};
	struct figure_name name;

	snprintf(name.text, sizeof(name.text), "%s%s", kind->name, scopes[kind->scope]);
	return name;
}

bool figures__sum(const struct json_value *value, const char *path, double *sum)
{
	size_t length = strcspn(path, ".");
	const char *rest = path + length + (path[length] == '.');
	bool any = false;

	if (!value)
		return false;
	if (!*path) {
		if (value->type == JSON_NUMBER)
			*sum += value->number;
		return value->type == JSON_NUMBER;
	}
	if (value->type != JSON_OBJECT && value->type != JSON_ARRAY)
		return false;
	/* An empty list sums up to nothing, which is known. */
	any = *path == '*' && !value->first;
	for (value = value->first; value; value = value->next)
		if (*path == '*' ||
		    (value->key && !strncmp(value->key, path, length) && !value->key[length]))
			any |= figures__sum(value, rest, sum);
	return any;
}

bool figure_kind__read(const struct figure_kind *kind, const struct json_value *process,
		       double *value)
{
	*value = 0;
	for (size_t i = 0; i < sizeof(kind->paths) / sizeof(kind->paths[0]) && kind->paths[i]; i++)
		if (!figures__sum(process, kind->paths[i], value))
			return false;
	return true;
}
