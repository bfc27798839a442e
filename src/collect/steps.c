// SPDX-License-Identifier: BSD-2-Clause
// Steps that threads submit repeatedly, see steps.h.
#include "collect/steps.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/period.h"
#include "collect/step_copies.h"
#include "gen/gpuprobe.skel.h"
#include "model/steps.h"

#define SEARCHES 8	/* searches per reading, since each takes some milliseconds */
#define SEARCH_LEAST 12 /* submissions before the first search */
/* after searches without a result, the next one comes 1, 2, then every 4 readings later */
#define MOST_FAILURES 2
/* search again at this many times the submissions in which an anchor was found */
#define VERIFY_AGAIN 4
#define WRONG_STEPS 16 /* an anchor is wrong with this many more irregular than regular steps */
/* an anchor is lost when this many rounds of launches followed the latest one */
#define LOST_ROUNDS 4

/* State of a record between readings. */
struct record_state {
	struct step_thread *thread; /* the model's thread; NULL: the record belongs to none */
	uint64_t start_ns;
	bool sampled;	   /* the process's launches, at some time */
	uint32_t serial;   /* of the latest anchor; continues from earlier threads */
	uint64_t searched; /* submissions at the latest search */
	/* no new search before this reading, unless submissions have doubled */
	uint64_t next_reading;
	/* searches without a result since the last that had one, up to MOST_FAILURES */
	unsigned int failures;
	struct step_phase base; /* the current phase, without the record's own counts */
	size_t helpers;		/* most that the record has had */
	/* what it had counted when it got as many: their work is not in the sums */
	uint64_t incomplete;
	struct step_sums incomplete_sums;
	/* The walk over steps from before BPF had the anchor */
	bool walking;
	uint64_t walked; /* submissions walked over so far */
	uint64_t context;
	uint64_t begin_ns; /* start of the step in progress there; 0: none */
	struct step_sums sums;
};

struct steps {
	struct step_record *shared; /* the BPF map, mapped */
	size_t bytes;
	uint32_t count; /* number of records */
	const struct bpf_map *free;
	const char *range; /* the NVTX range that steps are; NULL: steps have anchors */
	struct record_state states[STEP_RECORDS];
	struct step_record copy;     /* copy of a record without its history */
	struct step_history history; /* history of the same record */
	uint64_t reading;	     /* number of the latest reading */
	size_t searches;	     /* searches in that reading */
};

int steps__new(const struct gpuprobe_bpf *skeleton, const char *range, struct steps **out,
	       struct error *err)
{
	struct steps *steps = calloc(1, sizeof(*steps));
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;

	if (!steps)
		return error__set(err, -ENOMEM, "out of memory");
	steps->count = bpf_map__max_entries(skeleton->maps.step_records);
	steps->bytes = (steps->count * sizeof(struct step_record) + page - 1) / page * page;
	memory = mmap(NULL, steps->bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(skeleton->maps.step_records), 0);
	if (memory == MAP_FAILED) {
		free(steps);
		return error__set(err, -errno, "cannot map step_records: %s", strerror(errno));
	}
	steps->shared = memory;
	steps->free = skeleton->maps.free_steps;
	steps->range = range;
	*out = steps;
	return 0;
}

void steps__free(struct steps *steps)
{
	if (!steps)
		return;
	munmap(steps->shared, steps->bytes);
	free(steps);
}

/* --- steps from before BPF had the anchor --- */

static void note_code(struct step_sums *sums, uint64_t code)
{
	uint8_t operation = (uint8_t)(code >> STEP_CODE_OPERATION_SHIFT);

	if (!(code & STEP_CODE_OTHER))
		sums->launches++;
	else if (operation == OP_COPY)
		sums->copies[step_direction_of((uint8_t)code)]++;
	else if (operation == OP_WAIT)
		sums->waits++;
}

static void add_listed(struct step_phase *phase, const struct step_sums *sums)
{
	phase->listed++;
	phase->listed_sums.launches += sums->launches;
	phase->listed_sums.waits += sums->waits;
	for (int i = 0; i < STEP_DIRECTIONS; i++)
		phase->listed_sums.copies[i] += sums->copies[i];
}

