// SPDX-License-Identifier: BSD-2-Clause
// Small copies, and what the same bytes would cost in large ones.
#include <errno.h>
#include <stdio.h>

#include "base/quantity.h"
#include "finding/copy_sum.h"
#include "finding/pcie.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "api/api.h"

enum {
	LEAST_SHARE,
	LEAST_CALLS,
};

#define SMALL_SIZES 16 /* size classes below 64 KiB, as the texts here say */
/* a copy of less than 64 KiB takes microseconds, tens of them if it is pageable */
#define SMALL_OWN_NS 200000
#define BATCH_BYTES 1048576.0

/* Where the rate for a batch's bytes comes from. */
enum rate_source {
	RATE_UNKNOWN = 0,
	RATE_LARGEST, /* the process's largest synchronous copies in that direction */
	RATE_LINK,
	RATE_SOURCES,
};

#define USED(source) (1u << (source))

#define BATCHED \
	"the small copies become copies of 1 MiB, each at the cost of the shortest one now plus " \
	"the bytes at "
#define OF_LARGEST "the rate of the largest synchronous copies in that direction"
#define MIXED \
	OF_LARGEST " or the link's, if one is known; otherwise the GPU's part of asynchronous " \
		   "copies delays nothing"
#define OF_LINK "80 % of the nominal rate of the GPU's link"

/* Indexed by the sources that were used. */
static const char *const assumptions[1u << RATE_SOURCES] = {
	[USED(RATE_LARGEST)] = BATCHED OF_LARGEST,
	[USED(RATE_LINK)] = BATCHED OF_LINK,
	[USED(RATE_LARGEST) | USED(RATE_LINK)] = BATCHED OF_LARGEST ", or else at " OF_LINK,
	[USED(RATE_UNKNOWN)] = "the small copies become copies of 1 MiB, each at the cost of the "
			       "shortest one now; moving the "
			       "bytes, which asynchronous copies leave to the GPU at an unknown "
			       "rate, delays nothing",
	[USED(RATE_UNKNOWN) | USED(RATE_LARGEST)] = BATCHED MIXED,
	[USED(RATE_UNKNOWN) | USED(RATE_LINK)] = BATCHED MIXED,
	[USED(RATE_UNKNOWN) | USED(RATE_LARGEST) | USED(RATE_LINK)] = BATCHED MIXED,
};

/* The cost of one copy of 1 MiB. */
struct batch {
	double call_ns, bytes_ns;
	enum rate_source source;
};

/* Small copies of one kind, mode and host memory type, over all devices. */
struct small_kind {
	struct copy_size_key key;
	struct copy_sum small;
	struct batch batch;
};

struct small_copies {
	struct copy_sum small, all;
	struct small_kind worst; /* the one with the most time */
	size_t kinds;
	unsigned int sources; /* USED() bits of the sources behind the saving */
	bool has_saving;
	double saving_ns;
};

/* --- current cost --- */

static const char *direction(uint8_t kind)
{
	static const char *const words[COPY_KINDS] = {
		[COPY_H2H] = "host to host",
		[COPY_H2D] = "host to device",
		[COPY_D2H] = "device to host",
		[COPY_D2D] = "on a device",
		[COPY_DEFAULT] = "of any direction",
		[COPY_P2P] = "device to device",
		[COPY_SET] = "sets",
	};

	return kind < COPY_KINDS ? words[kind] : "of any direction";
}

/*
 * A copy of a result, or a stream-ordered one, that takes longer has waited for earlier work: that
 * is not a cost of copying.
 */
static uint64_t own_ns(const struct profile_copies *copies, int size)
{
	const struct copy_size_record *record = &copies->record;
	uint64_t most = record->calls[size] * SMALL_OWN_NS;

	if ((copies->key.kind != COPY_D2H && !copies->key.async) || size >= SMALL_SIZES)
		return record->ns[size];
	return record->ns[size] > most ? most : record->ns[size];
}

static struct copy_sum sum_sizes(const struct profile_copies *copies, int end)
{
	const struct copy_size_record *record = &copies->record;
	struct copy_sum sum = {0};

	for (int size = 0; size < end; size++)
		copy_sum__add(&sum, record->calls[size], record->bytes[size], own_ns(copies, size));
	return sum;
}

static bool is_same_kind(const struct copy_size_key *a, const struct copy_size_key *b)
{
	return a->kind == b->kind && !a->async == !b->async && a->host == b->host;
}

