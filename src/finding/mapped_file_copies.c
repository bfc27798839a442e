// SPDX-License-Identifier: BSD-2-Clause
/*
 * Slow copies to the GPU directly from mapped files: each page is fetched when the copy reaches it,
 * mostly from a disk. Cached files are copied about as fast as other pageable memory.
 */
#include <errno.h>
#include <stdio.h>

#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "model/profile.h"

enum {
	LEAST_TIME,
	MOST_RATE,
};

static double rate_of(const struct mapped_copy_record *record)
{
	return record->ns ? (double)record->bytes * 1e9 / (double)record->ns : 0;
}

static struct mapped_copy_record sum_up(const struct profile *profile)
{
	struct mapped_copy_record sum = {0};

	for (size_t i = 0; i < profile->mapped_count; i++) {
		sum.calls += profile->mapped[i].record.calls;
		sum.bytes += profile->mapped[i].record.bytes;
		sum.ns += profile->mapped[i].record.ns;
	}
	return sum;
}

static int report(struct finding *finding, const struct profile *profile,
		  const struct mapped_copy_record *sum)
{
	const struct mapped_copy_record *largest = &profile->mapped[0].record;
	char others[64] = "";

	if (profile->mapped_count > 1)
		snprintf(others, sizeof(others), " and %s other file%s",
			 quantity__amount((double)(profile->mapped_count - 1)).text,
			 profile->mapped_count > 2 ? "s" : "");
	if (finding__subject(finding, "%s%s", largest->name, others))
		return -ENOMEM;
	finding__number(finding, "files", (double)profile->mapped_count, UNIT_COUNT);
	finding__number(finding, "copies", (double)sum->calls, UNIT_COUNT);
	finding__number(finding, "bytes", (double)sum->bytes, UNIT_BYTES);
	finding__number(finding, "rate", rate_of(sum), UNIT_BYTES_PER_SECOND);
	return finding__evidence(
		finding,
		"%s copies of %s in total went straight from mapped files, at %s; %s from %s",
		quantity__amount((double)sum->calls).text, quantity__bytes((double)sum->bytes).text,
		quantity__bandwidth(rate_of(sum)).text,
		quantity__bytes((double)largest->bytes).text, largest->name);
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	struct mapped_copy_record sum = sum_up(process->profile);
	struct finding *finding;

	if ((double)sum.ns < input->thresholds[LEAST_TIME] ||
	    rate_of(&sum) > input->thresholds[MOST_RATE])
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding__cost(finding, sum.ns, site_lookup__watched_ns(input, process));
	finding->stack = profile__stack(process->profile, process->profile->mapped[0].record.stack);
	return report(finding, process->profile, &sum);
}

const struct finding_kind mapped_file_copies_kind = {
	.id = "mapped-file-copies",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.title = "slow copies straight from mapped files",
	.advice = "A copy from a mapped file waits for each of its pages. Have the file read "
		  "ahead (posix_fadvise with POSIX_FADV_WILLNEED, madvise with "
		  "MADV_POPULATE_READ, vmtouch), or read it in large pieces, in several threads, "
		  "into pinned memory and copy from there while the next piece is read; GPUDirect "
		  "Storage (cuFile, kvikio) reads into the GPU's memory. In PyTorch: torch.load "
		  "without mmap=True, or the files on a local disk.",
	.cost = "copies from mapped files",
	.thresholds =
		{
			{"time", 2e9, UNIT_NS, "minimum time in such copies of 1 MiB and more"},
			{"rate", 2147483648, UNIT_BYTES_PER_SECOND,
			 "maximum bytes per second; above it the files are in memory"},
		},
	.detect = detect,
};
