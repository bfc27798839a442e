// SPDX-License-Identifier: BSD-2-Clause
// Streams, events, contexts, modules and libraries in the JSON report, see parts.h.
#include "output/json/parts.h"

#include "output/enum_names.h"

static void write_kind(struct json *j, int kind, const struct object_totals *o)
{
	json__key(j, enum_names__object_kind(kind));
	json__object_begin(j);
	json__key_u64(j, "created", o->created);
	json__key_u64(j, "destroyed", o->destroyed);
	json__key_u64(j, "unknown_destroyed", o->unknown_destroyed);
	json__key_u64(j, "with_context", o->with_context);
	json__key_u64(j, "live", o->live);
	json__key_u64(j, "create_ns", o->ns);
	json__key_u64(j, "created_in_launches", o->in_launch);
	json__key_u64(j, "create_in_launches_ns", o->in_launch_ns);
	json__object_end(j);
}

void json_object__write(struct json *j, const struct process *p)
{
	json__key(j, "objects");
	json__object_begin(j);
	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		if (p->objects[kind].created || p->objects[kind].destroyed || p->objects[kind].live)
			write_kind(j, kind, &p->objects[kind]);
	json__object_end(j);
}
