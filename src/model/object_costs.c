// SPDX-License-Identifier: BSD-2-Clause
// The device memory that objects take, see object_costs.h.
#include "model/object_costs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/table.h"

/*
 * Kinds in the order in which they explain memory. A kind whose number rises exactly as that of an
 * earlier one explains nothing more. A library's handle comes first: it has streams, events and
 * modules of its own. A context takes hundreds of MiB, so readings with another number of contexts
 * are not compared.
 */
static const uint8_t order[] = {OBJECT_NCCL,	   OBJECT_CUSOLVER, OBJECT_CUDNN,   OBJECT_CUBLAS,
				OBJECT_CUBLASLT,   OBJECT_CUSPARSE, OBJECT_CUFFT,   OBJECT_CURAND,
				OBJECT_GRAPH_EXEC, OBJECT_MODULE,   OBJECT_LIBRARY, OBJECT_STREAM,
				OBJECT_GRAPH,	   OBJECT_EVENT};

#define OBJECTS_LEAST 50
#define HANDLES_LEAST 8

#define COSTED_KINDS (sizeof(order) / sizeof(*order))

/* The share of a kind's variance that earlier kinds must leave unexplained. */
#define OWN_SHARE 1e-3

/* NVML's figure may be older than the objects by this much. */
#define LATE_NS (3 * NS_PER_S)
/* NVML is asked about once a second: more frequent samples have the same figure. */
#define SAMPLE_NS (NS_PER_S / 2)

/* A step of 2 MiB is a uniform error, whose variance is a twelfth of its square. */
#define STEP_VARIANCE ((double)NVML_STEP * (double)NVML_STEP / 12)

struct cost_key {
	uint64_t start_ns;
	int64_t pid;
};

struct cost_reading {
	double untracked;
	double explained; /* the increase so far while objects were being made */
	double peaks[COSTED_KINDS];
};

struct cost_history {
	uint64_t samples; /* of struct object_costs, when the model last had the process */
	struct cost_key key;
	uint64_t peaks[OBJECT_KINDS];
	uint64_t contexts; /* live when the readings began */
	bool based;	   /* `base` is the first reading with a context */
	struct cost_reading base;
	struct cost_reading readings[OBJECT_COST_READINGS];
	size_t count;
	uint64_t skip, skipped; /* samples between two readings */
	uint64_t made_ns;	/* latest sample with new objects; 0: none */
	uint64_t sampled_ns, untracked_ns;
	struct cost_reading latest;
	uint64_t total;
	struct object_cost costs[OBJECT_KINDS];
	UT_hash_handle hh;
};

struct object_costs {
	uint64_t samples;		/* so far */
	struct cost_history *histories; /* a uthash table */
};

struct object_costs *object_costs__new(void)
{
	return calloc(1, sizeof(struct object_costs));
}

void object_costs__free(struct object_costs *costs)
{
	if (!costs)
		return;
	TABLE_CLEAR(costs->histories, free);
	free(costs);
}

/* --- least squares --- */

/* Columns that were made orthogonal, and how they follow from the kinds. */
struct cost_fit {
	size_t used, kinds[COSTED_KINDS]; /* indices in `order` */
	double columns[COSTED_KINDS][OBJECT_COST_READINGS];
	double factors[COSTED_KINDS][COSTED_KINDS]; /* upper triangle, ones on the diagonal */
	double squares[COSTED_KINDS];
	double rest[OBJECT_COST_READINGS];
	double slopes[COSTED_KINDS]; /* of the orthogonal columns */
};

