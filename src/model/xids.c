// SPDX-License-Identifier: BSD-2-Clause
// Xids and who may have caused them, see xids.h.
#include "model/xids.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/launch_marks.h"
#include "target/workload.h"

/* Calls begin to fail about when the Xid comes; the driver may report it a little later. */
#define FAILED_BEFORE_NS (2 * NS_PER_S)
#define ADDRESS_PARTS 3

/* --- addresses --- */

void pci_address__text(const struct pci_address *address, char text[PCI_ADDRESS_SIZE])
{
	snprintf(text, PCI_ADDRESS_SIZE, "%04" PRIx32 ":%02x:%02x", address->domain, address->bus,
		 address->device);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t parse_hex(const char *text, size_t length, uint32_t *value)
{
	size_t i = 0;

	*value = 0;
	while (i < length && i < 8 && hex_digit(text[i]) >= 0)
		*value = *value << 4 | (uint32_t)hex_digit(text[i++]);
	return i;
}

size_t pci_address__parse(const char *text, size_t length, struct pci_address *address)
{
	uint32_t parts[ADDRESS_PARTS];
	size_t at = 0;

	for (int i = 0; i < ADDRESS_PARTS; i++) {
		size_t digits;

		if (i && (at == length || text[at++] != ':'))
			return 0;
		digits = parse_hex(text + at, length - at, &parts[i]);
		if (!digits)
			return 0;
		at += digits;
	}
	if (parts[1] > UINT8_MAX || parts[2] > UINT8_MAX)
		return 0;
	*address = (struct pci_address){parts[0], (uint8_t)parts[1], (uint8_t)parts[2]};
	if (at + 1 < length && text[at] == '.' && hex_digit(text[at + 1]) >= 0)
		at += 2;
	return at;
}

static bool is_same(const struct pci_address *a, const struct pci_address *b)
{
	return a->domain == b->domain && a->bus == b->bus && a->device == b->device;
}

/* --- counting --- */

static void count(struct xids *xids, const struct xid_report *report, uint64_t ns)
{
	struct xid_count *found = NULL;

	for (size_t i = 0; i < xids->count_count && !found; i++)
		if (xids->counts[i].number == report->number &&
		    is_same(&xids->counts[i].address, &report->address))
			found = &xids->counts[i];
	if (!found && xids->count_count == XID_COUNTS) {
		xids->other++;
		return;
	}
	if (!found) {
		found = &xids->counts[xids->count_count++];
		*found = (struct xid_count){.address = report->address, .number = report->number};
	}
	found->count++;
	found->latest_ns = ns;
}

void xids__add(struct xids *xids, const struct xid_report *report, uint64_t ns)
{
	count(xids, report, ns);
	if (xids->event_count == XID_EVENTS)
		memmove(xids->events, xids->events + 1,
			--xids->event_count * sizeof(*xids->events));
	xids->events[xids->event_count++] = (struct xid_event){.ns = ns, .report = *report};
}

const struct xid_event *xids__latest(const struct xids *xids, const struct xid_count *count)
{
	for (size_t i = xids->event_count; i--;)
		if (xids->events[i].report.number == count->number &&
		    is_same(&xids->events[i].report.address, &count->address))
			return &xids->events[i];
	return NULL;
}

/* --- who caused it --- */

static bool is_at(const struct gpu *gpu, const struct pci_address *address)
{
	struct pci_address own;

	return pci_address__parse(gpu->bus_id, strnlen(gpu->bus_id, sizeof(gpu->bus_id)), &own) &&
	       is_same(&own, address);
}

static bool has_gpu(const struct model *model, const struct process *process,
		    const struct pci_address *address)
{
	for (size_t i = 0; i < process->gpu_count; i++) {
		const struct gpu *gpu = gpu_label__find(model, &process->gpus[i]);

		if (gpu && is_at(gpu, address) && gpu_label__is_used(process, &process->gpus[i]))
			return true;
	}
	return false;
}

/* The name that tells most about where the process runs. */
static void write_place(const struct process *process, char text[XID_PLACE_SIZE])
{
	const struct workload *workload = process->workload;

	text[0] = '\0';
	if (workload && *workload->pod)
		snprintf(text, XID_PLACE_SIZE, "pod %.60s/%.90s", workload->namespace,
			 workload->pod);
	else if (workload && *workload->slurm_job)
		snprintf(text, XID_PLACE_SIZE, "Slurm job %s", workload->slurm_job);
	else if (workload && *workload->pbs_job)
		snprintf(text, XID_PLACE_SIZE, "PBS job %s", workload->pbs_job);
	else if (*process->container)
		snprintf(text, XID_PLACE_SIZE, "container %.12s", process->container);
	else if (workload && *workload->unit)
		snprintf(text, XID_PLACE_SIZE, "unit %.100s", workload->unit);
}

static void suspect(struct xid_event *event, const struct process *process,
		    const struct launch_marks *marks)
{
	struct xid_suspect *one;

	if (event->suspect_count == XID_SUSPECTS) {
		event->more_suspects++;
		return;
	}
	one = &event->suspects[event->suspect_count++];
	one->pid = process->pid;
	one->start_ns = process->start_ns;
	memcpy(one->comm, process->comm, sizeof(one->comm));
	memcpy(one->user, process->user, sizeof(one->user));
	one->comm[sizeof(one->comm) - 1] = one->user[sizeof(one->user) - 1] = '\0';
	write_place(process, one->place);
	launch_marks__latest(marks, process, one->kernels, sizeof(one->kernels));
}

static bool had_failed(const struct process *process, const struct xid_event *event)
{
	return process->sticky.code && process->sticky.ns + FAILED_BEFORE_NS >= event->ns;
}

/* Those with the GPU; `failed`: only those whose calls began to fail then. */
static void suspect_holders(struct xid_event *event, const struct model *model, bool failed,
			    const struct launch_marks *marks)
{
	uint64_t since_ns = event->ns > FAILED_BEFORE_NS ? event->ns - FAILED_BEFORE_NS : 0;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];

		if (process->start_ns <= event->ns && process__is_alive_after(process, since_ns) &&
		    has_gpu(model, process, &event->report.address) &&
		    (!failed || had_failed(process, event)))
			suspect(event, process, marks);
	}
	event->failed = failed && event->suspect_count;
}

static void judge(struct xid_event *event, const struct model *model, bool first_namespace,
		  const struct launch_marks *marks)
{
	const struct process *named = NULL;

	event->judged = true;
	for (size_t i = 0; i < model->gpu_count; i++)
		if (model->gpus[i].mig == GPU_NONE &&
		    is_at(&model->gpus[i], &event->report.address))
			gpu_label(&model->gpus[i], event->gpu);
	if (event->report.pid && first_namespace)
		named = model__process_of(
			model, event->report.pid,
			event->ns > FAILED_BEFORE_NS ? event->ns - FAILED_BEFORE_NS : 0);
	event->named = named != NULL;
	if (named)
		suspect(event, named, marks);
	/* A process that the report names, but that is not watched, is the only suspect. */
	if (!named && (!event->report.pid || !first_namespace))
		suspect_holders(event, model, true, marks);
	if (!event->suspect_count && (!event->report.pid || !first_namespace))
		suspect_holders(event, model, false, marks);
}

void xids__judge(struct xids *xids, const struct model *model, bool first_namespace,
		 const struct launch_marks *marks)
{
	for (size_t i = 0; i < xids->event_count; i++)
		if (!xids->events[i].judged && xids->events[i].ns <= model->now_ns)
			judge(&xids->events[i], model, first_namespace, marks);
}
