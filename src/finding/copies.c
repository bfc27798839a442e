// SPDX-License-Identifier: BSD-2-Clause
// Copies that are small, and copies for nothing.
#include <errno.h>

#include "base/quantity.h"
#include "finding/link.h"
#include "finding/rules.h"
#include "finding/where.h"
#include "model/api.h"

/* Of both. */
enum {
	LEAST_SHARE,
	LEAST_CALLS,
};

static const char *direction(uint8_t kind)
{
	static const char *const words[COPY_KINDS] = {
		[COPY_H2H] = "host to host", [COPY_H2D] = "host to device",   [COPY_D2H] = "device to host",
		[COPY_D2D] = "on a device",  [COPY_DEFAULT] = "of any direction", [COPY_P2P] = "device to device",
		[COPY_SET] = "sets",
	};

	return kind < COPY_KINDS ? words[kind] : "of any direction";
}

/* Of one kind and mode, or more. */
struct sum {
	uint64_t calls, bytes, ns;
};

static void add(struct sum *sum, uint64_t calls, uint64_t bytes, uint64_t ns)
{
	sum->calls += calls;
	sum->bytes += bytes;
	sum->ns += ns;
}

static double rate(const struct sum *sum)
{
	return sum->ns ? (double)sum->bytes * 1e9 / (double)sum->ns : 0;
}

/* --- small-copies --- */

#define SMALL_SIZES 16 /* those below 64 KiB */
#define BATCH_BYTES 1048576.0

static const char batched[] = "the small copies go in copies of 1 MiB, each at the cost of the shortest now and "
			      "the bytes at the rate of the largest copies of that direction, or at 80 % of "
			      "the link's nominal rate";

struct small_copies {
	struct sum small, all;
	const struct account_copies *worst;
	uint64_t worst_ns;
	bool has_saving;
	double saving_ns;
};

static struct sum sum_sizes(const struct copy_size_record *record, int end)
{
	struct sum sum = {0};

	for (int size = 0; size < end; size++)
		add(&sum, record->calls[size], record->bytes[size], record->ns[size]);
	return sum;
}

/* What the shortest cost on average, in nanoseconds. */
static double cost_of_call(const struct copy_size_record *record)
{
	double least = 0, mean;

	for (int size = 0; size < SMALL_SIZES; size++) {
		if (!record->calls[size])
			continue;
		mean = (double)record->ns[size] / (double)record->calls[size];
		if (!least || mean < least)
			least = mean;
	}
	return least;
}

/* The rate of the largest synchronous copies of a kind that are not small, bytes a second; 0: there are none. */
static double rate_of_largest(const struct account *account, uint8_t kind)
{
	for (int size = COPY_SIZES - 1; size >= SMALL_SIZES; size--) {
		struct sum sum = {0};

		for (size_t i = 0; i < account->copy_count; i++) {
			const struct account_copies *copies = &account->copies[i];

			if (copies->key.kind == kind && !copies->key.async)
				add(&sum, copies->record.calls[size], copies->record.bytes[size], copies->record.ns[size]);
		}
		if (sum.ns)
			return rate(&sum);
	}
	return 0;
}

/* What the same bytes would take in copies of 1 MiB; negative: not known. */
static double batched_ns(const struct finding_input *input, const struct process *process,
			 const struct account_copies *copies, const struct sum *small)
{
	uint8_t kind = copies->key.kind;
	double calls = ((double)small->bytes + BATCH_BYTES - 1) / BATCH_BYTES * cost_of_call(&copies->record);
	double per_second;

	/* Such a copy is only put on its stream, whatever its size. */
	if (copies->key.async && copies->key.host != COPY_HOST_PAGEABLE)
		return calls;
	per_second = rate_of_largest(process->account, kind);
	if (!per_second && (kind == COPY_H2D || kind == COPY_D2H))
		per_second = link__rate(input->model, process) * LINK_YIELD;
	return per_second ? calls + (double)small->bytes * 1e9 / per_second : -1;
}

static void add_small(struct small_copies *sums, const struct finding_input *input, const struct process *process,
		      const struct account_copies *copies)
{
	struct sum small = sum_sizes(&copies->record, SMALL_SIZES);
	struct sum all = sum_sizes(&copies->record, COPY_SIZES);
	double then;

	if (copies->key.kind == COPY_SET)
		return;
	add(&sums->all, all.calls, all.bytes, all.ns);
	if (!small.calls)
		return;
	add(&sums->small, small.calls, small.bytes, small.ns);
	if (!sums->worst || small.ns > sums->worst_ns) {
		sums->worst = copies;
		sums->worst_ns = small.ns;
	}
	then = batched_ns(input, process, copies, &small);
	if (then < 0)
		return;
	sums->has_saving = true;
	sums->saving_ns += (double)small.ns > then ? (double)small.ns - then : 0;
}

static bool is_copy_site(const struct call_site *site, const void *arg)
{
	(void)arg;
	return site->row < api_function_count && api_functions[site->row].desc.operation == OP_COPY;
}

