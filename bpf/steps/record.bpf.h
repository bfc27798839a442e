// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps that a thread's record counts, gpuprobe/steps.h, whatever begins and ends them. */
#ifndef BPF_STEPS_RECORD_BPF_H
#define BPF_STEPS_RECORD_BPF_H

#include "core/base.bpf.h"
#include "gpuprobe/positive.h"
#include "gpuprobe/steps.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct step_record);
} step_records SEC(".maps");

static __always_inline struct step_record *step_record_at(u32 number)
{
	number--;
	return bpf_map_lookup_elem(&step_records, &number);
}

static __always_inline void add_step_sums(struct step_sums *sums, const struct step_sums *more)
{
	u64 *to = (u64 *)sums;
	const u64 *from = (const u64 *)more;

	for (u32 i = 0; i < sizeof(*sums) / sizeof(*to); i++)
		to[i] += from[i];
}

/* A helper that has ended takes its sums with it: the difference does not go below zero. */
static __always_inline void subtract_step_sums(struct step_sums *sums, const struct step_sums *less)
{
	u64 *to = (u64 *)sums;
	const u64 *from = (const u64 *)less;

	for (u32 i = 0; i < sizeof(*sums) / sizeof(*to); i++)
		to[i] = positive_difference(to[i], from[i]);
}

/* Adds the sums of a helper; 0: there is none. Global: the verifier goes through it once. */
__noinline int add_helper(struct step_sums *sums, u32 number, u32 slot)
{
	const struct step_record *helper;

	if (!sums || !number)
		return 0;
	helper = step_record_at(number);
	if (helper && helper->slot == slot)
		add_step_sums(sums, &helper->totals);
	return 0;
}

/* Sums of the thread and its helpers. Global: the verifier goes through it once. */
__noinline int gather_step_sums(const struct step_record *record, struct step_sums *sums)
{
	if (!record || !sums)
		return 0;
	*sums = record->totals;
	for (u32 i = 0; i < STEP_HELPERS; i++)
		add_helper(sums, record->counted[i], record->slot);
	return 0;
}

/*
 * Index of the fastest of the slowest steps. Global: the verifier does not follow the result once
 * per step.
 */
__noinline u32 fastest_slow_step(const struct step_record *record)
{
	u64 least;
	u32 at = 0;

	if (!record)
		return STEP_SLOWEST;
	least = record->slowest[0].ns;
	for (u32 i = 1; i < STEP_SLOWEST; i++) {
		if (record->slowest[i].ns >= least)
			continue;
		least = record->slowest[i].ns;
		at = i;
	}
	return at;
}

/* Keeps the step in place of the fastest of the slowest ones, if it is slower. */
static __always_inline void keep_slow_step(struct step_record *record, u64 ns,
					   const struct step_sums *sums)
{
	u32 at = fastest_slow_step(record);

	if (at >= STEP_SLOWEST || ns <= record->slowest[at].ns)
		return;
	record->slowest[at].begin_ns = record->begin_ns;
	record->slowest[at].ns = ns;
	record->slowest[at].sums = *sums;
}

static __always_inline void count_step(struct step_record *record, u64 ns,
				       const struct step_sums *sums)
{
	u32 bucket = time_bucket(ns);

	if (!record->steps)
		record->first_ns = record->begin_ns;
	record->steps++;
	record->ns += ns;
	if (bucket < TIME_BUCKETS)
		record->buckets[bucket]++;
	add_step_sums(&record->sums, sums);
	keep_slow_step(record, ns, sums);
	if (ns > record->max_ns)
		record->max_ns = ns;
}

/*
 * Changed helpers count from the next step on: the sums at this step's start do not include them.
 */
static __always_inline bool has_other_helpers(struct step_record *record)
{
	u32 other = 0;

	for (u32 i = 0; i < STEP_HELPERS; i++) {
		other |= record->counted[i] ^ record->helpers[i];
		record->counted[i] = record->helpers[i];
	}
	return other;
}

#endif
