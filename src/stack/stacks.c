// SPDX-License-Identifier: BSD-2-Clause
// Turns records into named stacks; see stacks.h.
#include "stack/stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "stack/intake.h"
#include "stack/naming.h"
#include "stack/store.h"

struct stacks {
	struct stacks_options options;
	struct stack_intake *intake;
	struct stack_processes *processes;
	struct stack_store *store;
	uint64_t unwound;
	struct naming naming;
};

static void forget(void *arg, uint64_t id)
{
	struct stacks *stacks = arg;

	if (stacks->options.hooks.forget)
		stacks->options.hooks.forget(stacks->options.hooks.arg, id);
}

int stacks__new(const struct stacks_options *options, const struct log *log, struct stacks **out,
		struct error *err)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));
	int ret;

	if (!stacks)
		return error__set(err, -ENOMEM, "out of memory");
	stacks->options = *options;
	stacks->naming.names_in = options->names_in;
	ret = stack_intake__new(options->ring_fd, options->memory, log, &stacks->intake, err);
	if (ret)
		goto fail;
	stacks->processes = stack_processes__new(options->mode, &stacks->options.hooks,
						 stacks->intake, options->memory, log);
	stacks->store = stack_store__new(options->max, forget, stacks);
	if (!stacks->processes || !stacks->store) {
		ret = error__set(err, -ENOMEM, "out of memory");
		goto fail;
	}
	*out = stacks;
	return 0;
fail:
	stacks__free(stacks);
	return ret;
}

void stacks__free(struct stacks *stacks)
{
	if (!stacks)
		return;
	stack_store__free(stacks->store);
	stack_processes__free(stacks->processes);
	stack_intake__free(stacks->intake);
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

static void report_same(struct stacks *stacks, uint64_t id)
{
	const struct stack_hooks *hooks = &stacks->options.hooks;
	uint64_t same = stack_store__same(stacks->store, id);

	if (same != id && hooks->set_same)
		hooks->set_same(hooks->arg, id, same);
}

static int make_stack(struct stacks *stacks, const struct taken_stack *taken, struct stack *out)
{
	const struct stack_record *record = &taken->record;
	struct native_frames *frames = stack_processes__frames(stacks->processes);
	uint64_t now = clock__boot_ns();
	struct stack_process *process;
	int ret;

	native_frames__trim(frames);
	process = stack_processes__of(stacks->processes, record, now);
	stacks->naming.python = &taken->python;
	if (process)
		stack_processes__refresh(stacks->processes, process, record, now);
	ret = call_chain__make(&stacks->naming.chain, stacks->options.mode, stacks->processes,
			       process, record, now);
	if (ret)
		return ret;
	return naming__make(&stacks->naming, frames, process, record, out);
}

static int name(struct stacks *stacks, const struct taken_stack *taken)
{
	const struct stack_record *record = &taken->record;
	const struct stack_owner owner = {.start_ns = record->start_ns, .pid = record->pid};
	const struct stack_hooks *hooks = &stacks->options.hooks;
	struct stack stack;
	int ret;

	if (stack_store__has(stacks->store, record->id, &owner)) {
		report_same(stacks, record->id);
		return 0;
	}
	ret = make_stack(stacks, taken, &stack);
	if (ret)
		return ret;
	stacks->unwound += stacks->naming.chain.unwound;
	if (stacks->options.mode == STACK_AUTO && stacks->naming.chain.whole && hooks->set_whole)
		hooks->set_whole(hooks->arg, record->chain);
	ret = stack_store__add(stacks->store, record->id, &owner, &stack);
	if (!ret)
		report_same(stacks, record->id);
	return ret;
}

int stacks__take(struct stacks *stacks, const void *record, size_t size)
{
	return stack_intake__take(stacks->intake, record, size);
}

int stacks__fd(const struct stacks *stacks)
{
	return stack_intake__fd(stacks->intake);
}

size_t stacks__waiting(const struct stacks *stacks)
{
	return stack_intake__count(stacks->intake);
}

int stacks__settle(struct stacks *stacks)
{
	struct taken_stack *taken = stack_intake__pop(stacks->intake);

	if (!taken)
		return 0;
	/* Without memory the stack stays unknown. */
	name(stacks, taken);
	taken_stack__free(taken);
	return 1;
}

uint64_t stacks__same(const struct stacks *stacks, uint64_t id)
{
	return stack_store__same(stacks->store, id);
}

void stacks__catch_up(struct stacks *stacks)
{
	size_t waiting;

	stack_intake__drain(stacks->intake);
	for (waiting = stacks__waiting(stacks); waiting && stacks__settle(stacks); waiting--)
		;
}

const struct stack *stacks__find(struct stacks *stacks, uint64_t id)
{
	return stack_store__find(stacks->store, id);
}

void stacks__count(const struct stacks *stacks, struct stacks_counts *counts)
{
	*counts = (struct stacks_counts){
		.kept = stack_store__count(stacks->store),
		.evicted = stack_store__evicted(stacks->store),
		.unwound = stacks->unwound,
		.malformed = stack_intake__malformed(stacks->intake),
	};
}
