// SPDX-License-Identifier: BSD-2-Clause
// Since when a process is steady, and what was counted since then, see steady.h.
#include "model/steady.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"
#include "model/sites.h"
#include "model/steady_base.h"
#include "model/steps.h"

#define UNPROVEN_NS 1000000000ull

void steady__free(struct steady *steady)
{
	for (size_t i = 0; steady && i < steady->count; i++)
		steady_base__free(steady->bases[i]);
	free(steady);
}

size_t steady__bytes(const struct steady *steady)
{
	size_t bytes = steady ? sizeof(*steady) : 0;

	for (size_t i = 0; steady && i < steady->count; i++)
		bytes += steady_base__bytes(steady->bases[i]);
	return bytes;
}

/* --- which readings are kept --- */

/* The start of the steady time, if every reading were kept. */
static uint64_t moment_of(const struct process *process, uint64_t end_ns)
{
	uint64_t first_ns = process->profile->steady->bases[0]->ns,
		 start_ns = end_ns > first_ns ? (end_ns - first_ns) / 2 : 0;
	struct step_summary steps;

	step_summary__make(process, &steps);
	if (steps.phase)
		return step_phase__steady_ns(steps.phase);
	if (process->since_attach)
		return first_ns;
	return first_ns + (start_ns < START_MOST_NS ? start_ns : START_MOST_NS);
}

static const struct steady_base *base_from(const struct steady *steady, uint64_t from_ns)
{
	for (size_t i = 0; i < steady->count; i++)
		if (steady->bases[i]->ns >= from_ns)
			return steady->bases[i];
	return NULL;
}

/*
 * Whether there is a reading after the first steps of each phase: any phase may turn out to be the
 * main one.
 */
static bool has_all_phases(const struct steady *steady, const struct step_thread *thread)
{
	for (size_t i = 0; i < thread->phase_count; i++)
		if (thread->phases[i].steps &&
		    !base_from(steady, step_phase__steady_ns(&thread->phases[i])))
			return false;
	return true;
}

/* If the steps are known, one reading after the first of them is enough. */
static bool is_worth_keeping(const struct process *process, const struct steady *steady,
			     uint64_t now_ns)
{
	struct step_summary steps;
	uint64_t first_ns, latest_ns;

	if (!steady->count)
		return true;
	step_summary__make(process, &steps);
	if (steps.thread)
		return !has_all_phases(steady, steps.thread);
	first_ns = steady->bases[0]->ns;
	latest_ns = steady->bases[steady->count - 1]->ns - first_ns;
	return latest_ns < START_MOST_NS && now_ns > first_ns &&
	       2 * (now_ns - first_ns) >= 3 * latest_ns;
}

/* Makes room for a reading; the first one is kept. Returns the mark that is free now. */
static int make_room(struct steady *steady)
{
	int mark = (int)steady->count;

	if (steady->count < STEADY_BASES)
		return mark;
	mark = steady->bases[1]->mark;
	steady_base__free(steady->bases[1]);
	steady->count--;
	for (size_t i = 1; i < steady->count; i++)
		steady->bases[i] = steady->bases[i + 1];
	return mark;
}

/*
 * A process that was running before gpuprobe has unknown work in its queues: no idle time is proven
 * for two seconds (EARLIER_WORK_NS of bpf/profile/queue.bpf.h). One of these has usually passed by
 * the first reading with work.
 */
static bool proves_nothing(const struct process *process, uint64_t now_ns)
{
	return process->since_attach && now_ns < process->profile->steady->worked_ns + UNPROVEN_NS;
}

static int keep_reading(struct process *process, const struct load *load)
{
	struct steady *steady = process->profile->steady;
	struct steady_base *base = steady_base__new(process, load);

	if (!base)
		return -ENOMEM;
	base->mark = make_room(steady);
	steady->bases[steady->count++] = base;
	if (process->site_table)
		site_table__mark(process->site_table, base->mark);
	return 0;
}

