// SPDX-License-Identifier: BSD-2-Clause
// Calls that have not returned, see parts.h.
#include "output/report/parts.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "api/api.h"
#include "output/report/line.h"
#include "output/report/totals.h"

#define LONG_NS (100 * NS_PER_MS) /* shorter ones are ordinary calls */

/* Duration so far, or until the thread ended. */
static uint64_t lasted_ns(const struct model *model, const struct open_call *call)
{
	uint64_t until_ns = call->ended_ns ? call->ended_ns : model->now_ns;

	return until_ns > call->start_ns ? until_ns - call->start_ns : 0;
}

static bool is_alike(const struct open_call *x, const struct open_call *y)
{
	return x->row == y->row && x->earlier == y->earlier && !x->ended_ns == !y->ended_ns;
}

/* Whether the call is the oldest of its function: calls are listed oldest first. */
static bool is_first(const struct process *p, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_alike(&p->open[i], &p->open[index]))
			return false;
	return true;
}

static uint64_t count_alike(const struct model *model, const struct process *p, size_t index)
{
	uint64_t count = 0;

	for (size_t i = index; i < p->open_listed; i++)
		count += is_alike(&p->open[i], &p->open[index]) &&
			 lasted_ns(model, &p->open[i]) >= LONG_NS;
	return count;
}

static void print_function(FILE *out, const struct model *model, const struct process *p,
			   size_t index)
{
	const struct open_call *call = &p->open[index];
	struct quantity lasted = quantity__time((double)lasted_ns(model, call));
	uint64_t count = count_alike(model, p, index);

	if (call->ended_ns)
		fprintf(out,
			REPORT_INDENT "never returned: %" PRIu64
				      " %s, %s ended %s after the call\n",
			count, api_functions[call->row].symbol,
			p->ended ? "the process" : "its thread", lasted.text);
	else
		fprintf(out, REPORT_INDENT "in progress: %" PRIu64 " %s since %s%s\n", count,
			api_functions[call->row].symbol,
			call->earlier ? "before attach, so for more than " : "", lasted.text);
}

static bool is_shown(const struct model *model, const struct process *p, size_t index)
{
	return lasted_ns(model, &p->open[index]) >= LONG_NS && is_first(p, index);
}

static uint64_t unlisted(const struct process *p)
{
	uint64_t listed = 0;

	for (size_t i = 0; i < p->open_listed; i++)
		listed += !p->open[i].ended_ns;
	return p->open_count > listed ? p->open_count - listed : 0;
}

bool report_open_calls__list(FILE *out, const struct model *model, const struct process *p)
{
	bool any = false;

	for (size_t i = 0; i < p->open_listed; i++) {
		if (!is_shown(model, p, i))
			continue;
		print_function(out, model, p, i);
		any = true;
	}
	if (any && unlisted(p))
		fprintf(out, REPORT_INDENT "... and %" PRIu64 " more in progress\n", unlisted(p));
	return any;
}

static bool has_any(const struct model *model, const struct process *p)
{
	for (size_t i = 0; i < p->open_listed; i++)
		if (is_shown(model, p, i))
			return true;
	return false;
}

void report_open_calls__print(FILE *out, const struct model *model)
{
	bool first = true;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!report__shows(p) || !has_any(model, p))
			continue;
		if (first)
			fputs("\ncalls that have not returned:\n", out);
		first = false;
		report_line__process(out, p);
		report_open_calls__list(out, model, p);
	}
}
