// SPDX-License-Identifier: BSD-2-Clause
// The JSON of `gpuprobe ps`, see ps.h; man/gpuprobe-ps.8 describes it.
#include "base/json.h"
#include "model/gpu_label.h"
#include "output/json/parts.h"
#include "output/ps/ps.h"

#define SCHEMA 1

static void write_libraries(struct json *j, const struct ps_libraries *libraries)
{
	json__key(j, "libraries");
	if (!libraries->known) {
		json__null(j);
		return;
	}
	json__array_begin(j);
	for (int kind = 0; kind < PS_LIBRARY_KINDS; kind++) {
		const struct ps_library *library = &libraries->list[kind];

		if (!library->mapped)
			continue;
		json__object_begin(j);
		json__key_string(j, "name", ps_words__library((enum ps_library_kind)kind));
		json__key_known_text(j, "version", library->version);
		json__key_bool(j, "static", library->inside);
		json__object_end(j);
	}
	json__array_end(j);
}

/* The GPUs on which NVML lists the process, by their label. */
static void write_contexts(struct json *j, const struct ps *ps, const struct ps_row *row)
{
	json__key(j, "contexts");
	if (row->context == PS_CONTEXT_UNKNOWN) {
		json__null(j);
		return;
	}
	json__array_begin(j);
	for (size_t i = 0; i < ps->model.gpu_count; i++) {
		char label[GPU_LABEL_SIZE];

		if (!(row->on_gpus[i / 64] >> i % 64 & 1))
			continue;
		gpu_label(&ps->model.gpus[i], label);
		json__string(j, label);
	}
	json__array_end(j);
}

static void write_threads(struct json *j, const struct ps_row *row)
{
	json__key_known_u64(j, "threads", row->threads, row->looked_at);
	json__key_known_u64(j, "in_cuda", row->in_cuda, row->looked_at);
	json__key_known_text(j, "call", row->call);
	json__key_known_text(j, "by", row->by);
	json__key_known_u64(j, "call_tid", (uint64_t)row->call_tid, row->call_tid != 0);
	json__key_string(j, "state", ps_words__state(row->state));
	json__key_known_u64(j, "idle_ns", row->idle_ns, row->idle_ns != 0);
	json__key_known_u64(j, "main_thread_idle_ns", row->main_thread_idle_ns,
			    row->main_thread_idle_ns != 0);
	if (row->looked_at)
		json__key_bool(j, "blocked", row->blocked);
	else
		json__key_string(j, "blocked", NULL);
}

static void write_row(struct json *j, const struct ps *ps, const struct ps_row *row)
{
	static const char *const roles[] = {
		[PS_PROGRAM] = NULL,
		[PS_MPS_CONTROL] = "mps_control",
		[PS_MPS_SERVER] = "mps_server",
	};
	const struct process *p = row->process;
	uint64_t bytes = ps_row__bytes(row);

	json__object_begin(j);
	json__key_i64(j, "pid", p->pid);
	json__key_known_text(j, "comm", p->comm);
	json__key_string(j, "command", row->command);
	json__key_known_u64(j, "start_ns", p->start_ns, p->start_ns != 0);
	json_process__write(j, p);
	json__key_string(j, "role", roles[row->role]);
	json__key_known_u64(j, "ancestor", (uint64_t)row->ancestor, row->ancestor != 0);
	json_parts__key_bytes(j, "used_bytes", bytes);
	write_contexts(j, ps, row);
	json_process__write_gpus(j, &ps->model, p);
	write_libraries(j, &row->libraries);
	write_threads(j, row);
	json__object_end(j);
}

static void write_notes(struct json *j, const struct ps *ps)
{
	json__key(j, "notes");
	json__array_begin(j);
	for (size_t i = 0; i < ps->note_count; i++)
		json__string(j, ps->notes[i]);
	json__array_end(j);
}

void ps_json__print(FILE *out, const struct ps *ps)
{
	struct json json;

	json__init(&json, out);
	json__object_begin(&json);
	json__key_u64(&json, "schema", SCHEMA);
	json__key_u64(&json, "boot_ns", ps->boot_ns);
	json__key_known_text(&json, "driver", ps->driver);
	json__key(&json, "processes");
	json__array_begin(&json);
	for (size_t i = 0; i < ps->count; i++)
		write_row(&json, ps, &ps->rows[i]);
	json__array_end(&json);
	json_process__write_machine(&json, &ps->model);
	json__key_u64(&json, "unread", ps->unread);
	json__key_u64(&json, "left_out", ps->left_out);
	write_notes(&json, ps);
	json__object_end(&json);
	fputc('\n', out);
}