/* The average cost of the kind's shortest copies, in nanoseconds. */
static double cost_of_call(const struct profile *profile, const struct copy_size_key *key)
{
	double least = 0;

	for (size_t i = 0; i < profile->copy_count; i++) {
		const struct copy_size_record *record = &profile->copies[i].record;

		if (!is_same_kind(&profile->copies[i].key, key))
			continue;
		for (int size = 0; size < SMALL_SIZES; size++) {
			double mean = record->calls[size] ? (double)record->ns[size] /
								    (double)record->calls[size] :
							    0;

			if (mean && (!least || mean < least))
				least = mean;
		}
	}
	return least;
}

/* --- cost as batches --- */

/*
 * The rate of the kind's largest synchronous copies that are not small, in bytes per second; 0:
 * there are none.
 */
static double rate_of_largest(const struct profile *profile, uint8_t kind)
{
	for (int size = COPY_SIZES - 1; size >= SMALL_SIZES; size--) {
		struct copy_sum sum = {0};

		for (size_t i = 0; i < profile->copy_count; i++) {
			const struct profile_copies *copies = &profile->copies[i];
			const struct copy_size_record *record = &copies->record;

			if (copies->key.kind == kind && !copies->key.async)
				copy_sum__add(&sum, record->calls[size], record->bytes[size],
					      record->ns[size]);
		}
		if (sum.ns)
			return copy_sum__rate(&sum);
	}
	return 0;
}

/* A link's nominal rate is an upper bound, whatever the time in calls suggests. */
static struct batch batch_of(const struct finding_input *input, const struct process *process,
			     const struct copy_size_key *key)
{
	struct batch batch = {.call_ns = cost_of_call(process->profile, key),
			      .source = RATE_LARGEST};
	bool linked = key->kind == COPY_H2D || key->kind == COPY_D2H;
	double link = linked ? pcie__bandwidth(input->model, process) : 0;
	double rate = rate_of_largest(process->profile, key->kind);

	if (link && (!rate || rate > link)) {
		batch.source = RATE_LINK;
		rate = link * LINK_YIELD;
	}
	if (rate)
		batch.bytes_ns = BATCH_BYTES * 1e9 / rate;
	else
		batch.source = RATE_UNKNOWN;
	return batch;
}

/* Without a rate, only if moving the bytes is not part of the call. */
static bool can_save(const struct small_kind *kind)
{
	return kind->batch.source != RATE_UNKNOWN ||
	       (kind->key.async && kind->key.host != COPY_HOST_PAGEABLE);
}

static void save(struct small_copies *sums, const struct small_kind *kind)
{
	double bytes = (double)kind->small.bytes;
	double then = (bytes + BATCH_BYTES - 1) / BATCH_BYTES * kind->batch.call_ns +
		      bytes / BATCH_BYTES * kind->batch.bytes_ns;

	if (!can_save(kind))
		return;
	sums->has_saving = true;
	sums->sources |= USED(kind->batch.source);
	sums->saving_ns += (double)kind->small.ns > then ? (double)kind->small.ns - then : 0;
}

static void add_kind(struct small_copies *sums, const struct finding_input *input,
		     const struct process *process, const struct copy_size_key *key)
{
	struct small_kind kind = {.key = *key};

	for (size_t i = 0; i < process->profile->copy_count; i++) {
		const struct profile_copies *copies = &process->profile->copies[i];
		struct copy_sum small;

		if (!is_same_kind(&copies->key, key))
			continue;
		small = sum_sizes(copies, SMALL_SIZES);
		copy_sum__add(&kind.small, small.calls, small.bytes, small.ns);
	}
	if (!kind.small.calls)
		return;
	kind.batch = batch_of(input, process, key);
	copy_sum__add(&sums->small, kind.small.calls, kind.small.bytes, kind.small.ns);
	save(sums, &kind);
	if (!sums->kinds++ || kind.small.ns > sums->worst.small.ns)
		sums->worst = kind;
}

/* Whether it is the first of its kind: later ones are for further devices. */
static bool is_first(const struct profile *profile, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_same_kind(&profile->copies[i].key, &profile->copies[index].key))
			return false;
	return true;
}

static void sum_up(struct small_copies *sums, const struct finding_input *input,
		   const struct process *process)
{
	const struct profile *profile = process->profile;

	for (size_t i = 0; i < profile->copy_count; i++) {
		struct copy_sum all = sum_sizes(&profile->copies[i], COPY_SIZES);

		if (profile->copies[i].key.kind == COPY_SET)
			continue;
		copy_sum__add(&sums->all, all.calls, all.bytes, all.ns);
		if (is_first(profile, i))
			add_kind(sums, input, process, &profile->copies[i].key);
	}
}

/* --- texts --- */

static bool is_copy_site(const struct call_site *site, const void *arg)
{
	(void)arg;
	return site->row < api_function_count && api_functions[site->row].desc.operation == OP_COPY;
}