static double product(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

static void subtract(double *from, const double *column, double factor, size_t count)
{
	for (size_t i = 0; i < count; i++)
		from[i] -= factor * column[i];
}

static void centre(double *column, size_t count)
{
	double mean = 0;

	for (size_t i = 0; i < count; i++)
		mean += column[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		column[i] -= mean;
}

/* Adds a kind's column to the fit. Returns false if earlier kinds explain it. */
static bool add_column(struct cost_fit *fit, const struct cost_history *history, size_t kind)
{
	double *column = fit->columns[fit->used], before;

	for (size_t i = 0; i < history->count; i++)
		column[i] = history->readings[i].peaks[kind];
	centre(column, history->count);
	before = product(column, column, history->count);
	for (size_t k = 0; k < fit->used; k++) {
		double factor = product(column, fit->columns[k], history->count) / fit->squares[k];

		fit->factors[k][fit->used] = factor;
		subtract(column, fit->columns[k], factor, history->count);
	}
	fit->squares[fit->used] = product(column, column, history->count);
	if (fit->squares[fit->used] <= OWN_SHARE * before)
		return false;
	fit->slopes[fit->used] =
		product(fit->rest, column, history->count) / fit->squares[fit->used];
	subtract(fit->rest, column, fit->slopes[fit->used], history->count);
	fit->kinds[fit->used++] = kind;
	return true;
}

static double risen(const struct cost_history *history, size_t kind)
{
	return history->readings[history->count - 1].peaks[kind] - history->readings[0].peaks[kind];
}

/* Column `at` of the inverse of the triangle. */
static void invert(const struct cost_fit *fit, size_t row, double *inverse)
{
	memset(inverse, 0, COSTED_KINDS * sizeof(*inverse));
	inverse[row] = 1;
	for (size_t i = row + 1; i < fit->used; i++)
		for (size_t k = row; k < i; k++)
			inverse[i] -= inverse[k] * fit->factors[k][i];
}

static void keep_cost(struct cost_history *history, const struct cost_fit *fit, size_t at,
		      double variance)
{
	struct object_cost *cost = &history->costs[order[fit->kinds[at]]];
	double inverse[COSTED_KINDS], bytes = 0, spread = 0;

	if (risen(history, fit->kinds[at]) < object_costs__least(order[fit->kinds[at]]))
		return;
	invert(fit, at, inverse);
	for (size_t i = at; i < fit->used; i++) {
		bytes += inverse[i] * fit->slopes[i];
		spread += inverse[i] * inverse[i] * variance / fit->squares[i];
	}
	cost->known = true;
	cost->bytes = bytes > 0 ? bytes : 0;
	cost->error = 2 * sqrt(spread);
	/* Steps of one reading after the other are not independent. */
	if (cost->error < (double)NVML_STEP / risen(history, fit->kinds[at]))
		cost->error = (double)NVML_STEP / risen(history, fit->kinds[at]);
}

static void fit_costs(struct cost_history *history)
{
	struct cost_fit fit = {0};
	double variance;

	memset(history->costs, 0, sizeof(history->costs));
	for (size_t i = 0; i < history->count; i++)
		fit.rest[i] = history->readings[i].explained;
	centre(fit.rest, history->count);
	for (size_t kind = 0; kind < COSTED_KINDS; kind++)
		if (risen(history, kind) > 0 && !add_column(&fit, history, kind))
			history->costs[order[kind]].included = true;
	if (history->count < fit.used + 3)
		return;
	variance = product(fit.rest, fit.rest, history->count) /
		   (double)(history->count - fit.used - 1);
	if (variance < STEP_VARIANCE)
		variance = STEP_VARIANCE;
	for (size_t at = 0; at < fit.used; at++)
		keep_cost(history, &fit, at, variance);
}

/* --- readings --- */

/* `at_ns`: when it was computed; 0: unknown. False: NVML does not report it. */
static bool untracked_of(const struct process *process, uint64_t *bytes, uint64_t *at_ns)
{
	bool known = false;

	*bytes = *at_ns = 0;
	for (size_t i = 0; i < process->gpu_count; i++) {
		if (process->gpus[i].untracked_bytes == GPU_UNKNOWN_BYTES)
			continue;
		*bytes += process->gpus[i].untracked_bytes;
		if (process->gpus[i].untracked_ns > *at_ns)
			*at_ns = process->gpus[i].untracked_ns;
		known = true;
	}
	return known;
}

static void halve(struct cost_history *history)
{
	for (size_t i = 0; i < OBJECT_COST_READINGS / 2; i++)
		history->readings[i] = history->readings[2 * i];
	history->count = OBJECT_COST_READINGS / 2;
	history->skip = 2 * history->skip + 1;
}

static void add_reading(struct cost_history *history)
{
	if (history->skipped++ < history->skip)
		return;
	history->skipped = 0;
	if (history->count == OBJECT_COST_READINGS)
		halve(history);
	history->readings[history->count++] = history->latest;
	fit_costs(history);
}

/* What grows while no object is made, such as a library's memory, has another cause. */
static void explain(struct cost_history *history, const struct cost_reading *before,
		    uint64_t now_ns)
{
	struct cost_reading *latest = &history->latest;

	for (size_t i = 0; i < COSTED_KINDS; i++)
		if (latest->peaks[i] > before->peaks[i])
			history->made_ns = now_ns;
	latest->explained = before->explained;
	if (history->made_ns && now_ns - history->made_ns <= LATE_NS)
		latest->explained += latest->untracked - before->untracked;
}

/*
 * A figure that NVML has not renewed says nothing about the objects made since. It is not renewed
 * while NVML answers late and the process allocates all the time.
 */
static bool is_stale(const struct cost_history *history, uint64_t at_ns)
{
	return at_ns && at_ns == history->untracked_ns;
}

static void sample_process(struct cost_history *history, const struct process *process,
			   uint64_t untracked, uint64_t at_ns, uint64_t now_ns)
{
	const struct cost_reading before = history->latest;
	uint64_t contexts = process->objects[OBJECT_CONTEXT].live;

	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		if (process->objects[kind].live > history->peaks[kind])
			history->peaks[kind] = process->objects[kind].live;
	if (is_stale(history, at_ns) ||
	    (history->based && now_ns - history->sampled_ns < SAMPLE_NS))
		return;
	history->untracked_ns = at_ns;
	history->sampled_ns = now_ns;
	history->total = untracked;
	history->latest.untracked = (double)untracked;
	for (size_t i = 0; i < COSTED_KINDS; i++)
		history->latest.peaks[i] = (double)history->peaks[order[i]];
	if (!history->based || contexts > history->contexts) {
		history->based = untracked > 0;
		history->base = history->latest;
		history->contexts = contexts;
		history->count = 0;
		history->made_ns = 0;
	} else {
		explain(history, &before, now_ns);
	}
	add_reading(history);
}

int object_costs__sample(struct object_costs *costs, const struct model *model)
{
	costs->samples++;
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];
		struct cost_key key = {.start_ns = process->start_ns, .pid = process->pid};
		struct cost_history *history = TABLE_FIND(costs->histories, key, &key);
		uint64_t untracked, at_ns;

		if (history)
			history->samples = costs->samples;
		if (process->ended || !untracked_of(process, &untracked, &at_ns))
			continue;
		if (!history)
			history = TABLE_TAKE(costs->histories, key, &key);
		if (!history)
			return -ENOMEM;
		history->samples = costs->samples;
		sample_process(history, process, untracked, at_ns, model->now_ns);
	}
	/* The model no longer has these processes. */
	TABLE_DROP(costs->histories, history, history->samples != costs->samples, free);
	return 0;
}

