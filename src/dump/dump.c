// SPDX-License-Identifier: BSD-2-Clause
// Takes dumps; see dump.h.
#include "dump/dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/attribution.h"
#include "dump/call.h"
#include "dump/taken.h"
#include "dump/waiting.h"
#include "stack/stacks.h"
#include "symbol/python_process.h"
#include "target/command_line.h"
#include "target/mounts.h"
#include "target/proc_maps.h"
#include "target/proc.h"

struct dumper {
	struct memory_reader *memory;
	const struct log *log;
	struct thread_reader *reader;
	struct attribution *attribution;
	unsigned int nvml_wait_ms; /* 0 once NVML has been waited for in vain */
};

/* A dump with the owner of its texts. */
struct kept_dump {
	struct dump dump; /* must be first */
	struct stacks *stacks;
};

/* A process while it is being dumped: its threads, and where its Python is. */
struct subject {
	pid_t pid;
	bool has_python;
	struct python_target python;
	struct taken_threads threads;
};

struct subjects {
	struct subject *list;
	size_t count;
	uint64_t records;
};

int dumper__new(struct memory_reader *memory, const struct log *log, struct dumper **out,
		struct error *err)
{
	struct dumper *dumper = calloc(1, sizeof(*dumper));
	int ret;

	if (!dumper)
		return error__set(err, -ENOMEM, "out of memory");
	dumper->memory = memory;
	dumper->nvml_wait_ms = GPU_WAIT_MS;
	dumper->log = log;
	dumper->attribution = attribution__new(memory, &(struct pod_logs){0});
	ret = dumper->attribution ? thread_reader__new(&dumper->reader, err) :
				    error__set(err, -ENOMEM, "out of memory");
	if (ret) {
		dumper__free(dumper);
		return ret;
	}
	*out = dumper;
	return 0;
}

void dumper__free(struct dumper *dumper)
{
	if (!dumper)
		return;
	thread_reader__free(dumper->reader);
	attribution__free(dumper->attribution);
	free(dumper);
}

static int find_cuda(const struct mapping *mapping, void *arg)
{
	(void)arg;
	return mapping__is_file(mapping) && mapping__is_named_like_cuda(mapping->path);
}

bool dump__maps_cuda(pid_t pid)
{
	return proc_maps__each(pid, find_cuda, NULL) == 1;
}

/* --- the moment --- */

/*
 * Finds the Python interpreter, which must be known before a thread is taken. If there is none, or
 * its frames cannot be read, no Python frames are taken.
 */
static void find_python(const struct dumper *dumper, struct subject *subject)
{
	struct python_process python;
	struct error err = {0};

	subject->has_python = !python_process__find(dumper->memory, subject->pid, &python, &err);
	if (subject->has_python)
		subject->python = python.offsets.target;
}

static int new_stacks(const struct dumper *dumper, bool calls_alone, struct stacks **out)
{
	const struct stacks_options options = {
		.mode = STACK_DWARF,
		.max = DUMP_THREADS_MAX + 1,
		.ring_fd = -1,
		.memory = dumper->memory,
		.names_in = calls_alone ? stack_call__may_be_in : NULL,
	};
	struct error err = {0};

	return stacks__new(&options, dumper->log, out, &err);
}

/*
 * Takes the threads only. Slower work, on mappings and the files behind them, comes after the last
 * thread, so that all threads are of one moment.
 */
static void take_threads(const struct dumper *dumper, struct subjects *subjects, bool calls_alone)
{
	size_t left = DUMP_THREADS_MAX;

	for (size_t i = 0; i < subjects->count && !calls_alone; i++)
		find_python(dumper, &subjects->list[i]);
	for (size_t i = 0; i < subjects->count; i++) {
		struct subject *subject = &subjects->list[i];

		thread_reader__set_python(dumper->reader,
					  subject->has_python ? &subject->python : NULL);
		taken_threads__take(&subject->threads, dumper->reader, subject->pid, left);
		left -= subject->threads.count;
	}
	for (size_t i = 0; i < subjects->count; i++)
		taken_threads__sample(&subjects->list[i].threads);
}

/* --- what it is called --- */

static const struct thread_look *main_look(const struct subject *subject)
{
	for (size_t i = 0; i < subject->threads.count; i++)
		if (subject->threads.list[i].look)
			return subject->threads.list[i].look;
	return NULL;
}

static void describe(const struct dumper *dumper, struct process *process,
		     const struct subject *subject)
{
	const struct thread_look *look = main_look(subject);
	struct process_record record = {
		.pid = subject->pid, .state = PROCESS_LIVE, .start_ns = look->stack.start_ns};
	struct process_info info;
	uid_t uid;

	if (proc__info(subject->pid, &info) || proc__user(subject->pid, &uid))
		return;
	record.parent = info.parent;
	record.uid = uid;
	memcpy(process->comm, info.comm, sizeof(process->comm) - 1);
	attribution__learn(dumper->attribution, process, &record);
}

/* Names one stack. Its id is its number. The stack stays empty if memory runs out. */
static void name_stack(struct stacks *stacks, uint64_t id, struct thread_look *look,
		       struct dump_thread *thread)
{
	const struct stack *stack;
	struct stack_call call;

	look->stack.id = id;
	thread->no_stack = true;
	if (stacks__take(stacks, &look->stack, sizeof(look->stack) + look->stack.copied))
		return;
	stacks__catch_up(stacks);
	stack = stacks__find(stacks, id);
	if (!stack)
		return;
	thread->no_stack = false;
	thread->stack = *stack;
	call = stack_call__of(&thread->stack);
	thread->call = call.function;
	thread->inner = call.inner;
	thread->by = call.by;
	thread->beyond = call.beyond;
	thread->ends = call.ends;
}

