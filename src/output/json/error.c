// SPDX-License-Identifier: BSD-2-Clause
// Failed calls in the JSON report, see parts.h.
#include "output/json/parts.h"

#include "api/api.h"
#include "output/enum_names.h"

static void write_sticky(struct json *j, const struct sticky_error *sticky)
{
	json__key(j, "sticky_error");
	if (!sticky->code) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_i64(j, "code", sticky->code);
	json__key_string(j, "error", api__error_name(LAYER_RUNTIME, sticky->code));
	json__key_u64(j, "since_ns", sticky->ns);
	json__key_u64(j, "later_same", sticky->same);
	json__key_u64(j, "later_others", sticky->others);
	json__object_end(j);
}

void json_error__write(struct json *j, const struct process *p)
{
	size_t i;

	json__key(j, "errors");
	json__array_begin(j);
	for (i = 0; i < p->failure_count; i++) {
		const struct failure *f = &p->failures[i];

		json__object_begin(j);
		json__key_string(j, "function", f->function);
		json__key_string(j, "layer", f->is_rest ? NULL : enum_names__layer(f->layer));
		json__key_string(j, "error", f->error);
		json__key_known_i64(j, "code", f->code, !f->is_rest);
		json__key_u64(j, "count", f->count);
		json__key_u64(j, "first_ns", f->first_ns);
		json__key_u64(j, "last_ns", f->last_ns);
		json__key_bool(j, "sampled", f->sampled);
		json__object_end(j);
	}
	json__array_end(j);
	write_sticky(j, &p->sticky);
}