static int name_kind(struct finding *finding, const struct small_copies *sums)
{
	const struct copy_size_key *worst = &sums->worst.key;

	return finding__subject(
		finding, "%s%s, %s%s", sums->kinds > 1 ? "copies of several kinds, mostly " : "",
		direction(worst->kind), worst->async ? "asynchronous" : "synchronous",
		worst->host == COPY_HOST_PINNED	  ? ", pinned" :
		worst->host == COPY_HOST_PAGEABLE ? ", not pinned" :
						    "");
}

struct batch_text {
	char text[192];
};

/* "; a mebibyte of them takes 12.8 ms, in one copy it would take 107 us" */
static struct batch_text report_batch(struct finding *finding, const struct small_copies *sums)
{
	const struct small_kind *worst = &sums->worst;
	double now = (double)worst->small.ns / (double)worst->small.bytes * BATCH_BYTES;
	double then = worst->batch.call_ns + worst->batch.bytes_ns;
	struct batch_text text = {""};

	if (!can_save(worst) || !worst->small.bytes)
		return text;
	finding__number(finding, "ns_per_mebibyte", now, UNIT_NS);
	finding__number(finding, "batch_ns", then, UNIT_NS);
	snprintf(text.text, sizeof(text.text),
		 "; 1 MiB of %s takes %s this way, and would take %s in one copy%s",
		 sums->kinds > 1 ? "the costliest ones" : "them", quantity__time(now).text,
		 quantity__time(then).text,
		 worst->batch.source == RATE_UNKNOWN ? " plus the time for its bytes" : "");
	return text;
}

static int report(struct finding *finding, const struct process *process,
		  const struct small_copies *sums)
{
	const struct copy_sum *small = &sums->small;
	const struct call_site *site;
	int ret = name_kind(finding, sums);

	finding__number(finding, "calls", (double)small->calls, UNIT_COUNT);
	finding__number(finding, "bytes", (double)small->bytes, UNIT_BYTES);
	finding__number(finding, "ns", (double)small->ns, UNIT_NS);
	finding__number(finding, "bytes_per_call", (double)small->bytes / (double)small->calls,
			UNIT_BYTES);
	finding__number(finding, "ns_per_call", (double)small->ns / (double)small->calls, UNIT_NS);
	finding__number(finding, "all_copies", (double)sums->all.calls, UNIT_COUNT);
	finding__number(finding, "kinds", (double)sums->kinds, UNIT_COUNT);
	if (sums->has_saving)
		finding__saving(finding, (uint64_t)sums->saving_ns, assumptions[sums->sources]);
	/* Call sites do not know sizes: use the main one only if the copies are mostly small. */
	site = site_lookup__most(process, sums->worst.key.async ? SITE_COPY : SITE_WAIT,
				 is_copy_site, NULL);
	finding->stack = site && small->ns > sums->all.ns / 2 ? site->stack : NULL;
	if (ret)
		return ret;
	return finding__evidence(
		finding,
		"%s of %s copies were smaller than 64 KiB, %s and %s each on average: "
		"%s in %s, %s of the time%s",
		quantity__amount((double)small->calls).text,
		quantity__amount((double)sums->all.calls).text,
		quantity__bytes((double)small->bytes / (double)small->calls).text,
		quantity__time((double)small->ns / (double)small->calls).text,
		quantity__bytes((double)small->bytes).text, quantity__time((double)small->ns).text,
		quantity__share(finding->share).text, report_batch(finding, sums).text);
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	uint64_t watched_ns = site_lookup__watched_ns(input, process);
	struct small_copies sums = {0};
	struct finding *finding;

	if (!process->profile)
		return 0;
	sum_up(&sums, input, process);
	if (!sums.kinds || (double)sums.small.calls < input->thresholds[LEAST_CALLS] ||
	    (double)sums.small.ns < input->thresholds[LEAST_SHARE] * (double)watched_ns)
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding__cost(finding, sums.small.ns, watched_ns);
	return report(finding, process, &sums);
}

const struct finding_kind small_copies_kind = {
	.id = "small-copies",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.steady = true,
	.every = EVERY_COPY,
	.title = "many small copies",
	.advice = "Each copy costs microseconds, however small it is. Put data that belongs "
		  "together into one buffer and copy that once; keep small values on the device, "
		  "or pass them as kernel parameters (up to 32,764 bytes since CUDA 12.1, 4,096 "
		  "before); cudaMemcpyBatchAsync, of CUDA 12.8, takes many copies in one call.",
	.cost = "copies of less than 64 KiB",
	.thresholds =
		{
			{"share", 0.05, UNIT_SHARE, "minimum share of the watched time"},
			{"calls", 1000, UNIT_COUNT, "minimum copies of less than 64 KiB"},
		},
	.detect = detect,
};
