// SPDX-License-Identifier: BSD-2-Clause
// The latest 15 minutes, see history.h. All series share one ring of times: a point has the same
// index in each of them.
#include "output/web/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text_stream.h"
#include "finding/verdict.h"
#include "model/user_line.h"
#include "output/frame_text.h"

enum value {
	LIVE_BYTES = 0,
	LAUNCHES,
	COPIES,
	COPY_BYTES,
	WAITING,
	IDLE, /* proved */
	VALUES,
};

static const char *const value_names[VALUES] = {
	[LIVE_BYTES] = "memory_bytes",	[LAUNCHES] = "launches_per_second",
	[COPIES] = "copies_per_second", [COPY_BYTES] = "copied_bytes_per_second",
	[WAITING] = "waiting",		[IDLE] = "proved_idle",
};

struct site_series {
	uint64_t stack; /* serial of the stack, or UNKNOWN_STACK */
	char label[HISTORY_LABEL];
	double bytes[HISTORY_POINTS];
};

#define UNKNOWN_STACK UINT64_MAX

struct process_series {
	uint64_t serial;
	int32_t pid;
	char comm[16];
	uint64_t seen_ns; /* its latest point */
	bool at_least;	  /* it may hold more memory, from before gpuprobe */
	double values[VALUES][HISTORY_POINTS];
	struct site_series *sites[HISTORY_SITES];
};

struct history {
	size_t bytes_max, bytes;
	uint64_t left_out;
	uint64_t times_ns[HISTORY_POINTS]; /* CLOCK_BOOTTIME */
	double walls[HISTORY_POINTS];	   /* seconds since 1970 */
	size_t first, count;		   /* in the ring */
	struct process_series **series;	   /* in order of serials */
	size_t series_count, series_capacity;
};

struct history *history__new(size_t bytes_max)
{
	struct history *history = calloc(1, sizeof(*history));

	if (history)
		history->bytes_max = bytes_max;
	return history;
}

/* --- room --- */

static void *take_room(struct history *history, size_t size)
{
	void *room = history->bytes + size <= history->bytes_max ? malloc(size) : NULL;

	if (room)
		history->bytes += size;
	else
		history->left_out++;
	return room;
}

static void free_series(struct history *history, struct process_series *series)
{
	for (int i = 0; i < HISTORY_SITES; i++) {
		if (!series->sites[i])
			continue;
		history->bytes -= sizeof(*series->sites[i]);
		free(series->sites[i]);
	}
	history->bytes -= sizeof(*series);
	free(series);
}

void history__free(struct history *history)
{
	if (!history)
		return;
	for (size_t i = 0; i < history->series_count; i++)
		free_series(history, history->series[i]);
	free(history->series);
	free(history);
}

static void remove_at(struct history *history, size_t at)
{
	free_series(history, history->series[at]);
	history->series_count--;
	memmove(&history->series[at], &history->series[at + 1],
		(history->series_count - at) * sizeof(*history->series));
}

/* Frees what has had no point for the longest time, if it has none at `now_ns`. */
static bool drop_oldest(struct history *history, uint64_t now_ns)
{
	size_t oldest = history->series_count;

	for (size_t i = 0; i < history->series_count; i++)
		if (history->series[i]->seen_ns < now_ns &&
		    (oldest == history->series_count ||
		     history->series[i]->seen_ns < history->series[oldest]->seen_ns))
			oldest = i;
	if (oldest == history->series_count)
		return false;
	remove_at(history, oldest);
	return true;
}

/* --- points --- */

/* The index of the latest point. */
static size_t latest(const struct history *history)
{
	return (history->first + history->count - 1) % HISTORY_POINTS;
}

static void drop_first(struct history *history)
{
	history->first = (history->first + 1) % HISTORY_POINTS;
	history->count--;
}

/* Removes processes whose latest point is gone. */
static void drop_unseen(struct history *history)
{
	for (size_t i = history->series_count; i-- > 0;)
		if (history->series[i]->seen_ns < history->times_ns[history->first])
			remove_at(history, i);
}

static void clear_point(struct process_series *series, size_t at)
{
	for (int value = 0; value < VALUES; value++)
		series->values[value][at] = NAN;
	for (int i = 0; i < HISTORY_SITES; i++)
		if (series->sites[i])
			series->sites[i]->bytes[at] = NAN;
}

