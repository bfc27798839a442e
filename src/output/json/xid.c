// SPDX-License-Identifier: BSD-2-Clause
// Errors of GPUs (Xids) as JSON, see parts.h.
#include "model/xids.h"
#include "output/json/parts.h"

static void write_suspect(struct json *j, const struct xid_suspect *suspect)
{
	json__object_begin(j);
	json__key_i64(j, "pid", suspect->pid);
	json__key_string(j, "comm", suspect->comm);
	json__key_known_text(j, "user", suspect->user);
	json__key_known_text(j, "place", suspect->place);
	json__key_known_text(j, "kernels", suspect->kernels);
	json__object_end(j);
}

static void write_event(struct json *j, const struct xid_event *event)
{
	json__object_begin(j);
	json__key_u64(j, "boot_ns", event->ns);
	json__key_known_text(j, "message", event->report.text);
	json__key_known_i64(j, "reported_pid", event->report.pid, event->report.pid);
	json__key_bool(j, "named", event->named);
	json__key_bool(j, "calls_failed", event->failed);
	json__key(j, "suspects");
	json__array_begin(j);
	for (size_t i = 0; i < event->suspect_count; i++)
		write_suspect(j, &event->suspects[i]);
	json__array_end(j);
	json__key_u64(j, "more_suspects", event->more_suspects);
	json__object_end(j);
}

static void write_count(struct json *j, const struct xids *xids, const struct xid_count *count)
{
	const struct xid_event *event = xids__latest(xids, count);
	char address[PCI_ADDRESS_SIZE];

	pci_address__text(&count->address, address);
	json__object_begin(j);
	json__key_string(j, "pci", address);
	json__key_u64(j, "xid", count->number);
	json__key_u64(j, "count", count->count);
	json__key_known_text(j, "gpu", event ? event->gpu : "");
	json__key(j, "latest");
	if (event && event->judged)
		write_event(j, event);
	else
		json__null(j);
	json__object_end(j);
}

void json_xids__write(struct json *j, const struct model *model)
{
	const struct xids *xids = model->xids;

	if (!xids)
		return;
	json__key(j, "xids");
	json__array_begin(j);
	for (size_t i = 0; i < xids->count_count; i++)
		write_count(j, xids, &xids->counts[i]);
	json__array_end(j);
	json__key_u64(j, "other_xids", xids->other);
	json__key_u64(j, "lost_xids", xids->lost);
}
