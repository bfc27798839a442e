// SPDX-License-Identifier: BSD-2-Clause
// The JSON of `gpuprobe dump`, see dump.h; man/gpuprobe-dump.8 describes it.
#include "base/json.h"
#include "output/dump/dump.h"
#include "model/dump_before.h"
#include "output/dump/parts.h"
#include "output/json/parts.h"

#define SCHEMA 1

/* The thread or process that is waited for; null if there is none or it is unknown. */
static void write_other(struct json *j, const char *key, const char *id,
			const struct dump_waiting *waiting)
{
	json__key(j, key);
	if (!waiting->other) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_i64(j, id, waiting->other);
	json__key_known_text(j, "comm", waiting->other_comm);
	json__object_end(j);
}

static void write_waits(struct json *j, const struct dump_waiting *waiting)
{
	json__key(j, "waits");
	if (waiting->kind == DUMP_WAIT_NONE) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_string(j, "for", dump_words__wait_key(waiting->kind));
	json__key_string(j, "system_call", waiting->name);
	json__key_known_text(j, "object", waiting->object);
	if (waiting->kind == DUMP_WAIT_GIL)
		write_other(j, "holder", "tid", waiting);
	if (waiting->kind == DUMP_WAIT_CHILD)
		write_other(j, "child", "pid", waiting);
	json__object_end(j);
}

static void key_moved(struct json *j, enum dump_motion motion)
{
	json__key(j, "moved");
	if (motion == DUMP_MOTION_UNKNOWN)
		json__null(j);
	else
		json__bool(j, motion == DUMP_MOVED);
}

static void write_thread(struct json *j, const struct dump_view *view,
			 const struct dump_process *before, const struct dump_thread *thread)
{
	bool known = !thread->no_stack && thread->stack.count;

	json__object_begin(j);
	json__key_i64(j, "tid", thread->tid);
	json__key_string(j, "comm", thread->comm);
	json__key_string(j, "state", dump_words__run_key(thread->run));
	json__key_string(j, "call", thread->call);
	json__key_string(j, "by", thread->by);
	json__key_bool(j, "approximate", thread->approximate);
	write_waits(j, &thread->waiting);
	json_stack__write(j, known ? &thread->stack : NULL);
	json__key_u64(j, "call_frames", thread->beyond);
	if (view->before)
		key_moved(j, dump_before__motion(before, thread));
	json__object_end(j);
}

static void write_process(struct json *j, const struct dump *dump, const struct dump_view *view,
			  const struct dump_process *process)
{
	const struct dump_process *before = dump_before__process(view->before, process);
	const struct process *p = process->process;

	json__object_begin(j);
	json__key_i64(j, "pid", p->pid);
	json__key_string(j, "comm", p->comm);
	json__key_string(j, "command", process->command);
	json__key_u64(j, "start_ns", p->start_ns);
	json_process__write(j, p);
	json_process__write_gpus(j, &dump->model, p);
	json__key(j, "threads");
	json__array_begin(j);
	for (size_t i = 0; i < process->thread_count; i++)
		write_thread(j, view, before, &process->threads[i]);
	json__array_end(j);
	json__key_u64(j, "unseen_threads", process->unseen);
	json__key_u64(j, "in_cuda", process->in_cuda);
	json__key_bool(j, "cuda", process->maps_cuda);
	json__object_end(j);
}

void dump_json__print(FILE *out, const struct dump *dump, const struct dump_view *view)
{
	struct json json;

	json__init(&json, out);
	json__object_begin(&json);
	json__key_u64(&json, "schema", SCHEMA);
	json__key_u64(&json, "boot_ns", dump->boot_ns);
	json__key_u64(&json, "taken_ns", dump->taken_ns);
	if (view->before)
		json__key_u64(&json, "since_first_ns", dump_before__ns(view->before, dump));
	json__key(&json, "processes");
	json__array_begin(&json);
	for (size_t i = 0; i < dump->count; i++)
		write_process(&json, dump, view, &dump->processes[i]);
	json__array_end(&json);
	json_process__write_machine(&json, &dump->model);
	json__key_bool(&json, "nvml_timed_out", dump->nvml_timed_out);
	json__object_end(&json);
	fputc('\n', out);
}
