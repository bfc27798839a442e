// SPDX-License-Identifier: BSD-2-Clause
// Errors of GPUs (Xids) as JSON, see parts.h.
#include "model/xids.h"
#include "output/json/parts.h"

static void key_known(struct json *j, const char *key, const char *value)
{
	json__key_string(j, key, *value ? value : NULL);
}

static void write_suspect(struct json *j, const struct xid_suspect *suspect)
{
	json__object_begin(j);
	json__key_i64(j, "pid", suspect->pid);
	json__key_string(j, "comm", suspect->comm);
	key_known(j, "user", suspect->user);
	key_known(j, "place", suspect->place);
	key_known(j, "kernels", suspect->kernels);
	json__object_end(j);
}

static void write_event(struct json *j, const struct xid_event *event)
{
	json__object_begin(j);
	json__key_u64(j, "boot_ns", event->ns);
	key_known(j, "message", event->report.text);
	json__key(j, "reported_pid");
	if (event->report.pid)
		json__i64(j, event->report.pid);
	else
		json__null(j);
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
	key_known(j, "gpu", event ? event->gpu : "");
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
