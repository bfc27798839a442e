// SPDX-License-Identifier: BSD-2-Clause
// Failed calls in the JSON report, see json_parts.h.
#include "output/json_parts.h"

#include "output/words.h"

void json_error__write(struct json *j, const struct process *p)
{
	size_t i;

	json__key(j, "errors");
	json__array_begin(j);
	for (i = 0; i < p->failure_count; i++) {
		const struct failure *f = &p->failures[i];

		json__object_begin(j);
		json__key_string(j, "function", f->function);
		json__key_string(j, "layer", words__layer(f->layer));
		json__key_string(j, "error", f->error);
		json__key_i64(j, "code", f->code);
		json__key_u64(j, "count", f->count);
		json__key_bool(j, "sampled", f->sampled);
		json__object_end(j);
	}
	json__array_end(j);
}
