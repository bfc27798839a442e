// SPDX-License-Identifier: BSD-2-Clause
// Options that several commands have, and how their values are taken; see shared_rows.h.
#include "cli/options/shared_rows.h"

#include "base/quantity.h"
#include "cli/options/arguments.h"
#include "cli/options/filter_options.h"
#include "cli/options/targets.h"
#include "cli/session/live_model.h"

const char *const api_words[] = {
	[API_AUTO] = "auto",
	[API_DRIVER] = "driver",
	[API_RUNTIME] = "runtime",
	[API_BOTH] = "both",
};

int shared_rows__take_pid(const struct option_row *row, void *field, const char *text,
			  struct error *err)
{
	(void)row;
	return targets__add_pid(field, text, err);
}

static int take_library(const struct option_row *row, void *field, const char *text,
			struct error *err)
{
	(void)row;
	return targets__add_library(field, text, err);
}

int shared_rows__take_layers(const struct option_row *row, void *field, const char *text,
			     struct error *err)
{
	static const char *const words[] = {"runtime", "driver", "both"};
	static const enum api_mode modes[] = {API_RUNTIME, API_DRIVER, API_BOTH};
	size_t which = 0;
	int ret = arguments__word(option_row__name(row).text, text, words,
				  sizeof(words) / sizeof(*words), &which, err);

	*(enum api_mode *)field = modes[which];
	return ret;
}

int shared_rows__take_capacity(const struct option_row *row, void *field, const char *text,
			       struct error *err)
{
	return arguments__capacity(option_row__name(row).text, text, (unsigned long)row->max, field,
				   err);
}

int shared_rows__take_overhead(const struct option_row *row, void *field, const char *text,
			       struct error *err)
{
	(void)row;
	return arguments__overhead(text, field, err);
}

int shared_rows__take_window(const struct option_row *row, void *field, const char *text,
			     struct error *err)
{
	(void)row;
	return arguments__window(text, field, err);
}

const struct option_row process_rows[] = {
	{"pid", 'p', "PID", "only this process and its children (repeatable)",
	 shared_rows__take_pid, .offset = 0},
	{.rows = filter_rows, .offset = 0},
	{0},
};

const struct option_row library_rows[] = {
	{"libcudart-path", 0, "FILE", "probe this library too (repeatable)", take_library,
	 .offset = 0},
	{"libcuda-path", 0, "FILE", "the same", take_library, .offset = 0},
	{0},
};

static int take_exact(const struct option_row *row, void *field, const char *text,
		      struct error *err)
{
	(void)row;
	(void)text;
	(void)err;
	*(enum quantity_form *)field = QUANTITY_EXACT;
	return 0;
}

const struct option_row exact_rows[] = {
	{"exact", 0, NULL, "whole bytes, nanoseconds and counts in text", take_exact, .offset = 0},
	{0},
};

const struct option_row full_names_rows[] = {
	{"full-names", 0, NULL, "whole demangled kernel names", option__flag, .offset = 0},
	{0},
};

const struct option_row overhead_rows[] = {
	{"max-overhead", 0, "PERCENT|off",
	 "limit how much probes slow a thread down to about\n"
	 "this: where they cost more, watch launches, copies or\n"
	 "waits part of the time and estimate (~) the rest [off]",
	 shared_rows__take_overhead, .offset = 0},
	{0},
};

#define CAPACITY_ROW(name, member, most, help) \
	{ \
		name, 0, "N", help, shared_rows__take_capacity, \
			.offset = offsetof(struct live_model_limits, member), .max = (most) \
	}

const struct option_row gpu_times_rows[] = {
	{"gpu-times", 0, NULL,
	 "also when each kernel, copy, set and graph of COMMAND\n"
	 "ran on the GPU; loads a library into COMMAND (CUPTI)",
	 option__flag, .offset = 0},
	{0},
};

const struct option_row tensor_rows[] = {
	{"tensors", 0, NULL,
	 "also count tensors of PyTorch in what it takes from\n"
	 "CUDA (costs 4 to 5 us per tensor)",
	 option__flag, .offset = 0},
	{0},
};

const struct option_row capacity_rows[] = {
	{.help = CAPACITIES},
	CAPACITY_ROW("max-processes", max_processes, MAX_PROCESSES, "processes at a time [4096]"),
	CAPACITY_ROW("max-allocations", max_allocations, MAX_ENTRIES, "live allocations [1048576]"),
	CAPACITY_ROW("max-kernels", max_kernels, MAX_ENTRIES, "kernel handles [65536]"),
	CAPACITY_ROW("max-inflight", max_inflight, MAX_ENTRIES,
		     "streams with asynchronous copies [16384]"),
	{0},
};
