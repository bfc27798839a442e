// SPDX-License-Identifier: BSD-2-Clause
// Rates of processes between two readings, see process_rates.h.
#include "model/process_rates.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "base/table.h"
#include "model/copied.h"
#include "model/devices.h"

#define SLOPE_SAMPLES 16
#define SLOPE_STEP_NS (MEMORY_SLOPE_NS / (SLOPE_SAMPLES - 1))

struct counts {
	uint64_t launches, copies, to_device, to_host, waiting_ns;
};

/* Live memory at one time. */
struct level {
	uint64_t time_ns, bytes;
};

/* Without padding, because the table compares bytes. */
struct process_key {
	uint64_t start_ns;
	int64_t pid;
};

struct known {
	struct process_key key;
	uint64_t sampled_ns; /* the latest sample that had it */
	struct counts counts;
	uint64_t memory;
	struct process_rate rate;
	struct level levels[SLOPE_SAMPLES]; /* a ring, SLOPE_STEP_NS apart */
	size_t level_next, level_count;
	UT_hash_handle hh;
};

struct process_rates {
	struct known *known;
	uint64_t sampled_ns; /* 0: no sample yet */
};

static struct process_key key_of(const struct process *process)
{
	return (struct process_key){.start_ns = process->start_ns, .pid = process->pid};
}

struct process_rates *process_rates__new(void)
{
	return calloc(1, sizeof(struct process_rates));
}

void process_rates__free(struct process_rates *rates)
{
	if (!rates)
		return;
	TABLE_CLEAR(rates->known, free);
	free(rates);
}

void process_rates__begin(struct process_rates *rates, uint64_t now_ns)
{
	rates->sampled_ns = now_ns;
}

uint64_t process__live_device_bytes(const struct process *process)
{
	uint64_t bytes = 0;

	for (int kind = 0; kind < MEMORY_KINDS && !process->ended; kind++)
		if (memory_kind__is_device(kind) || kind == MEMORY_UNKNOWN)
			saturate__add(&bytes, process->memory[kind].live_bytes);
	return bytes;
}

uint64_t process__held_bytes(const struct process *process, bool *at_least)
{
	uint64_t reported =
		process->since_attach ? process__nvml_bytes(process) : GPU_UNKNOWN_BYTES;

	*at_least = process->since_attach && reported == GPU_UNKNOWN_BYTES && !process->ended;
	if (process->ended || reported == GPU_UNKNOWN_BYTES)
		return process__live_device_bytes(process);
	return reported;
}

static void count(const struct process *process, struct counts *counts)
{
	*counts = (struct counts){
		.launches = process->launches + process->graph_launches,
		.to_device = process__copied(process, COPY_H2D).bytes,
		.to_host = process__copied(process, COPY_D2H).bytes,
		.waiting_ns = process->copy_waits.ns + process->free_waits.ns,
	};
	for (enum copy_kind kind = 0; kind < COPY_KINDS; kind++)
		counts->copies += process__copied(process, kind).calls;
	for (int scope = 0; scope < WAIT_SCOPES; scope++)
		counts->waiting_ns += process->waits[scope].ns;
}

/* An estimate may be corrected downwards: nothing happened then. */
static double growth(uint64_t before, uint64_t now)
{
	return now > before ? (double)(now - before) : 0;
}

static void set_rate(struct process_rate *rate, const struct counts *before,
		     const struct counts *now, uint64_t interval_ns)
{
	double seconds = (double)interval_ns / (double)NS_PER_S;

	*rate = (struct process_rate){
		.interval_ns = interval_ns,
		.launches = growth(before->launches, now->launches) / seconds,
		.copies = growth(before->copies, now->copies) / seconds,
		.to_device = growth(before->to_device, now->to_device) / seconds,
		.to_host = growth(before->to_host, now->to_host) / seconds,
		.waiting = growth(before->waiting_ns, now->waiting_ns) / (double)interval_ns,
	};
}

/* From the oldest level of the ring that is not too old. */
static void set_slope(struct known *known, uint64_t now_ns)
{
	struct process_rate *rate = &known->rate;

	rate->has_slope = false;
	for (size_t i = known->level_count; i-- > 0 && !rate->has_slope;) {
		const struct level *level =
			&known->levels[(known->level_next + SLOPE_SAMPLES - 1 - i) % SLOPE_SAMPLES];

		if (level->time_ns >= now_ns || now_ns - level->time_ns > MEMORY_SLOPE_NS)
			continue;
		rate->has_slope = true;
		rate->memory_slope = ((double)known->memory - (double)level->bytes) /
				     ((double)(now_ns - level->time_ns) / (double)NS_PER_S);
	}
}

static void keep_level(struct known *known, uint64_t now_ns)
{
	const struct level *latest =
		&known->levels[(known->level_next + SLOPE_SAMPLES - 1) % SLOPE_SAMPLES];

	if (known->level_count && now_ns - latest->time_ns < SLOPE_STEP_NS)
		return;
	known->levels[known->level_next] = (struct level){now_ns, known->memory};
	known->level_next = (known->level_next + 1) % SLOPE_SAMPLES;
	if (known->level_count < SLOPE_SAMPLES)
		known->level_count++;
}

static void take(const struct process_rates *rates, struct known *known,
		 const struct process *process, uint64_t now_ns)
{
	const uint64_t memory = process__live_device_bytes(process);
	struct counts counts;

	count(process, &counts);
	if (rates->sampled_ns) {
		set_rate(&known->rate, &known->counts, &counts, now_ns - rates->sampled_ns);
		known->rate.memory_change = (double)memory - (double)known->memory;
	}
	known->counts = counts;
	known->memory = memory;
	set_slope(known, now_ns);
	keep_level(known, now_ns);
	known->sampled_ns = now_ns;
}

int process_rates__sample(struct process_rates *rates, const struct model *model)
{
	int ret = 0;

	if (model->broken_off || model->now_ns <= rates->sampled_ns)
		return 0;
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];
		const struct process_key key = key_of(process);
		struct known *known = TABLE_TAKE(rates->known, key, &key);

		if (known)
			take(rates, known, process, model->now_ns);
		else
			ret = -ENOMEM;
	}
	rates->sampled_ns = model->now_ns;
	TABLE_DROP(rates->known, known, known->sampled_ns != rates->sampled_ns, free);
	return ret;
}

void process_rates__of(const struct process_rates *rates, const struct process *process,
		       struct process_rate *rate)
{
	const struct process_key key = key_of(process);
	const struct known *known = TABLE_FIND(rates->known, key, &key);

	*rate = known ? known->rate : (struct process_rate){0};
}