int steady__follow(const struct model *model, struct process *process)
{
	struct profile *profile = process->profile;
	struct load load;

	if (process->ended)
		return 0;
	load__of(process, model->now_ns, &load);
	if (!load.launches && !load.copies)
		return 0;
	if (!profile->steady)
		profile->steady = calloc(1, sizeof(*profile->steady));
	if (!profile->steady)
		return -ENOMEM;
	load__add_use(model, process, &profile->steady->use);
	load.busy_percent = profile->steady->use.busy_percent;
	load.busy_readings = profile->steady->use.busy_readings;
	if (!profile->steady->worked_ns)
		profile->steady->worked_ns = load.ns;
	if (proves_nothing(process, load.ns))
		return 0;
	return is_worth_keeping(process, profile->steady, load.ns) ? keep_reading(process, &load) :
								     0;
}

/* --- which reading the steady time begins with --- */

/* NULL: not known to be steady. */
static const struct steady_base *base_of(const struct process *process, uint64_t now_ns)
{
	uint64_t end_ns = process->ended ? process->ended_ns : now_ns;
	const struct steady_base *base;

	if (!process->profile || !process->profile->steady || !process->profile->steady->count)
		return NULL;
	base = base_from(process->profile->steady, moment_of(process, end_ns));
	return base && end_ns >= base->ns + STEADY_LEAST_NS ? base : NULL;
}

uint64_t steady__since_ns(const struct process *process, uint64_t now_ns)
{
	const struct steady_base *base = base_of(process, now_ns);

	return base ? base->ns : 0;
}

int steady__mark(const struct process *process, uint64_t now_ns)
{
	const struct steady_base *base = base_of(process, now_ns);

	return base ? base->mark : -1;
}

bool steady__load(const struct process *process, uint64_t now_ns, struct load *load)
{
	const struct steady_base *base = base_of(process, now_ns);
	struct load now;

	if (!base)
		return false;
	load__of(process, now_ns, &now);
	now.busy_percent = process->profile->steady->use.busy_percent;
	now.busy_readings = process->profile->steady->use.busy_readings;
	load__since(&now, &base->load, load);
	return true;
}

void steady__marks(const struct process *process, uint64_t now_ns, struct steady_marks *marks)
{
	const struct steady *steady = process->profile ? process->profile->steady : NULL;

	*marks = (struct steady_marks){
		.mark = steady__mark(process, now_ns),
		.end_ns = process->ended ? process->ended_ns : now_ns,
	};
	for (size_t i = 0; steady && i < steady->count; i++)
		marks->ns[steady->bases[i]->mark] = steady->bases[i]->ns;
}

/* --- the view --- */

static bool copy(void *items, size_t count, size_t size, void **out)
{
	*out = malloc(count * size + 1);
	if (*out && count)
		memcpy(*out, items, count * size);
	return *out;
}

/* Copies the lists that the view changes; it shares the rest with the process. */
static bool copy_lists(const struct process *process, struct process *view)
{
	const struct profile *from = process->profile;
	struct profile *to = view->profile;

	return copy(from->threads, from->thread_count, sizeof(*from->threads),
		    (void **)&to->threads) &&
	       copy(from->functions, from->function_count, sizeof(*from->functions),
		    (void **)&to->functions) &&
	       copy(from->sizes, from->size_count, sizeof(*from->sizes), (void **)&to->sizes) &&
	       copy(from->copies, from->copy_count, sizeof(*from->copies), (void **)&to->copies) &&
	       copy(from->repeats, from->repeat_count, sizeof(*from->repeats),
		    (void **)&to->repeats) &&
	       copy(process->functions, process->function_count, sizeof(*process->functions),
		    (void **)&view->functions);
}

int steady__view(const struct process *process, uint64_t now_ns, struct process *view)
{
	const struct steady_base *base = base_of(process, now_ns);

	if (!base)
		return -EINVAL;
	*view = *process;
	view->functions = NULL;
	view->profile = malloc(sizeof(*view->profile));
	if (!view->profile)
		return -ENOMEM;
	*view->profile = *process->profile;
	view->profile->threads = NULL;
	view->profile->functions = NULL;
	view->profile->sizes = NULL;
	view->profile->copies = NULL;
	view->profile->repeats = NULL;
	if (!copy_lists(process, view)) {
		steady__clear_view(view);
		return -ENOMEM;
	}
	steady_base__subtract(base, view);
	return 0;
}

void steady__clear_view(struct process *view)
{
	free(view->functions);
	if (!view->profile)
		return;
	free(view->profile->threads);
	free(view->profile->functions);
	free(view->profile->sizes);
	free(view->profile->copies);
	free(view->profile->repeats);
	free(view->profile);
}
