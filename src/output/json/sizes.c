// SPDX-License-Identifier: BSD-2-Clause
// Sizes of allocations and copies, repeated copies and ignored errors in JSON, see profile.h.
#include "api/api.h"
#include "output/json/profile.h"
#include "output/json/parts.h"
#include "output/enum_names.h"

static void write_size(struct json *j, const struct profile_size *size)
{
	const struct size_record *record = &size->record;

	json__object_begin(j);
	json__key_u64(j, "bytes", size->key.size);
	json__key_string(j, "function", api_functions[size->key.row].symbol);
	json__key_string(j, "kind", enum_names__memory_kind(size->key.kind));
	json_parts__key_device(j, size->key.device);
	json__key_u64(j, "allocations", record->allocations);
	json__key_u64(j, "allocation_ns", record->allocation_ns);
	json__key_u64(j, "frees", record->frees);
	json__key_u64(j, "free_ns", record->free_ns);
	json__key_u64(j, "live", record->live);
	json__key_u64(j, "peak", record->peak);
	json__key_u64(j, "first_ns", record->first_ns);
	json__key_u64(j, "latest_ns", record->latest_ns);
	json__key_u64(j, "first_took_ns", record->first_took_ns);
	json__object_end(j);
}

static void write_copy_sizes(struct json *j, const struct copy_size_record *record)
{
	json__key(j, "sizes");
	json__array_begin(j);
	for (int i = 0; i < COPY_SIZES; i++) {
		if (!record->calls[i])
			continue;
		json__object_begin(j);
		json__key_u64(j, "from_bytes", i ? 1ull << i : 0);
		json__key_u64(j, "calls", record->calls[i]);
		json__key_u64(j, "bytes", record->bytes[i]);
		json__key_u64(j, "ns", record->ns[i]);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_copies(struct json *j, const struct profile_copies *copies)
{
	json__object_begin(j);
	json__key_string(j, "kind", enum_names__copy_kind(copies->key.kind));
	json__key_string(j, "mode", copies->key.async ? "async" : "sync");
	json__key_string(j, "host", enum_names__copy_host(copies->key.host));
	json_parts__key_device(j, copies->key.device);
	write_copy_sizes(j, &copies->record);
	json__object_end(j);
}

static void write_repeat(struct json *j, const struct profile_repeat *repeat)
{
	json__object_begin(j);
	json__key_string(j, "kind", enum_names__copy_kind(repeat->key.kind));
	json__key_string(j, "function", api_functions[repeat->record.row].symbol);
	json__key_hex(j, "from", repeat->key.from);
	json__key_hex(j, "to", repeat->key.to);
	json__key_u64(j, "bytes", repeat->key.bytes);
	json__key_u64(j, "copies", repeat->record.copies);
	json__key_u64(j, "repeats", repeat->record.repeats);
	json__key_u64(j, "repeat_ns", repeat->record.repeat_ns);
	json__object_end(j);
}

static void write_mapped(struct json *j, const struct mapped_copy_record *record)
{
	json__object_begin(j);
	json__key_string(j, "file", record->name);
	json__key_u64(j, "calls", record->calls);
	json__key_u64(j, "bytes", record->bytes);
	json__key_u64(j, "ns", record->ns);
	json__object_end(j);
}

static void write_ignored(struct json *j, const struct profile_ignored *ignored)
{
	const struct api_function *function = &api_functions[ignored->key.row];

	json__object_begin(j);
	json__key_string(j, "function", function->symbol);
	json__key_i64(j, "code", ignored->key.code);
	json__key_string(j, "error", api__error_name(function->desc.layer, ignored->key.code));
	json__key_u64(j, "calls", ignored->record.calls);
	json__key_u64(j, "launches", ignored->record.launches);
	json__key_u64(j, "first_ns", ignored->record.first_ns);
	json__object_end(j);
}

void json_sizes__write(struct json *j, const struct profile *profile)
{
	json__key(j, "allocation_sizes");
	json__array_begin(j);
	for (size_t i = 0; i < profile->size_count; i++)
		write_size(j, &profile->sizes[i]);
	json__array_end(j);
	json__key(j, "copy_sizes");
	json__array_begin(j);
	for (size_t i = 0; i < profile->copy_count; i++)
		write_copies(j, &profile->copies[i]);
	json__array_end(j);
	json__key(j, "repeated_copies");
	json__array_begin(j);
	for (size_t i = 0; i < profile->repeat_count; i++)
		write_repeat(j, &profile->repeats[i]);
	json__array_end(j);
	json__key(j, "ignored_errors");
	json__array_begin(j);
	for (size_t i = 0; i < profile->ignored_count; i++)
		write_ignored(j, &profile->ignored[i]);
	json__array_end(j);
	json__key(j, "mapped_file_copies");
	json__array_begin(j);
	for (size_t i = 0; i < profile->mapped_count; i++)
		write_mapped(j, &profile->mapped[i].record);
	json__array_end(j);
}