/* --- answers --- */

unsigned int object_costs__least(enum object_kind kind)
{
	return kind >= OBJECT_CUBLAS ? HANDLES_LEAST : OBJECTS_LEAST;
}

static const struct cost_history *find(const struct object_costs *costs,
				       const struct process *process)
{
	struct cost_key key = {.start_ns = process->start_ns, .pid = process->pid};

	return TABLE_FIND(costs->histories, key, &key);
}

struct object_cost object_costs__of(const struct object_costs *costs, const struct process *process,
				    enum object_kind kind)
{
	const struct cost_history *history = find(costs, process);

	return history ? history->costs[kind] : (struct object_cost){0};
}

/* What the objects of the first reading took is not the context's. */
static struct object_part context_part(const struct cost_history *history)
{
	struct object_part part = {
		.known = true, .bytes = history->base.untracked, .error = (double)NVML_STEP};

	for (size_t i = 0; i < COSTED_KINDS; i++) {
		const struct object_cost *cost = &history->costs[order[i]];

		part.bytes -= cost->bytes * history->base.peaks[i];
		part.error += cost->error * history->base.peaks[i];
	}
	if (part.bytes < 0)
		part.bytes = 0;
	return part;
}

struct untracked_split object_costs__split(const struct object_costs *costs,
					   const struct process *process)
{
	const struct cost_history *history = find(costs, process);
	struct untracked_split split = {0};

	if (!history)
		return split;
	split.known = true;
	split.total = history->total;
	split.rest = (struct object_part){.known = true, .bytes = (double)history->total};
	/* Attached later, the first reading has whatever the process had made by then. */
	if (history->based && !process->since_attach)
		split.context = context_part(history);
	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		const struct object_cost *cost = &history->costs[kind];
		double peak = (double)history->peaks[kind];

		split.kinds[kind] = (struct object_part){
			.known = cost->known,
			.bytes = cost->bytes * peak,
			.error = cost->error * peak,
		};
		split.rest.bytes -= split.kinds[kind].bytes;
		split.rest.error += split.kinds[kind].error;
	}
	split.rest.bytes -= split.context.bytes;
	split.rest.error += split.context.error;
	if (split.rest.bytes < 0)
		split.rest.bytes = 0;
	return split;
}
