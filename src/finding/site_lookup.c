// SPDX-License-Identifier: BSD-2-Clause
// Call sites and times of findings, see site_lookup.h.
#include "finding/site_lookup.h"

#include "api/api.h"

static uint64_t end_of(const struct finding_input *input, const struct process *process)
{
	return profile__counted_until_ns(process, input->model->now_ns);
}

uint64_t site_lookup__watched_ns(const struct finding_input *input, const struct process *process)
{
	uint64_t from = process->start_ns > input->began_ns ? process->start_ns : input->began_ns;
	uint64_t to = end_of(input, process);

	return to > from ? to - from : 0;
}

uint64_t site_lookup__followed_ns(const struct finding_input *input, const struct process *process,
				  uint64_t first_ns)
{
	uint64_t to = process ? end_of(input, process) : input->model->now_ns;

	return first_ns && to > first_ns ? to - first_ns : 0;
}

uint64_t site_lookup__thread_ns(const struct finding_input *input, const struct process *process,
				const struct thread_profile *thread)
{
	uint64_t from = thread->first_ns > input->began_ns ? thread->first_ns : input->began_ns;

	if (thread->latest_ns > from)
		return thread->latest_ns - from;
	return profile__wall_ns(thread, input->began_ns, end_of(input, process));
}

const char *site_lookup__function(size_t row)
{
	return row < api_function_count ? api_functions[row].base : "an unknown function";
}

const struct call_site *site_lookup__most(const struct process *process, enum site_kind kind,
					  site_lookup_fn counts, const void *arg)
{
	/* The model lists the sites of a kind with the most first. */
	for (size_t i = 0; i < process->site_count; i++)
		if (process->sites[i].kind == kind && counts(&process->sites[i], arg))
			return &process->sites[i];
	return NULL;
}

static bool is_of_row(const struct call_site *site, const void *arg)
{
	return site->row == *(const size_t *)arg;
}

const struct stack *site_lookup__of_row(const struct process *process, enum site_kind kind,
					size_t row)
{
	const struct call_site *site = site_lookup__most(process, kind, is_of_row, &row);

	return site ? site->stack : NULL;
}

const struct stack *site_lookup__of_copy(const struct process *process, size_t row)
{
	bool async = row < api_function_count && api_functions[row].desc.flags & FUNCTION_ASYNC;

	return site_lookup__of_row(process, async ? SITE_COPY : SITE_WAIT, row);
}

static bool is_failure(const struct call_site *site, const void *arg)
{
	const struct call_site *wanted = arg;

	return site->row == wanted->row && site->code == wanted->code;
}

const struct stack *site_lookup__of_failure(const struct process *process, size_t row, int code)
{
	const struct call_site wanted = {.row = (uint16_t)row, .code = code};
	const struct call_site *site =
		site_lookup__most(process, SITE_FAILURE, is_failure, &wanted);

	return site ? site->stack : NULL;
}