static int tell_small(struct finding *finding, const struct process *process, const struct small_copies *sums)
{
	const struct sum *small = &sums->small;
	const struct copy_size_key *worst = &sums->worst->key;
	const struct call_site *site;
	int ret;

	finding__number(finding, "calls", (double)small->calls, UNIT_COUNT);
	finding__number(finding, "bytes", (double)small->bytes, UNIT_BYTES);
	finding__number(finding, "ns", (double)small->ns, UNIT_NS);
	finding__number(finding, "bytes_per_call", (double)small->bytes / (double)small->calls, UNIT_BYTES);
	finding__number(finding, "ns_per_call", (double)small->ns / (double)small->calls, UNIT_NS);
	finding__number(finding, "all_copies", (double)sums->all.calls, UNIT_COUNT);
	if (sums->has_saving)
		finding__saving(finding, (uint64_t)sums->saving_ns, batched);
	/* Sites know no sizes: it is theirs where copies are mostly small. */
	site = where__most(process, worst->async ? SITE_COPY : SITE_WAIT, is_copy_site, NULL);
	finding->stack = site && small->ns > sums->all.ns / 2 ? site->stack : NULL;
	ret = finding__subject(finding, "%s, %s%s", direction(worst->kind), worst->async ? "asynchronous" : "synchronous",
			       worst->host == COPY_HOST_PINNED ? ", pinned" :
			       worst->host == COPY_HOST_PAGEABLE ? ", not pinned" : "");
	return ret ? ret : finding__evidence(finding,
					     "%s of %s copies were of less than 64 KiB, %s and %s each on average: "
					     "%s in %s, %s of the time",
					     quantity__count(small->calls).text, quantity__count(sums->all.calls).text,
					     quantity__bytes((double)small->bytes / (double)small->calls).text,
					     quantity__time((double)small->ns / (double)small->calls).text,
					     quantity__bytes((double)small->bytes).text,
					     quantity__time((double)small->ns).text, quantity__share(finding->share).text);
}

int small_copies__draw(const struct finding_input *input, const struct process *process, struct finding_list *out)
{
	const struct account *account = process->account;
	uint64_t watched_ns = where__watched_ns(input, process);
	struct small_copies sums = {0};
	struct finding *finding;

	for (size_t i = 0; account && i < account->copy_count; i++)
		add_small(&sums, input, process, &account->copies[i]);
	if (!sums.worst || (double)sums.small.calls < input->thresholds[LEAST_CALLS] ||
	    (double)sums.small.ns < input->thresholds[LEAST_SHARE] * (double)watched_ns)
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding__cost(finding, sums.small.ns, watched_ns);
	return tell_small(finding, process, &sums);
}

/* --- redundant-copies --- */

/* The repeats that took most time; NULL where none are listed. */
static const struct account_repeat *worst_repeat(const struct account *account)
{
	return account->repeat_count && account->repeats[0].record.repeats ? &account->repeats[0] : NULL;
}

static int name_repeat(struct finding *finding, const struct process *process, const struct account_repeat *worst)
{
	size_t row = worst->record.row;

	finding__number(finding, "most_repeats", (double)worst->record.repeats, UNIT_COUNT);
	finding__number(finding, "most_bytes", (double)worst->key.bytes, UNIT_BYTES);
	finding__number(finding, "most_ns", (double)worst->record.repeat_ns, UNIT_NS);
	finding->stack = where__of_copy(process, row);
	return finding__subject(finding, "%s of %s", where__function(row),
				quantity__bytes((double)worst->key.bytes).text);
}

static int tell_repeats(struct finding *finding, const struct process_account *totals, const struct sum *sum,
			const struct account_repeat *worst)
{
	finding__number(finding, "to_device", (double)totals->repeats[0].calls, UNIT_COUNT);
	finding__number(finding, "to_device_ns", (double)totals->repeats[0].ns, UNIT_NS);
	finding__number(finding, "to_device_bytes", (double)totals->repeat_bytes[0], UNIT_BYTES);
	finding__number(finding, "to_host", (double)totals->repeats[1].calls, UNIT_COUNT);
	finding__number(finding, "to_host_ns", (double)totals->repeats[1].ns, UNIT_NS);
	finding__number(finding, "to_host_bytes", (double)totals->repeat_bytes[1], UNIT_BYTES);
	finding__saving(finding, sum->ns, "what is copied for nothing is not copied");
	return finding__evidence(finding,
				 "%s copies to the device wrote what nothing there had used since the copy "
				 "before, and %s to the host read what nothing had changed since: %s in %s, "
				 "%s of the time%s%s%s",
				 quantity__count(totals->repeats[0].calls).text,
				 quantity__count(totals->repeats[1].calls).text,
				 quantity__bytes((double)sum->bytes).text, quantity__time((double)sum->ns).text,
				 quantity__share(finding->share).text,
				 worst ? "; one range " : "", worst ? quantity__count(worst->record.repeats).text : "",
				 worst ? " times" : "");
}

int redundant_copies__draw(const struct finding_input *input, const struct process *process, struct finding_list *out)
{
	const struct account *account = process->account;
	uint64_t watched_ns = where__watched_ns(input, process);
	const struct account_repeat *worst;
	struct finding *finding;
	struct sum sum = {0};
	int ret = 0;

	for (int way = 0; account && way < 2; way++)
		add(&sum, account->totals.repeats[way].calls, account->totals.repeat_bytes[way],
		    account->totals.repeats[way].ns);
	if (!sum.calls || (double)sum.calls < input->thresholds[LEAST_CALLS] ||
	    (double)sum.ns < input->thresholds[LEAST_SHARE] * (double)watched_ns)
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding__cost(finding, sum.ns, watched_ns);
	worst = worst_repeat(account);
	if (worst)
		ret = name_repeat(finding, process, worst);
	return ret ? ret : tell_repeats(finding, &account->totals, &sum, worst);
}
