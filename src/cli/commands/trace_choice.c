// SPDX-License-Identifier: BSD-2-Clause
// Chooses functions and gives them their plans, see trace_choice.h.
#include "cli/commands/trace_choice.h"

#include <errno.h>
#include <string.h>

#include "gpuprobe/function.h"
#include "api/api.h"
#include "probe/trace_object.h"

static const struct trace_plan *plan_of(const struct trace_choice *choice, uint32_t row)
{
	return trace_function__plan(trace_functions__at(choice->functions, row));
}

static bool wants(const struct api_function *function, void *arg)
{
	struct trace_choice *choice = arg;
	uint32_t row = (uint32_t)(function - api_functions);
	struct trace_plan plan = *plan_of(choice, row);

	if (!trace_selection__wants(choice->selection, function)) {
		if (!choice->has_launches || !(plan.flags & TRACE_PLAN_ENDS))
			return false;
		plan.flags |= TRACE_PLAN_HIDDEN;
	}
	trace_object__set_plan(choice->skeleton, row, &plan);
	return true;
}

/* Once: it will be so with all that follow. */
static void report_lack(struct trace_choice *choice, const char *symbol, int code)
{
	if (choice->lack_reported)
		return;
	choice->lack_reported = true;
	if (code == -ENOSPC)
		log__warn(choice->log,
			  "%s and maybe others are not traced: gpuprobe traces at most %zu functions that it does "
			  "not know; select some with -e",
			  symbol, MAX_FUNCTIONS - api_function_count);
	else
		log__warn(choice->log, "%s and maybe others are not traced: %s", symbol, strerror(-code));
}

static int row_of_unknown(const char *symbol, enum layer layer, void *arg)
{
	struct trace_choice *choice = arg;
	int row;

	if (!trace_selection__wants_symbol(choice->selection, symbol, layer))
		return -1;
	row = trace_functions__add(choice->functions, symbol, layer);
	if (row >= 0)
		trace_object__set_plan(choice->skeleton, (uint32_t)row, plan_of(choice, (uint32_t)row));
	else
		report_lack(choice, symbol, row);
	return row;
}

void trace_choice__init(struct trace_choice *choice, const struct trace_selection *selection,
			struct trace_functions *functions, struct trace_bpf *skeleton, const struct log *log)
{
	*choice = (struct trace_choice){
		.selection = selection,
		.functions = functions,
		.skeleton = skeleton,
		.log = log,
		.choice = {.wants = wants, .row_of_unknown = row_of_unknown, .arg = choice},
	};
	for (size_t row = 0; row < api_function_count && !choice->has_launches; row++)
		choice->has_launches = plan_of(choice, (uint32_t)row)->flags & TRACE_PLAN_KERNEL &&
				       trace_selection__wants(selection, &api_functions[row]);
}
