// SPDX-License-Identifier: BSD-2-Clause
// Xids of late, and who may have caused them: one finding for each GPU and number.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/text_stream.h"
#include "finding/rules.h"
#include "finding/xid_numbers.h"
#include "model/xids.h"

#define LONGEST_AGE 0

/* "process 123 (python), user alice, pod ml/train-0, which had launched gemm, relu" */
static void write_suspect(FILE *out, const struct xid_suspect *suspect)
{
	fprintf(out, "process %d (%s)", suspect->pid, suspect->comm);
	if (*suspect->user)
		fprintf(out, ", user %s", suspect->user);
	if (*suspect->place)
		fprintf(out, ", %s", suspect->place);
	if (*suspect->kernels)
		fprintf(out, ", whose latest launches were of %s", suspect->kernels);
}

static void write_suspects(FILE *out, const struct xid_event *event, bool of_program)
{
	if (event->named)
		fputs("; the driver names ", out);
	else if (event->report.pid && !event->suspect_count)
		fprintf(out, "; the driver names process %d (%s), which gpuprobe does not watch",
			event->report.pid, *event->report.comm ? event->report.comm : "unknown");
	else if (!event->suspect_count)
		fputs("; who caused it is unknown", out);
	else if (event->failed)
		fputs("; calls began to fail for good in ", out);
	else
		fputs(of_program ? "; the GPU was used by " : "; the GPU is used by ", out);
	for (size_t i = 0; i < event->suspect_count; i++) {
		fputs(i ? "; and " : "", out);
		write_suspect(out, &event->suspects[i]);
	}
	if (event->more_suspects)
		fprintf(out, "; and %zu more", event->more_suspects);
}

/* NULL without memory. */
static char *make_evidence(const struct xid_count *count, const struct xid_event *event,
			   const struct xid_meaning *meaning)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);

	if (!out)
		return NULL;
	fprintf(out, "%s, %s %s", meaning->what, quantity__count(count->count).text,
		count->count == 1 ? "time" : "times");
	if (event && event->judged)
		write_suspects(out, event, meaning->of_program);
	if (event && *event->report.text)
		fprintf(out, "; its message: %s", event->report.text);
	fprintf(out, "; what helps: %s", meaning->advice);
	return fclose(out) ? NULL : text;
}

static int write_subject(struct finding *finding, const struct xid_count *count,
			 const struct xid_event *event)
{
	char address[PCI_ADDRESS_SIZE];

	pci_address__text(&count->address, address);
	if (event && *event->gpu)
		return finding__subject(finding, "Xid %" PRIu32 " of GPU %s (%s)", count->number,
					event->gpu, address);
	return finding__subject(finding, "Xid %" PRIu32 " of the GPU at %s", count->number,
				address);
}

/* The only process that is suspected is the finding's process. */
static void set_process(struct finding *finding, const struct xid_event *event)
{
	const struct xid_suspect *suspect = event->suspects;

	finding->pid = suspect->pid;
	finding->start_ns = suspect->start_ns;
	memcpy(finding->comm, suspect->comm, sizeof(finding->comm));
}

static int add(const struct finding_input *input, const struct xid_count *count,
	       struct finding_list *out)
{
	const struct xid_meaning *meaning = xid_meaning__of(count->number);
	const struct xid_event *event = xids__latest(input->model->xids, count);
	struct finding *finding = finding_list__add(out, input, NULL);

	if (!finding)
		return -ENOMEM;
	finding->severity = meaning->severity;
	finding->weight = (double)count->count;
	if (event && event->suspect_count == 1 && (event->named || meaning->of_program))
		set_process(finding, event);
	finding__number(finding, "xid", count->number, UNIT_COUNT);
	finding__number(finding, "reports", (double)count->count, UNIT_COUNT);
	finding->evidence = make_evidence(count, event, meaning);
	return finding->evidence ? write_subject(finding, count, event) : -ENOMEM;
}

static int detect(const struct finding_input *input, struct finding_list *out)
{
	const struct xids *xids = input->model->xids;
	int ret = 0;

	for (size_t i = 0; xids && i < xids->count_count && !ret; i++) {
		const struct xid_count *count = &xids->counts[i];
		uint64_t now_ns = input->model->now_ns;
		uint64_t age_ns = now_ns > count->latest_ns ? now_ns - count->latest_ns : 0;

		if ((double)age_ns <= input->thresholds[LONGEST_AGE])
			ret = add(input, count, out);
	}
	return ret;
}

const struct finding_kind xid_kind = {
	.id = "xid",
	/* each number has its own */
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_XIDS,
	.title = "the driver reports an error of a GPU (Xid)",
	.advice = "The evidence says what the number means, who may have caused it, and what "
		  "helps. The driver's report in the kernel's log names the process for most "
		  "errors; --kernel-log makes gpuprobe read it. Otherwise the candidates are the "
		  "processes on the GPU whose calls began to fail for good at that time, or else "
		  "all that use the GPU. An error that comes with one program wherever it runs is "
		  "a fault of the program; one that comes on one GPU with every program is a "
		  "fault of the GPU or its machine. NVIDIA's catalogue of Xid errors describes "
		  "each number.",
	.thresholds =
		{
			{"age", 3600e9, UNIT_NS, "how long it is shown after the latest report"},
		},
	.detect_all = detect,
};
