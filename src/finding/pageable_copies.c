// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies of pageable host memory: the driver copies through a buffer of its own, and the thread
 * waits, even in asynchronous copies. Uses the counters by function, so it needs no profile.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "base/saturate.h"
#include "base/text_stream.h"
#include "finding/copy_sum.h"
#include "finding/pcie.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "api/api.h"

enum {
	LEAST_SHARE,
	LEAST_BYTES,
};

/* Fewer bytes, or smaller copies, are not enough to determine a rate. */
#define RATE_BYTES 16777216
#define RATE_BYTES_A_CALL 262144

/* Where a reference rate comes from. */
enum reference {
	REFERENCE_NONE = 0,
	/* synchronous copies of pinned memory in the same process and direction */
	REFERENCE_PINNED,
	REFERENCE_COVERED, /* asynchronous copies: a lower bound */
	REFERENCE_LINK,
	REFERENCES,
};

/* One direction. */
struct way {
	struct copy_sum pageable[2]; /* [0 sync, 1 async] */
	struct copy_sum pinned;	     /* synchronous */
	/* there are asynchronous copies that are not pageable, or not known to be */
	bool others;
	/* lower bound for asynchronous copies, from the waits that covered them; 0: unknown */
	double least_rate;
	enum reference reference;
	double reference_rate; /* bytes per second */
};

static const char *const assumptions[REFERENCES] = {
	[REFERENCE_PINNED] = "the bytes, once pinned, are copied as fast as this process's "
			     "synchronous copies of "
			     "pinned memory in the same direction",
	[REFERENCE_COVERED] = "the bytes, once pinned, are copied as fast as this process's "
			      "asynchronous copies in "
			      "the same direction at least were",
	[REFERENCE_LINK] =
		"the bytes, once pinned, are copied at 80 % of the nominal rate of the GPU's link",
};

static bool reports_rate(uint64_t calls, uint64_t bytes)
{
	return bytes >= RATE_BYTES && bytes >= calls * RATE_BYTES_A_CALL;
}

static struct copy_sum pageable(const struct way *way)
{
	const struct copy_sum *sync = &way->pageable[0], *async = &way->pageable[1];

	return (struct copy_sum){sync->calls + async->calls,
				 saturate__sum(sync->bytes, async->bytes), sync->ns + async->ns};
}

/* --- rates --- */

static bool is_copy_of(const struct function_totals *totals, enum copy_kind kind)
{
	return totals->row < api_function_count &&
	       api_functions[totals->row].desc.operation == OP_COPY && totals->kind == kind &&
	       !(totals->flags & TALLY_CAPTURED);
}

/* A lower bound below the rate of the pageable copies gives no information. */
static bool reports_more(const struct covered_totals *covered, const struct way *way)
{
	struct copy_sum known = {covered->calls, covered->bytes, covered->ns}, own = pageable(way);

	return reports_rate(known.calls, known.bytes) &&
	       copy_sum__rate(&known) > copy_sum__rate(&own);
}

static void find_reference(struct way *way, const struct model *model,
			   const struct process *process, enum copy_kind kind)
{
	const struct covered_totals *covered = &process->covered[kind];

	if (reports_rate(way->pinned.calls, way->pinned.bytes) && way->pinned.ns) {
		way->reference = REFERENCE_PINNED;
		way->reference_rate = copy_sum__rate(&way->pinned);
	} else if (!way->pageable[1].calls && reports_more(covered, way)) {
		way->reference = REFERENCE_COVERED;
		way->reference_rate = (double)covered->bytes * 1e9 / (double)covered->ns;
	} else if (pcie__bandwidth(model, process) > 0) {
		way->reference = REFERENCE_LINK;
		way->reference_rate = pcie__bandwidth(model, process);
	}
}

static struct way look_at(const struct model *model, const struct process *process,
			  enum copy_kind kind)
{
	const struct covered_totals *covered = &process->covered[kind];
	struct way way = {0};

