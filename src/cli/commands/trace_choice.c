// SPDX-License-Identifier: BSD-2-Clause
// Chooses functions and gives them their plans, see trace_choice.h.
#include "cli/commands/trace_choice.h"

#include <errno.h>
#include <string.h>

#include "gpuprobe/function.h"
#include "api/api.h"
#include "probe/trace_object.h"

#define NAMED 8 /* unknown names in warnings; searching for a similar one takes a millisecond */

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

/* Reports this once: all later functions will fail too. */
static void report_lack(struct trace_choice *choice, const char *symbol, int code)
{
	if (choice->lack_reported)
		return;
	choice->lack_reported = true;
	if (code == -ENOSPC)
		log__warn(choice->log,
			  "%s and maybe others are not traced: gpuprobe traces at most %zu "
			  "functions that it does "
			  "not know; select some with -e",
			  symbol, MAX_FUNCTIONS - api_function_count);
	else
		log__warn(choice->log, "%s and maybe others are not traced: %s", symbol,
			  strerror(-code));
}

static int row_of_unknown(const char *symbol, enum layer layer, void *arg)
{
	struct trace_choice *choice = arg;
	int row;

	if (!trace_selection__wants_symbol(choice->selection, symbol, layer))
		return -1;
	row = trace_functions__add(choice->functions, symbol, layer);
	if (row >= 0)
		trace_object__set_plan(choice->skeleton, (uint32_t)row,
				       plan_of(choice, (uint32_t)row));
	else
		report_lack(choice, symbol, row);
	return row;
}

void trace_choice__init(struct trace_choice *choice, const struct trace_selection *selection,
			struct trace_functions *functions, struct trace_bpf *skeleton,
			const struct log *log)
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

void trace_choice__warn_unknown(const struct trace_selection *selection,
				const struct trace_functions *functions, const char *what,
				const struct log *log)
{
	size_t at = 0, count = 0;
	const char *name;

	while ((name = trace_selection__unknown(selection, functions, &at))) {
		const char *like = count < NAMED ? trace_selection__like(name) : NULL;

		if (count++ < NAMED)
			log__warn(log, "-e %s: %s%s%s%s", name, what, like ? "; did you mean " : "",
				  like ? like : "", like ? "?" : "");
	}
	if (count > NAMED)
		log__warn(log, "-e: the same for %zu more names", count - NAMED);
}