static void name_threads(struct subjects *subjects, struct subject *subject, struct stacks *stacks,
			 struct dump_process *process)
{
	for (size_t i = 0; i < subject->threads.count; i++) {
		const struct taken_thread *taken = &subject->threads.list[i];
		struct dump_thread *thread = &process->threads[process->thread_count];

		if (!taken->look)
			continue;
		process->thread_count++;
		thread->tid = taken->tid;
		thread->start_ns = taken->look->thread_start_ns;
		thread->approximate = taken->approximate;
		memcpy(thread->comm, taken->look->comm, sizeof(thread->comm) - 1);
		name_stack(stacks, ++subjects->records, taken->look, thread);
		process->in_cuda += thread->call || thread->by;
	}
}

static int find_waiting(const struct dumper *dumper, const struct subject *subject,
			struct dump_process *process)
{
	const struct thread_look **looks =
		calloc(process->thread_count, sizeof(struct thread_look *));
	size_t count = 0;

	if (!looks)
		return -ENOMEM;
	for (size_t i = 0; i < subject->threads.count; i++)
		if (subject->threads.list[i].look)
			looks[count++] = subject->threads.list[i].look;
	waiting__find(dumper->memory, subject->pid, looks, process->threads, count);
	free(looks);
	return 0;
}

static int name_process(const struct dumper *dumper, struct subjects *subjects,
			struct subject *subject, const struct dump_request *request,
			struct kept_dump *kept)
{
	struct dump *dump = &kept->dump;
	struct dump_process *process = &dump->processes[dump->count];

	if (!main_look(subject))
		return 0;
	process->threads = calloc(subject->threads.count, sizeof(*process->threads));
	if (!process->threads)
		return -ENOMEM;
	process->process = &dump->model.processes[dump->count++];
	dump->model.process_count = dump->count;
	process->unseen = subject->threads.unseen;
	process->maps_cuda = !request->calls_alone && dump__maps_cuda(subject->pid);
	process->process->pid = subject->pid;
	process->process->start_ns = main_look(subject)->stack.start_ns;
	if (!request->threads_alone) {
		if (process->maps_cuda)
			attribution__begin(dumper->attribution);
		process->command = command_line__from_proc(subject->pid);
		describe(dumper, process->process, subject);
	}
	stacks__look_at(kept->stacks, subject->pid, false);
	name_threads(subjects, subject, kept->stacks, process);
	return find_waiting(dumper, subject, process);
}

/* NVML has worked while stacks were named. */
static void find_gpus(struct dumper *dumper, struct dump *dump)
{
	const struct gpu_snapshot *snapshot;
	bool uses = false;
	int failure;

	for (size_t i = 0; i < dump->count; i++)
		uses = uses || dump->processes[i].maps_cuda;
	if (!uses)
		return;
	snapshot = attribution__snapshot(dumper->attribution, dumper->nvml_wait_ms, &failure);
	dump->nvml_timed_out = !snapshot && !failure;
	if (dump->nvml_timed_out)
		dumper->nvml_wait_ms = 0;
	attribution__refresh(dumper->attribution, &dump->model);
}

/* --- a dump --- */

static struct kept_dump *new_dump(size_t count)
{
	struct kept_dump *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	kept->dump.processes = calloc(count + 1, sizeof(*kept->dump.processes));
	kept->dump.model.processes = calloc(count + 1, sizeof(*kept->dump.model.processes));
	if (kept->dump.processes && kept->dump.model.processes)
		return kept;
	dump__free(&kept->dump);
	return NULL;
}

static void clear_subjects(struct subjects *subjects)
{
	for (size_t i = 0; i < subjects->count; i++)
		taken_threads__clear(&subjects->list[i].threads);
	free(subjects->list);
}

static int take(struct dumper *dumper, const struct dump_request *request,
		struct subjects *subjects, struct kept_dump *kept)
{
	int ret = new_stacks(dumper, request->calls_alone, &kept->stacks);

	if (ret)
		return ret;
	take_threads(dumper, subjects, request->calls_alone);
	kept->dump.boot_ns = clock__boot_ns();
	kept->dump.taken_ns = kept->dump.boot_ns - request->since_ns;
	mounts__keep();
	for (size_t i = 0; i < subjects->count && !ret; i++)
		ret = name_process(dumper, subjects, &subjects->list[i], request, kept);
	mounts__forget();
	if (!ret && !request->threads_alone)
		find_gpus(dumper, &kept->dump);
	return ret;
}

int dumper__take(struct dumper *dumper, const struct dump_request *request, struct dump **out)
{
	struct subjects subjects = {
		.list = calloc(request->count + 1, sizeof(*subjects.list)),
		.count = request->count,
	};
	struct kept_dump *kept = new_dump(request->count);
	int ret = subjects.list && kept ? 0 : -ENOMEM;

	for (size_t i = 0; i < request->count && !ret; i++)
		subjects.list[i].pid = request->pids[i];
	if (!ret)
		ret = take(dumper, request, &subjects, kept);
	if (!ret)
		*out = &kept->dump;
	else if (kept)
		dump__free(&kept->dump);
	if (subjects.list)
		clear_subjects(&subjects);
	return ret;
}

void dump__free(struct dump *dump)
{
	struct kept_dump *kept = (struct kept_dump *)dump;

	if (!dump)
		return;
	for (size_t i = 0; i < dump->count; i++) {
		free(dump->processes[i].threads);
		free(dump->processes[i].command);
	}
	free(dump->processes);
	model__clear(&dump->model);
	stacks__free(kept->stacks);
	free(kept);
}