	for (size_t i = 0; i < process->function_count; i++) {
		const struct function_totals *totals = &process->functions[i];
		bool async;

		if (!is_copy_of(totals, kind))
			continue;
		async = api_functions[totals->row].desc.flags & FUNCTION_ASYNC;
		if (totals->flags & TALLY_PAGEABLE)
			copy_sum__add(&way.pageable[async], totals->calls, totals->bytes,
				      totals->ns);
		else if ((totals->flags & TALLY_PINNED) && !async)
			copy_sum__add(&way.pinned, totals->calls, totals->bytes, totals->ns);
		else if (async && totals->calls)
			way.others = true;
	}
	if (covered->ns && !way.others)
		way.least_rate = (double)covered->bytes * 1e9 / (double)covered->ns;
	find_reference(&way, model, process, kind);
	return way;
}

/* --- the finding --- */

static double saved_ns(const struct way *way)
{
	struct copy_sum sum = pageable(way);
	double per_second =
		way->reference_rate * (way->reference == REFERENCE_LINK ? LINK_YIELD : 1);
	double then = per_second ? (double)sum.bytes * 1e9 / per_second : 0;

	return per_second && (double)sum.ns > then ? (double)sum.ns - then : 0;
}

/*
 * The other direction is included if its rate has the same source, so that one sentence covers
 * both.
 */
static void estimate(struct finding *finding, const struct way *worse, const struct way *other)
{
	double saved = saved_ns(worse);

	if (worse->reference == REFERENCE_NONE)
		return;
	if (other->reference == worse->reference)
		saved += saved_ns(other);
	finding__saving(finding, (uint64_t)saved, assumptions[worse->reference]);
}

/* --- texts --- */

static const char *const directions[2] = {"host to device", "device to host"};

/* The function whose pageable copies took most time; NULL: none. */
static const struct function_totals *worst_function(const struct process *process,
						    size_t *functions)
{
	const struct function_totals *worst = NULL;

	*functions = 0;
	for (size_t i = 0; i < process->function_count; i++) {
		const struct function_totals *totals = &process->functions[i];

		if (!(is_copy_of(totals, COPY_H2D) || is_copy_of(totals, COPY_D2H)) ||
		    !(totals->flags & TALLY_PAGEABLE) || !totals->calls)
			continue;
		++*functions;
		if (!worst || totals->ns > worst->ns)
			worst = totals;
	}
	return worst;
}

/* "cuMemcpyHtoD_v2, host to device": the only such function, or the one with most of the time. */
static int name_function(struct finding *finding, const struct process *process, bool both)
{
	size_t functions;
	const struct function_totals *worst = worst_function(process, &functions);

	if (!worst)
		return 0;
	finding->stack = site_lookup__of_copy(process, worst->row);
	return finding__subject(finding, "%s%s, %s",
				both	      ? "copies in both directions, mostly " :
				functions > 1 ? "copies by several functions, mostly " :
						"",
				site_lookup__function(worst->row),
				directions[worst->kind != COPY_H2D]);
}

static void add_numbers(struct finding *finding, const struct copy_sum *all,
			const struct way ways[2])
{
	static const char *const names[2][5] = {
		{"to_device_bytes", "to_device_ns", "to_device_bandwidth",
		 "to_device_least_bandwidth", "to_device_reference"},
		{"to_host_bytes", "to_host_ns", "to_host_bandwidth", "to_host_least_bandwidth",
		 "to_host_reference"},
	};

	finding__number(finding, "calls", (double)all->calls, UNIT_COUNT);
	finding__number(finding, "bytes", (double)all->bytes, UNIT_BYTES);
	finding__number(finding, "ns", (double)all->ns, UNIT_NS);
	for (int i = 0; i < 2; i++) {
		const struct way *way = &ways[i];
		struct copy_sum sum = pageable(way);

		if (!sum.calls)
			continue;
		finding__number(finding, names[i][0], (double)sum.bytes, UNIT_BYTES);
		finding__number(finding, names[i][1], (double)sum.ns, UNIT_NS);
		if (way->pageable[0].ns)
			finding__number(finding, names[i][2], copy_sum__rate(&way->pageable[0]),
					UNIT_BYTES_PER_SECOND);
		else if (way->least_rate)
			finding__number(finding, names[i][3], way->least_rate,
					UNIT_BYTES_PER_SECOND);
		if (way->reference)
			finding__number(finding, names[i][4], way->reference_rate,
					UNIT_BYTES_PER_SECOND);
	}
}

