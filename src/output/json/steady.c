// SPDX-License-Identifier: BSD-2-Clause
// What a process did in its steady time, in JSON, see profile.h.
#include "model/steady.h"

#include "api/api.h"
#include "output/enum_names.h"
#include "output/json/profile.h"

static void write_function(struct json *j, const struct profile_function *f)
{
	json__object_begin(j);
	json__key_string(j, "function", api_functions[f->row].symbol);
	json__key_string(j, "layer", enum_names__layer(api_functions[f->row].desc.layer));
	json__key_u64(j, "calls", f->time.calls);
	json__key_u64(j, "total_ns", f->time.ns);
	json__object_end(j);
}

static void write_copies(struct json *j, const struct profile_copies *copies)
{
	uint64_t calls = 0, bytes = 0;

	for (int i = 0; i < COPY_SIZES; i++) {
		calls += copies->record.calls[i];
		bytes += copies->record.bytes[i];
	}
	if (!calls)
		return;
	json__object_begin(j);
	json__key_string(j, "kind", enum_names__copy_kind(copies->key.kind));
	json__key_string(j, "mode", copies->key.async ? "async" : "sync");
	json__key_string(j, "host", enum_names__copy_host(copies->key.host));
	json__key_u64(j, "calls", calls);
	json__key_u64(j, "bytes", bytes);
	json__object_end(j);
}

static void write_view(struct json *j, const struct profile *view)
{
	json__key(j, "functions");
	json__array_begin(j);
	for (size_t i = 0; i < view->function_count; i++)
		if (view->functions[i].time.calls)
			write_function(j, &view->functions[i]);
	json__array_end(j);
	json__key(j, "copies");
	json__array_begin(j);
	for (size_t i = 0; i < view->copy_count; i++)
		write_copies(j, &view->copies[i]);
	json__array_end(j);
}

void json_steady__write(struct json *j, const struct process *p, uint64_t now_ns)
{
	struct process view;
	struct load load;

	json__key(j, "steady");
	if (!steady__load(p, now_ns, &load) || steady__view(p, now_ns, &view)) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_u64(j, "from_ns", steady__since_ns(p, now_ns));
	json__key_u64(j, "ns", load.ns);
	json__key_u64(j, "launches", load.launches);
	write_view(j, view.profile);
	json__object_end(j);
	steady__clear_view(&view);
}
