// SPDX-License-Identifier: BSD-2-Clause
// The one table of findings: what each is called, how bad it is, above which thresholds it is one, and what helps.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "finding/rules.h"

const struct finding_kind finding_kinds[] = {
	{
		.id = "alloc-churn",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the same memory is allocated and freed again and again",
		.advice = "",
		.cost = "allocations and frees of sizes that come again",
		.thresholds = {
			{"share", 0.02, UNIT_SHARE, "least share of the watched time"},
			{"pairs", 10, UNIT_COUNT, "least allocations of one size that were freed"},
		},
		.draw = alloc_churn__draw,
	},
	{
		.id = "leak-growing",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "live memory of a call site only grows",
		.advice = "",
		.thresholds = {
			{"bytes", 1048576, UNIT_BYTES, "least growth"},
		},
		.draw = leak_growing__draw,
	},
	{
		.id = "leak-at-exit",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "a call site that freed most of its memory kept some to the end",
		.advice = "",
		.thresholds = {
			{"bytes", 1048576, UNIT_BYTES, "least that was live at exit"},
			{"freed", 0.5, UNIT_SHARE, "least share of its allocations that were freed"},
		},
		.draw = leak_at_exit__draw,
	},
	{
		.id = "launch-bound",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "many short launches back to back: the CPU cannot feed the GPU",
		.advice = "",
		.cost = "launches back to back",
		.thresholds = {
			{"share", 0.5, UNIT_SHARE, "least share of the thread's time spent launching, gaps included"},
			{"rate", 10000, UNIT_PER_SECOND, "least launches"},
			{"wait", 0.2, UNIT_SHARE, "most of the thread's time in waits: above it the GPU has work enough"},
		},
		.draw = launch_bound__draw,
	},
	{
		.id = "sync-after-every-launch",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the program waits after each launch",
		.advice = "",
		.cost = "waits that followed exactly one launch",
		.thresholds = {
			{"share", 0.1, UNIT_SHARE, "least share of the thread's time"},
			{"calls", 100, UNIT_COUNT, "least such waits"},
			{"mean", 1e6, UNIT_NS, "most time of one on average: above it the GPU is busy"},
		},
		.draw = sync_after_every_launch__draw,
	},
	{
		.id = "sync-stall",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the program spends its time in many short waits",
		.advice = "",
		.cost = "waits that did not follow exactly one launch",
		.thresholds = {
			{"share", 0.2, UNIT_SHARE, "least share of the thread's time"},
			{"calls", 100, UNIT_COUNT, "least such waits"},
			{"mean", 1e6, UNIT_NS, "most time of one on average: above it the GPU is busy"},
		},
		.draw = sync_stall__draw,
	},
	{
		.id = "implicit-sync",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "calls that block in the middle of launches",
		.advice = "",
		.cost = "calls that blocked between launches",
		.thresholds = {
			{"share", 0.05, UNIT_SHARE, "least share of the thread's time"},
			{"calls", 10, UNIT_COUNT, "least such calls"},
		},
		.draw = implicit_sync__draw,
	},
	{
		.id = "small-copies",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "many small copies",
		.advice = "",
		.cost = "copies of less than 64 KiB",
		.thresholds = {
			{"share", 0.05, UNIT_SHARE, "least share of the watched time"},
			{"calls", 1000, UNIT_COUNT, "least copies of less than 64 KiB"},
		},
		.draw = small_copies__draw,
	},
	{
		.id = "pageable-copies",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "copies from or to host memory that is not pinned",
		.advice = "",
		.cost = "copies of host memory that is not pinned",
		.thresholds = {
			{"share", 0.05, UNIT_SHARE, "least share of the watched time"},
			{"bytes", 67108864, UNIT_BYTES, "least that was copied so"},
		},
		.draw = pageable_copies__draw,
	},
	{
		.id = "redundant-copies",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the same range is copied again for nothing",
		.advice = "",
		.cost = "copies of what had not changed or not been used since the last time",
		.thresholds = {
			{"share", 0.02, UNIT_SHARE, "least share of the watched time"},
			{"calls", 10, UNIT_COUNT, "least such copies"},
		},
		.draw = redundant_copies__draw,
	},
	{
		.id = "unchecked-errors",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT | NEEDS_ASKS,
		.title = "a call failed, and the program went on without asking",
		.advice = "",
		.thresholds = {
			{"calls", 1, UNIT_COUNT, "least failed calls"},
		},
		.draw = unchecked_errors__draw,
	},
	{
		.id = "sticky-error",
		.severity = SEVERITY_CRITICAL,
		.needs = 0,
		.title = "everything fails after this call",
		.advice = "",
		.thresholds = {
			{"calls", 1, UNIT_COUNT, "least calls that failed so"},
		},
		.draw = sticky_error__draw,
	},
	{
		.id = "error-storm",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "calls fail all the time",
		.advice = "",
		.thresholds = {
			{"rate", 10, UNIT_PER_SECOND, "least failures"},
			{"calls", 100, UNIT_COUNT, "least failures"},
		},
		.draw = error_storm__draw,
	},
	{
		.id = "oom-near",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "the memory of a device is nearly used up",
		.advice = "",
		.thresholds = {
			{"free", 0.05, UNIT_SHARE, "most of the memory that is free"},
			{"growth", 0.01, UNIT_SHARE, "least of the memory that was taken lately"},
		},
		.draw_all = oom_near__draw,
	},
	{
		.id = "oom",
		.severity = SEVERITY_CRITICAL,
		.needs = 0,
		.title = "an allocation failed for want of memory",
		.advice = "",
		.thresholds = {
			{"calls", 1, UNIT_COUNT, "least failed allocations"},
		},
		.draw = oom__draw,
	},
	{
		.id = "fragmentation",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "memory is reserved and not used",
		.advice = "",
		.thresholds = {
			{"share", 0.5, UNIT_SHARE, "least of the reserved memory that is not used"},
			{"bytes", 268435456, UNIT_BYTES, "least that is reserved and not used"},
		},
		.draw = fragmentation__draw,
	},
	{
		.id = "graph-recapture",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "graphs are made again and again instead of launched again",
		.advice = "",
		.cost = "captures and instantiations",
		.thresholds = {
			{"graphs", 10, UNIT_COUNT, "least instantiations"},
			{"launches", 4, UNIT_RATIO, "most launches of a graph on average"},
		},
		.draw = graph_recapture__draw,
	},
	{
		.id = "idle-gaps",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the GPU has nothing to do",
		.advice = "",
		.cost = "times with nothing queued of more than 100 ms each",
		.thresholds = {
			{"share", 0.1, UNIT_SHARE, "least share of the thread's time"},
			{"gaps", 3, UNIT_COUNT, "least gaps"},
		},
		.draw = idle_gaps__draw,
	},
	{
		.id = "default-stream",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the legacy default stream makes work wait that could run side by side",
		.advice = "",
		.cost = "waits for the legacy default stream",
		.thresholds = {
			{"share", 0.1, UNIT_SHARE, "least of the launches that met others there"},
			{"calls", 100, UNIT_COUNT, "least such launches"},
		},
		.draw = default_stream__draw,
	},
	{
		.id = "chatty-getters",
		.severity = SEVERITY_INFO,
		.needs = NEEDS_ACCOUNT | NEEDS_GETTERS,
		.title = "the program asks the same questions all the time",
		.advice = "",
		.cost = "calls that only ask",
		.thresholds = {
			{"rate", 100000, UNIT_PER_SECOND, "least such calls"},
		},
		.draw = chatty_getters__draw,
	},
	{
		.id = "device-imbalance",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "devices or ranks of one job do unequal work",
		.advice = "",
		.thresholds = {
			{"ratio", 1.2, UNIT_RATIO, "least ratio of the rates"},
			{"launches", 1000, UNIT_COUNT, "least launches of each"},
		},
		.draw_all = device_imbalance__draw,
	},
	{
		.id = "missing-sync",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "results may be used before they are there",
		.advice = "",
		.thresholds = {
			{"calls", 1, UNIT_COUNT, "least such calls"},
		},
		.draw = missing_sync__draw,
	},
};

const size_t finding_kind_count = sizeof(finding_kinds) / sizeof(*finding_kinds);

const struct finding_kind *finding_kind__find(const char *id)
{
	for (size_t i = 0; i < finding_kind_count; i++)
		if (!strcmp(finding_kinds[i].id, id))
			return &finding_kinds[i];
	return NULL;
}

int finding_kind__unknown(const char *id, size_t length, struct error *err)
{
	char known[400] = "";
	size_t at = 0;

	for (size_t i = 0; i < finding_kind_count && at < sizeof(known); i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "", finding_kinds[i].id);
	return error__set(err, -EINVAL, "no finding is called '%.*s'; there are %s", (int)(length < 64 ? length : 64),
			  id, known);
}