/*
 * "host to device 4.0 GiB in 400 copies and 2.0 s, at 2.0 GiB/s, compared with 16.0 GiB/s for its
 * pinned copies". The time in asynchronous calls gives no rate.
 */
static void say_way(FILE *out, const struct way *way, const char *direction)
{
	static const char *const words[REFERENCES] = {
		[REFERENCE_NONE] = "",
		[REFERENCE_PINNED] = " for its pinned copies",
		[REFERENCE_COVERED] = " or more for its asynchronous copies",
		[REFERENCE_LINK] = " nominally for the GPU's link",
	};
	struct copy_sum sum = pageable(way);

	if (!sum.calls)
		return;
	fprintf(out, "%s %s %s in %s cop%s and %s", ftell(out) ? ";" : "", direction,
		quantity__bytes((double)sum.bytes).text, quantity__amount((double)sum.calls).text,
		sum.calls == 1 ? "y" : "ies", quantity__time((double)sum.ns).text);
	if (way->pageable[0].ns)
		fprintf(out, ", %s%s", way->pageable[1].calls ? "the synchronous ones at " : "at ",
			quantity__bandwidth(copy_sum__rate(&way->pageable[0])).text);
	else if (way->least_rate)
		fprintf(out, ", at %s at least", quantity__bandwidth(way->least_rate).text);
	if (way->reference)
		fprintf(out, ", compared with %s%s", quantity__bandwidth(way->reference_rate).text,
			words[way->reference]);
}

static int report(struct finding *finding, const struct copy_sum *all, const struct way ways[2])
{
	char *text = NULL;
	size_t size;
	FILE *out = text_stream__open(&text, &size);
	int ret;

	if (!out)
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		say_way(out, &ways[i], directions[i]);
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	ret = finding__evidence(
		finding, "%s in %s copies of unpinned host memory took %s, %s of the time:%s",
		quantity__bytes((double)all->bytes).text, quantity__amount((double)all->calls).text,
		quantity__time((double)all->ns).text, quantity__share(finding->share).text, text);
	free(text);
	return ret;
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	const struct way ways[2] = {look_at(input->model, process, COPY_H2D),
				    look_at(input->model, process, COPY_D2H)};
	const struct copy_sum to_device = pageable(&ways[0]), to_host = pageable(&ways[1]);
	const struct copy_sum all = {to_device.calls + to_host.calls,
				     saturate__sum(to_device.bytes, to_host.bytes),
				     to_device.ns + to_host.ns};
	bool worse = to_host.ns > to_device.ns;
	uint64_t watched_ns = site_lookup__watched_ns(input, process);
	struct finding *finding;
	int ret;

	if (!all.ns || (double)all.bytes < input->thresholds[LEAST_BYTES] ||
	    (double)all.ns < input->thresholds[LEAST_SHARE] * (double)watched_ns)
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding__cost(finding, all.ns, watched_ns);
	estimate(finding, &ways[worse], &ways[!worse]);
	add_numbers(finding, &all, ways);
	ret = name_function(finding, process, to_device.calls && to_host.calls);
	return ret ? ret : report(finding, &all, ways);
}

const struct finding_kind pageable_copies_kind = {
	.id = "pageable-copies",
	.severity = SEVERITY_WARNING,
	.steady = true,
	.every = EVERY_COPY,
	.title = "copies from or to host memory that is not pinned",
	.advice = "The driver copies unpinned memory through a buffer of its own, at a fraction "
		  "of the link's rate, and the call does not return before it has read the "
		  "memory: little overlaps, even with asynchronous copies. Allocate buffers for "
		  "copies with cudaMallocHost, or pin existing ones with cudaHostRegister, once "
		  "and not per copy; in PyTorch use pin_memory=True in the DataLoader and "
		  ".to(device, non_blocking=True). Pinned memory cannot be swapped out: pin the "
		  "buffers, not the data set.",
	.cost = "copies of host memory that is not pinned",
	.thresholds =
		{
			{"share", 0.05, UNIT_SHARE, "minimum share of the watched time"},
			{"bytes", 67108864, UNIT_BYTES, "minimum bytes copied that way"},
		},
	.detect = detect,
};
