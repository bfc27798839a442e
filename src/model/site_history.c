// SPDX-License-Identifier: BSD-2-Clause
// Live memory by call site over the last half minute, see site_history.h.
#include "model/site_history.h"

#include <stdlib.h>

#include "base/saturate.h"
#include "model/tensors.h"

#define READINGS 16 /* two seconds or more apart */
#define APART_NS 2000000000ull
#define SITES_PER_PROCESS 32
#define SITES_PER_READING 512 /* over all processes */
#define SITE_REPEATS 8

struct kept_site {
	uint64_t start_ns; /* with the pid identifies the process */
	uint64_t serial;   /* of the stack: another stack may get its address */
	uint64_t bytes, count;
	int32_t pid;
};

struct kept_reading {
	uint64_t time_ns; /* 0: none yet */
	size_t count;
	struct kept_site sites[SITES_PER_READING];
};

struct site_history {
	struct kept_reading readings[READINGS];
	size_t next;
	uint64_t last_ns;
};

struct site_history *site_history__new(void)
{
	return calloc(1, sizeof(struct site_history));
}

void site_history__free(struct site_history *history)
{
	free(history);
}

const struct live_site *site_history__sites(const struct process *process, size_t *count)
{
	if (process->tensors && process->tensors->live_site_count) {
		*count = process->tensors->live_site_count;
		return process->tensors->live_sites;
	}
	*count = process->live_site_count;
	return process->live_sites;
}

static void keep_sites(struct kept_reading *reading, const struct process *process)
{
	size_t count;
	const struct live_site *sites = site_history__sites(process, &count);

	for (size_t i = 0; i < count && i < SITES_PER_PROCESS; i++) {
		if (reading->count == SITES_PER_READING)
			return;
		if (!sites[i].stack)
			continue;
		reading->sites[reading->count++] = (struct kept_site){
			.start_ns = process->start_ns,
			.serial = sites[i].stack->serial,
			.bytes = sites[i].bytes,
			.count = sites[i].count,
			.pid = process->pid,
		};
	}
}

void site_history__sample(struct site_history *history, const struct model *model)
{
	struct kept_reading *reading = &history->readings[history->next];

	if (history->last_ns && model->now_ns - history->last_ns < APART_NS)
		return;
	history->last_ns = model->now_ns;
	history->next = (history->next + 1) % READINGS;
	reading->time_ns = model->now_ns;
	reading->count = 0;
	for (size_t i = 0; i < model->process_count; i++)
		if (!model->processes[i].ended)
			keep_sites(reading, &model->processes[i]);
}

/* The oldest reading of the last half minute that has the process; NULL: none. */
static const struct kept_reading *oldest(const struct site_history *history,
					 const struct process *process, uint64_t now_ns)
{
	const struct kept_reading *found = NULL;

	for (size_t i = 0; i < READINGS; i++) {
		const struct kept_reading *reading = &history->readings[i];

		/* The reading for the report itself shows no increase. */
		if (!reading->time_ns || reading->time_ns >= now_ns ||
		    now_ns - reading->time_ns > SITE_HISTORY_NS ||
		    (found && found->time_ns <= reading->time_ns))
			continue;
		for (size_t k = 0; k < reading->count; k++) {
			if (reading->sites[k].pid != process->pid ||
			    reading->sites[k].start_ns != process->start_ns)
				continue;
			found = reading;
			break;
		}
	}
	return found;
}

static const struct kept_site *find_site(const struct kept_reading *reading,
					 const struct process *process, uint64_t serial)
{
	for (size_t i = 0; reading && i < reading->count; i++)
		if (reading->sites[i].pid == process->pid &&
		    reading->sites[i].start_ns == process->start_ns &&
		    reading->sites[i].serial == serial)
			return &reading->sites[i];
	return NULL;
}

/* Many allocations tell more than a few large ones, as of a cache at startup. */
static bool is_above(const struct site_increase *increase, const struct site_increase *most)
{
	if (increase->count >= SITE_REPEATS && most->count < SITE_REPEATS)
		return increase->bytes > most->bytes / 8;
	if (increase->count < SITE_REPEATS && most->count >= SITE_REPEATS)
		return increase->bytes / 8 >= most->bytes;
	return increase->bytes > most->bytes;
}

struct site_increase site_history__largest(const struct site_history *history,
					   const struct process *process,
					   const struct live_site *sites, size_t count,
					   uint64_t now_ns)
{
	const struct kept_reading *reading = oldest(history, process, now_ns);
	struct site_increase most = {.span_ns = SITE_HISTORY_NS};

	/* Without an earlier reading the process is young: all that it has came since its start. */
	if (reading)
		most.span_ns = now_ns - reading->time_ns;
	else if (process->start_ns < now_ns && now_ns - process->start_ns < SITE_HISTORY_NS)
		most.span_ns = now_ns - process->start_ns;
	else
		return most;
	for (size_t i = 0; i < count; i++) {
		const struct kept_site *before =
			sites[i].stack ? find_site(reading, process, sites[i].stack->serial) : NULL;
		const struct site_increase increase = {
			.site = &sites[i],
			.bytes = saturate__difference(sites[i].bytes, before ? before->bytes : 0),
			.count = saturate__difference(sites[i].count, before ? before->count : 0),
			.span_ns = most.span_ns,
		};

		if (sites[i].stack && increase.bytes && is_above(&increase, &most))
			most = increase;
	}
	return most;
}