static void end_walked_step(struct record_state *state, uint64_t at_ns)
{
	struct step_phase *phase = &state->base;
	uint64_t launches = state->sums.launches, usual = phase->anchor.launches;

	if (state->begin_ns && 2 * launches >= usual && 2 * launches <= 3 * usual) {
		step_phase__add(phase, state->begin_ns, at_ns - state->begin_ns);
		add_listed(phase, &state->sums);
	} else if (state->begin_ns) {
		phase->irregular++;
		phase->irregular_ns += at_ns - state->begin_ns;
	}
	state->begin_ns = at_ns;
	state->sums = (struct step_sums){0};
}

/* Continues the walk over the history up to submission `to`. */
static void walk(const struct steps *steps, struct record_state *state, uint64_t to)
{
	const struct step_history *history = &steps->history;

	if (state->walked < history->from) {
		state->walked = history->from;
		state->context = 0;
		state->begin_ns = 0;
	}
	for (; state->walked < to && state->walked < history->to; state->walked++) {
		uint64_t at = state->walked - history->from, code = history->codes[at];

		note_code(&state->sums, code);
		if (step_anchor__is_at(&state->base.anchor, code, state->context))
			end_walked_step(state, step_copies__time(history->stamps[at],
								 steps->copy.latest_ns));
		state->context = step_context(state->context, code);
	}
}

/* BPF counts from its first anchor on, so the walk ends there. */
static void walk_on(struct steps *steps, const struct step_record *shared,
		    struct record_state *state)
{
	const struct step_record *record = &steps->copy;
	bool counts = record->anchor.serial == state->serial && record->from;
	/* A submission's context depends on those before it. */
	uint64_t from = state->walked > STEP_CONTEXT ? state->walked - STEP_CONTEXT : 0;

	if (!state->walking)
		return;
	step_copies__history(shared, from, &steps->history);
	walk(steps, state, counts ? record->from : UINT64_MAX);
	state->walking = !counts;
}

/* --- anchors --- */

static bool is_same_anchor(const struct step_anchor *a, const struct step_anchor *b)
{
	return a->code == b->code && a->mask == b->mask && a->before == b->before;
}

/*
 * The index of the thread's phase with this anchor. If there is none, adds a phase, if necessary in
 * place of the one with the least time.
 */
static size_t find_phase(struct step_thread *thread, const struct step_anchor *anchor, bool sampled)
{
	size_t least = thread->phase_count ? (thread->current + 1) % thread->phase_count : 0;

	for (size_t i = 0; i < thread->phase_count; i++)
		if (is_same_anchor(&thread->phases[i].anchor, anchor))
			return i;
	if (thread->phase_count < STEP_PHASES) {
		least = thread->phase_count++;
	} else {
		for (size_t i = 0; i < thread->phase_count; i++)
			if (i != thread->current && thread->phases[i].ns < thread->phases[least].ns)
				least = i;
	}
	thread->phases[least] = (struct step_phase){.anchor = *anchor, .sampled = sampled};
	return least;
}

/* BPF uses this anchor from the thread's next submission on. */
static void take_anchor(struct steps *steps, struct step_record *shared, struct record_state *state,
			const struct period *period)
{
	struct step_thread *thread = state->thread;

	thread->current = find_phase(thread, &period->anchor, state->sampled);
	thread->phases[thread->current].anchor.launches = period->launches;
	free(thread->round);
	thread->round = period__latest_round(steps->history.codes,
					     (size_t)(steps->history.to - steps->history.from),
					     period, &thread->round_length);
	state->base = thread->phases[thread->current];
	state->incomplete = 0;
	state->serial++;
	state->walking = true;
	state->walked = steps->history.from + period->first;
	state->begin_ns = 0;
	state->sums = (struct step_sums){0};
	/* The bits of the context that the anchor compares are known at the first anchor. */
	state->context = period->anchor.before;
	walk(steps, state, UINT64_MAX);
	shared->wanted = period->anchor;
	__atomic_store_n(&shared->wanted.serial, state->serial, __ATOMIC_RELEASE);
}

static size_t list_known(const struct step_thread *thread, struct step_anchor *known)
{
	for (size_t i = 0; i < thread->phase_count; i++)
		known[i] = thread->phases[i].anchor;
	return thread->phase_count;
}

/* A search takes some milliseconds, so searches without a result become rarer. */
static void note_failure(const struct steps *steps, struct record_state *state)
{
	state->next_reading = steps->reading + (1u << state->failures);
	if (state->failures < MOST_FAILURES)
		state->failures++;
}

