// SPDX-License-Identifier: BSD-2-Clause
// Memory in the JSON report, see parts.h.
#include "output/json/parts.h"

#include "output/enum_names.h"

void json_memory__write_totals(struct json *j, const char *key, const struct memory_totals *m)
{
	json__key(j, key);
	json__object_begin(j);
	json__key_u64(j, "allocations", m->allocations);
	json__key_u64(j, "allocation_failures", m->allocation_failures);
	json__key_u64(j, "allocation_ns", m->allocation_ns);
	json__key_u64(j, "frees", m->frees);
	json__key_u64(j, "free_failures", m->free_failures);
	json__key_u64(j, "unknown_frees", m->unknown_frees);
	json__key_u64(j, "never_live", m->never_live);
	json__key_u64(j, "replaced", m->replaced);
	json__key_u64(j, "with_context", m->with_context);
	json__key_u64(j, "with_context_bytes", m->with_context_bytes);
	json__key_u64(j, "live_bytes", m->live_bytes);
	json__key_u64(j, "live_allocations", m->live_count);
	json__object_end(j);
}

static void write_live(struct json *j, const struct process *p)
{
	size_t i;

	json__key(j, "live");
	json__array_begin(j);
	for (i = 0; i < p->live_listed; i++) {
		const struct allocation *a = &p->live[i];

		json__object_begin(j);
		json__key_hex(j, "address", a->address);
		json__key_u64(j, "bytes", a->size);
		json__key_string(j, "kind", enum_names__memory_kind(a->kind));
		json_parts__key_device(j, a->device);
		json__key_u64(j, "start_ns", a->start_ns);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_freed(struct json *j, const struct process *p)
{
	size_t i;

	json__key(j, "freed");
	json__array_begin(j);
	for (i = 0; i < p->freed_listed; i++) {
		json__object_begin(j);
		json__key_hex(j, "address", p->freed[i].address);
		json__key_string(j, "kind", enum_names__memory_kind(p->freed[i].kind));
		json__object_end(j);
	}
	json__array_end(j);
	json__key_u64(j, "freed_unlisted", p->freed_unlisted);
}

static void write_pools(struct json *j, const struct process *p)
{
	size_t i;

	json__key(j, "pools");
	json__array_begin(j);
	for (i = 0; i < p->pool_count; i++) {
		const struct pool_totals *pool = &p->pools[i];

		json__object_begin(j);
		if (pool->handle)
			json__key_hex(j, "handle", pool->handle);
		else
			json__key_string(j, "handle", NULL);
		json_parts__key_device(j, pool->device);
		json__key_u64(j, "used_bytes", pool->used);
		json__key_u64(j, "reserved_bytes", pool->reserved);
		json__key_bool(j, "reserved_is_estimate", pool->estimated);
		json__key_u64(j, "release_threshold", pool->threshold);
		json__key_bool(j, "destroyed", pool->destroyed);
		json__object_end(j);
	}
	json__array_end(j);
}

void json_memory__write(struct json *j, const struct process *p)
{
	int kind;

	json__key(j, "memory");
	json__object_begin(j);
	for (kind = 0; kind < MEMORY_KINDS; kind++)
		json_memory__write_totals(j, enum_names__memory_kind(kind), &p->memory[kind]);
	if (p->ended) {
		json__key_u64(j, "live_at_exit_bytes", p->live_at_exit_bytes);
		json__key_u64(j, "live_at_exit_allocations", p->live_at_exit_count);
	}
	json__key_u64(j, "double_frees", p->double_frees);
	json__key_u64(j, "captured_allocations", p->captured_allocations);
	json__key_u64(j, "captured_frees", p->captured_frees);
	write_pools(j, p);
	write_live(j, p);
	write_freed(j, p);
	json__object_end(j);
}
