// SPDX-License-Identifier: BSD-2-Clause
// From records to named stacks, see stacks.h.
#include "stack/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "stack/naming.h"
#include "stack/store.h"

#define CODE_BYTES_MAX (64u << 20) /* of Python's code objects */
#define WAITING_BYTES_MAX (64u << 20)

struct waiting_record {
	struct waiting_record *prev, *next;
	size_t size; /* of the record */
	struct stack_record record;
};

struct stacks {
	struct stacks_options options;
	struct stack_processes *processes;
	struct python_codes *codes;
	struct stack_store *store;
	struct waiting_record *waiting; /* the oldest first */
	size_t waiting_bytes;
	uint64_t unwound, malformed;
	struct naming naming;
};

static void forget(void *arg, uint64_t id)
{
	struct stacks *stacks = arg;

	if (stacks->options.hooks.forget)
		stacks->options.hooks.forget(stacks->options.hooks.arg, id);
}

struct stacks *stacks__new(const struct stacks_options *options, const struct log *log)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->options = *options;
	stacks->processes = stack_processes__new(options->mode, &stacks->options.hooks, log);
	stacks->codes = python_codes__new(CODE_BYTES_MAX);
	stacks->store = stack_store__new(options->max, forget, stacks);
	if (stacks->processes && stacks->codes && stacks->store)
		return stacks;
	stacks__free(stacks);
	return NULL;
}

void stacks__free(struct stacks *stacks)
{
	struct waiting_record *waiting, *next;

	if (!stacks)
		return;
	DL_FOREACH_SAFE(stacks->waiting, waiting, next) {
		free(waiting);
	}
	stack_store__free(stacks->store);
	python_codes__free(stacks->codes);
	stack_processes__free(stacks->processes);
	free(stacks);
}

void stacks__look_at(struct stacks *stacks, pid_t pid, bool exec)
{
	stack_processes__look_at(stacks->processes, pid, exec, clock__boot_ns());
}

void stacks__announce(struct stacks *stacks, pid_t pid)
{
	stack_processes__announce(stacks->processes, pid, clock__boot_ns());
}

/* The ring's room for a record may be larger than what was copied into it. */
static bool can_be(const struct stack_record *record, size_t size)
{
	if (size < sizeof(*record) || (uintptr_t)record % _Alignof(struct stack_record))
		return false;
	return record->id && record->pid > 0 && record->natives <= STACK_FRAMES_MAX &&
	       record->pythons <= PYTHON_FRAMES_MAX + 1 && record->callers <= STACK_CALLERS &&
	       record->copied <= STACK_COPY_MAX && record->copied <= size - sizeof(*record);
}

static void tell_same(struct stacks *stacks, uint64_t id)
{
	const struct stack_hooks *hooks = &stacks->options.hooks;
	uint64_t same = stack_store__same(stacks->store, id);

	if (same != id && hooks->set_same)
		hooks->set_same(hooks->arg, id, same);
}

/* From here on these texts are known. The process may be about to end. */
static void see_python(struct stacks *stacks, const struct stack_record *record)
{
	struct stack_process *process = stack_processes__of(stacks->processes, record, clock__boot_ns());

	python_codes__prune(stacks->codes);
	python_names__make(&stacks->naming.python, stacks->codes, process, record);
}

static int make_stack(struct stacks *stacks, const struct stack_record *record, struct stack *out)
{
	struct native_frames *frames = stack_processes__frames(stacks->processes);
	uint64_t now = clock__boot_ns();
	struct stack_process *process;
	int ret;

	native_frames__trim(frames);
	process = stack_processes__of(stacks->processes, record, now);
	python_names__make(&stacks->naming.python, stacks->codes, process, record);
	if (process)
		stack_processes__refresh(stacks->processes, process, record, now);
	ret = call_chain__make(&stacks->naming.chain, stacks->options.mode, stacks->processes, process, record, now);
	if (ret)
		return ret;
	return naming__make(&stacks->naming, frames, process, record, out);
}

static int name(struct stacks *stacks, const struct stack_record *record)
{
	const struct stack_owner owner = {.start_ns = record->start_ns, .pid = record->pid};
	const struct stack_hooks *hooks = &stacks->options.hooks;
	struct stack stack;
	int ret = make_stack(stacks, record, &stack);

	if (ret)
		return ret;
	stacks->unwound += stacks->naming.chain.unwound;
	if (stacks->options.mode == STACK_AUTO && stacks->naming.chain.whole && hooks->set_whole)
		hooks->set_whole(hooks->arg, record->chain);
	ret = stack_store__add(stacks->store, record->id, &owner, &stack);
	if (!ret)
		tell_same(stacks, record->id);
	return ret;
}

static int wait_for_name(struct stacks *stacks, const struct stack_record *record)
{
	size_t size = sizeof(*record) + record->copied;
	struct waiting_record *waiting = malloc(sizeof(*waiting) + size);

	if (!waiting)
		return -ENOMEM;
	waiting->size = size;
	memcpy(&waiting->record, record, size);
	DL_APPEND(stacks->waiting, waiting);
	stacks->waiting_bytes += size;
	return 0;
}

int stacks__take(struct stacks *stacks, const void *data, size_t size)
{
	const struct stack_record *record = data;
	struct stack_owner owner;
	int ret;

	if (!can_be(record, size)) {
		stacks->malformed++;
		return -EINVAL;
	}
	owner = (struct stack_owner){.start_ns = record->start_ns, .pid = record->pid};
	if (stack_store__has(stacks->store, record->id, &owner)) {
		tell_same(stacks, record->id);
		return 0;
	}
	see_python(stacks, record);
	ret = wait_for_name(stacks, record);
	while (stacks->waiting_bytes > WAITING_BYTES_MAX)
		stacks__settle(stacks);
	return ret;
}

int stacks__settle(struct stacks *stacks)
{
	struct waiting_record *waiting = stacks->waiting;

	if (!waiting)
		return 0;
	DL_DELETE(stacks->waiting, waiting);
	stacks->waiting_bytes -= waiting->size;
	/* Without memory the stack is not known. */
	name(stacks, &waiting->record);
	free(waiting);
	return 1;
}

uint64_t stacks__same(const struct stacks *stacks, uint64_t id)
{
	return stack_store__same(stacks->store, id);
}

const struct stack *stacks__find(struct stacks *stacks, uint64_t id)
{
	while (stacks__settle(stacks))
		;
	return stack_store__find(stacks->store, id);
}

void stacks__count(const struct stacks *stacks, struct stacks_counts *counts)
{
	*counts = (struct stacks_counts){
		.kept = stack_store__count(stacks->store), .evicted = stack_store__evicted(stacks->store),
		.unwound = stacks->unwound, .malformed = stacks->malformed,
	};
}