/* Searches for the period of the submissions since `from`. An anchor already in use stays. */
static int search(struct steps *steps, struct step_record *shared, struct record_state *state,
		  uint64_t from)
{
	struct step_anchor known[STEP_PHASES];
	struct step_thread *thread = state->thread;
	const struct step_history *history = &steps->history;
	struct period period;
	int ret;

	if (steps->searches++ >= SEARCHES)
		return 0;
	step_copies__history(shared, from, &steps->history);
	state->searched = history->to;
	note_failure(steps, state);
	ret = period__find(history->codes, (size_t)(history->to - history->from), known,
			   list_known(thread, known), &period);
	if (ret || !period.launches)
		return ret;
	if (thread->phase_count && !from && period.launches == state->base.anchor.launches)
		return 0;
	if (thread->phase_count && is_same_anchor(&state->base.anchor, &period.anchor))
		return 0;
	state->failures = 0;
	take_anchor(steps, shared, state, &period);
	return 0;
}

/* Launches continue, but the anchor no longer occurs. */
static bool is_lost(const struct step_record *record, const struct record_state *state)
{
	uint64_t usual = state->base.anchor.launches;

	if (record->anchor.serial != state->serial || !record->begin_ns)
		return state->sums.launches > LOST_ROUNDS * usual;
	return record->totals.launches - record->own_launches > LOST_ROUNDS * usual;
}

/* The anchor occurs, but not at the expected times. */
static bool is_wrong(const struct step_record *record, const struct record_state *state)
{
	return record->anchor.serial == state->serial &&
	       record->irregular > record->steps + WRONG_STEPS;
}

/* The anchor was found in so few submissions that its period may be only a part of a step. */
static bool is_early(const struct step_record *record, const struct record_state *state)
{
	return record->count >= VERIFY_AGAIN * state->searched && state->searched <= STEP_HISTORY;
}

/* `last`: this is the last reading of the thread. */
static int look_for_anchor(struct steps *steps, struct step_record *shared,
			   struct record_state *state, bool last)
{
	const struct step_record *record = &steps->copy;

	if (record->count < SEARCH_LEAST || record->count == state->searched ||
	    (!last && steps->reading < state->next_reading && record->count < 2 * state->searched))
		return 0;
	if (!state->thread->phase_count || is_early(record, state) || is_wrong(record, state))
		return search(steps, shared, state, 0);
	if (is_lost(record, state))
		return search(steps, shared, state,
			      record->latest ? record->latest : state->walked);
	return 0;
}

/* --- a thread --- */

static void begin_thread(const struct step_record *record, struct record_state *state,
			 struct step_thread *thread)
{
	*state = (struct record_state){
		.thread = thread, .start_ns = record->start_ns, .serial = record->anchor.serial};
	thread->tid = record->tid;
	thread->start_ns = record->start_ns;
	memcpy(thread->comm, record->comm, sizeof(thread->comm) - 1);
}

static void show_phase(const struct step_record *record, const struct record_state *state)
{
	struct step_phase *phase = &state->thread->phases[state->thread->current];

	if (!state->thread->phase_count)
		return;
	*phase = state->base;
	if (record->anchor.serial != state->serial)
		return;
	step_phase__add_record(phase, record);
	if (record->steps > state->incomplete)
		step_phase__forget_sums(phase, state->incomplete, &state->incomplete_sums);
}

/* BPF counts the thread's steps, and its anchor has proved right for long enough. */
static bool is_settled(const struct step_record *record, const struct record_state *state)
{
	return state->thread->phase_count && record->anchor.serial == state->serial &&
	       !state->walking && state->searched > STEP_HISTORY && !is_early(record, state) &&
	       !is_wrong(record, state) && !is_lost(record, state);
}

static int update_thread(struct steps *steps, struct step_record *shared,
			 struct record_state *state, bool last)
{
	struct step_thread *thread = state->thread;
	const struct step_record *record = &steps->copy;
	int ret;

	thread->ended_ns = record->ended_ns;
	thread->submissions = record->count;
	thread->totals = record->totals;
	if (steps->range) {
		thread->range = steps->range;
		thread->phase_count = record->steps > 0;
		show_phase(record, state);
		return 0;
	}
	walk_on(steps, shared, state);
	show_phase(record, state);
	ret = look_for_anchor(steps, shared, state, last);
	__atomic_store_n(&shared->settled, is_settled(record, state), __ATOMIC_RELEASE);
	show_phase(record, state);
	return ret;
}