static void begin_point(struct history *history, const struct model *model)
{
	size_t at;

	while (history->count && (history->count == HISTORY_POINTS ||
				  history->times_ns[history->first] + HISTORY_NS < model->now_ns))
		drop_first(history);
	history->count++;
	at = latest(history);
	history->times_ns[at] = model->now_ns;
	history->walls[at] =
		(double)model->wall.tv_sec + (double)model->wall.tv_nsec / (double)NS_PER_S;
	drop_unseen(history);
	for (size_t i = 0; i < history->series_count; i++)
		clear_point(history->series[i], at);
}

/* --- processes --- */

static void fill_unknown(double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = NAN;
}

static int compare_serial(const void *key, const void *member)
{
	uint64_t wanted = *(const uint64_t *)key;
	uint64_t serial = (*(struct process_series *const *)member)->serial;

	return wanted < serial ? -1 : wanted > serial;
}

static struct process_series *find_series(const struct history *history, uint64_t serial)
{
	struct process_series **found =
		history->series_count ? bsearch(&serial, history->series, history->series_count,
						sizeof(*history->series), compare_serial) :
					NULL;

	return found ? *found : NULL;
}

static bool has_place(struct history *history)
{
	size_t capacity = history->series_capacity ? 2 * history->series_capacity : 16;
	struct process_series **series;

	if (history->series_count < history->series_capacity)
		return true;
	series = realloc(history->series, capacity * sizeof(*series));
	if (!series)
		return false;
	history->series = series;
	history->series_capacity = capacity;
	return true;
}

static void insert(struct history *history, struct process_series *series)
{
	size_t at = history->series_count++;

	for (; at && history->series[at - 1]->serial > series->serial; at--)
		history->series[at] = history->series[at - 1];
	history->series[at] = series;
}

/* NULL: there is no room for it. */
static struct process_series *add_series(struct history *history, const struct process *process,
					 uint64_t now_ns)
{
	struct process_series *series;

	while (history->bytes + sizeof(*series) > history->bytes_max &&
	       drop_oldest(history, now_ns))
		;
	series = has_place(history) ? take_room(history, sizeof(*series)) : NULL;
	if (!series)
		return NULL;
	memset(series, 0, sizeof(*series));
	series->serial = process->serial;
	series->pid = process->pid;
	fill_unknown(&series->values[0][0], VALUES * HISTORY_POINTS);
	insert(history, series);
	return series;
}

/* --- call sites of memory --- */

static uint64_t key_of(const struct live_site *site)
{
	return site->stack ? site->stack->serial : UNKNOWN_STACK;
}

/* The user's own frame, escaped; it may be cut. */
static void make_label(const struct stack *stack, char label[HISTORY_LABEL])
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = stack && stack->count ? text_stream__open(&text, &length) : NULL;
	const struct stack_frame *own = user_line__find(stack);

	snprintf(label, HISTORY_LABEL, "%s", "[stack not known]");
	if (!out)
		return;
	frame_text__print(out, own ? own : &stack->frames[0]);
	if (!fclose(out))
		snprintf(label, HISTORY_LABEL, "%s", text);
	free(text);
}

static struct site_series **find_site(struct process_series *series, uint64_t key)
{
	for (int i = 0; i < HISTORY_SITES; i++)
		if (series->sites[i] && series->sites[i]->stack == key)
			return &series->sites[i];
	return NULL;
}

/* 0 without live memory now. */
static double bytes_now(const struct site_series *site, size_t at)
{
	return site->bytes[at] > 0 ? site->bytes[at] : 0;
}

/* An empty place, or that of the site with the least memory now if it is less than `bytes`. */
static struct site_series **place_for(struct process_series *series, size_t at, double bytes)
{
	struct site_series **least = &series->sites[0];

	for (int i = 0; i < HISTORY_SITES; i++) {
		if (!series->sites[i])
			return &series->sites[i];
		if (bytes_now(series->sites[i], at) < bytes_now(*least, at))
			least = &series->sites[i];
	}
	return bytes_now(*least, at) < bytes ? least : NULL;
}

static void add_site(struct history *history, struct process_series *series,
		     const struct live_site *site)
{
	size_t at = latest(history);
	struct site_series **found = find_site(series, key_of(site));

	if (!found) {
		found = place_for(series, at, (double)site->bytes);
		if (found && !*found)
			*found = take_room(history, sizeof(**found));
		if (!found || !*found)
			return;
		(*found)->stack = key_of(site);
		make_label(site->stack, (*found)->label);
		fill_unknown((*found)->bytes, HISTORY_POINTS);
	}
	(*found)->bytes[at] = (double)site->bytes;
}

/* Sites that are followed and have no live memory now have 0. */
static void add_sites(struct history *history, struct process_series *series,
		      const struct process *process)
{
	for (size_t i = 0; i < process->live_site_count; i++) {
		struct site_series **found = find_site(series, key_of(&process->live_sites[i]));

		if (found)
			(*found)->bytes[latest(history)] = (double)process->live_sites[i].bytes;
	}
	for (int i = 0; i < HISTORY_SITES; i++)
		if (series->sites[i] && isnan(series->sites[i]->bytes[latest(history)]))
			series->sites[i]->bytes[latest(history)] = 0;
	/* They are ordered: the largest come first. */
	for (size_t i = 0; i < process->live_site_count && i < HISTORY_SITES; i++)
		add_site(history, series, &process->live_sites[i]);
}

/* --- a point of a process --- */

static double proved_idle(const struct history_input *input, const struct process *process)
{
	struct verdict verdict;

	if (!input->verdicts)
		return NAN;
	verdict__judge_latest(input->verdicts, input->model, process, &verdict);
	return verdict.window_ns && verdict.profile && verdict.idle != SHARE_UNKNOWN ?
		       verdict.idle :
		       NAN;
}

static void add_process(struct history *history, const struct history_input *input,
			const struct process *process)
{
	struct process_series *series = find_series(history, process->serial);
	size_t at = latest(history);
	struct process_rate rate;

	if (!series)
		series = add_series(history, process, input->model->now_ns);
	if (!series)
		return;
	series->seen_ns = input->model->now_ns;
	memcpy(series->comm, process->comm, sizeof(series->comm));
	if (input->model->sections & SECTION_MEMORY)
		series->values[LIVE_BYTES][at] =
			(double)process__held_bytes(process, &series->at_least);
	process_rates__of(input->rates, process, &rate);
	if (rate.interval_ns) {
		series->values[LAUNCHES][at] = rate.launches;
		series->values[COPIES][at] = rate.copies;
		series->values[COPY_BYTES][at] = rate.to_device + rate.to_host;
		series->values[WAITING][at] = rate.waiting;
	}
	series->values[IDLE][at] = proved_idle(input, process);
	add_sites(history, series, process);
}

void history__add(struct history *history, const struct history_input *input)
{
	const struct model *model = input->model;

	if (model->broken_off ||
	    (history->count && history->times_ns[latest(history)] >= model->now_ns))
		return;
	begin_point(history, model);
	for (size_t i = 0; i < model->process_count; i++)
		if (!model->processes[i].ended)
			add_process(history, input, &model->processes[i]);
}

/* --- JSON --- */

size_t history__points(const struct history *history)
{
	return history->count;
}

size_t history__bytes(const struct history *history)
{
	return history->bytes;
}

uint64_t history__left_out(const struct history *history)
{
	return history->left_out;
}

static void write_values(const struct history *history, struct json *j, const char *key,
			 const double *values)
{
	json__key(j, key);
	json__array_begin(j);
	for (size_t i = 0; i < history->count; i++)
		json__double(j, values[(history->first + i) % HISTORY_POINTS]);
	json__array_end(j);
}

void history__write(const struct history *history, struct json *j)
{
	write_values(history, j, "times", history->walls);
	json__key(j, "processes");
	json__array_begin(j);
	for (size_t i = 0; i < history->series_count; i++) {
		const struct process_series *series = history->series[i];

		json__object_begin(j);
		json__key_u64(j, "id", series->serial);
		json__key_i64(j, "pid", series->pid);
		json__key_string(j, "comm", series->comm);
		json__key_bool(j, "memory_at_least", series->at_least);
		for (int value = 0; value < VALUES; value++)
			write_values(history, j, value_names[value], series->values[value]);
		json__object_end(j);
	}
	json__array_end(j);
	json__key_u64(j, "left_out", history->left_out);
}

void history__write_sites(const struct history *history, uint64_t serial, struct json *j)
{
	const struct process_series *series = find_series(history, serial);

	json__key(j, "site_history");
	json__object_begin(j);
	write_values(history, j, "times", history->walls);
	json__key(j, "sites");
	json__array_begin(j);
	for (int i = 0; series && i < HISTORY_SITES; i++) {
		if (!series->sites[i])
			continue;
		json__object_begin(j);
		json__key_string(j, "label", series->sites[i]->label);
		write_values(history, j, "memory_bytes", series->sites[i]->bytes);
		json__object_end(j);
	}
	json__array_end(j);
	json__object_end(j);
}