static void give_back(struct steps *steps, uint32_t number)
{
	struct step_record *shared = &steps->shared[number];

	memset(shared, 0, offsetof(struct step_record, codes));
	steps->states[number] = (struct record_state){0};
	bpf_map__update_elem(steps->free, NULL, 0, &number, sizeof(number), 0);
}

static struct process_steps *steps_of(struct process *process)
{
	if (!process->steps)
		process->steps = process_steps__new();
	return process->steps;
}

static int read_record(const struct reading *reading, struct steps *steps, uint32_t number)
{
	struct record_state *state = &steps->states[number];
	struct step_record *shared = &steps->shared[number];
	uint64_t start_ns = __atomic_load_n(&shared->start_ns, __ATOMIC_ACQUIRE);
	struct process *process =
		start_ns ? collector__process_at(reading->collector, shared->slot) : NULL;
	bool over;
	int ret = 0;

	if (!process)
		return 0;
	if (!steps_of(process))
		return -ENOMEM;
	state->sampled = process__is_estimated(process, RATE_LAUNCH);
	over = __atomic_load_n(&shared->ended_ns, __ATOMIC_ACQUIRE) ||
	       reading__reaps(reading, process);
	if (!step_copies__record(shared, &steps->copy) && !over)
		return 0;
	if (!state->thread) {
		struct step_thread *thread = process_steps__add(process->steps);

		if (thread)
			begin_thread(&steps->copy, state, thread);
	}
	if (state->thread)
		ret = update_thread(steps, shared, state,
				    over || process->ended || reading->collector->model.final);
	if (!ret && over)
		give_back(steps, number);
	return ret;
}

/* --- helpers --- */

static bool has_more(const struct steps *steps, uint32_t one, uint32_t other)
{
	return steps->states[one].thread->totals.launches >
	       steps->states[other].thread->totals.launches;
}

/* Chooses the other threads of the record's process that launch most, in that order. */
static void choose_helpers(struct steps *steps, uint32_t number)
{
	struct record_state *state = &steps->states[number];
	uint32_t chosen[STEP_HELPERS];
	size_t count = 0;

	for (uint32_t other = 0; other < steps->count; other++) {
		size_t at = count;

		if (other == number || !steps->states[other].thread ||
		    steps->shared[other].slot != steps->shared[number].slot)
			continue;
		if (count < STEP_HELPERS)
			count++;
		else if (!has_more(steps, other, chosen[--at]))
			continue;
		for (; at && has_more(steps, other, chosen[at - 1]); at--)
			chosen[at] = chosen[at - 1];
		chosen[at] = other;
	}
	for (size_t i = 0; i < STEP_HELPERS; i++)
		steps->shared[number].helpers[i] = i < count ? chosen[i] + 1 : 0;
	if (count <= state->helpers)
		return;
	state->helpers = count;
	if (!step_copies__record(&steps->shared[number], &steps->copy) ||
	    steps->copy.anchor.serial != state->serial)
		return;
	state->incomplete = steps->copy.steps;
	state->incomplete_sums = steps->copy.sums;
}

static void choose_all_helpers(struct steps *steps)
{
	for (uint32_t number = 0; number < steps->count; number++)
		if (steps->states[number].thread)
			choose_helpers(steps, number);
}

int steps__read(struct reading *reading)
{
	struct steps *steps = reading->collector->steps;
	int ret = 0;

	if (!steps)
		return 0;
	steps->searches = 0;
	steps->reading++;
	for (uint32_t number = 0; number < steps->count && !ret; number++)
		ret = read_record(reading, steps, number);
	if (!ret)
		choose_all_helpers(steps);
	return ret;
}

void steps__look(struct collector *collector)
{
	const struct reading reading = {.collector = collector};
	struct steps *steps = collector->steps;

	collector->has_steps = false;
	steps->searches = 0;
	for (uint32_t number = 0; number < steps->count; number++)
		if (!steps->shared[number].wanted.serial && !steps->shared[number].ended_ns)
			read_record(&reading, steps, number);
	/* BPF counts steps by the new anchors before the next reading. */
	choose_all_helpers(steps);
}
