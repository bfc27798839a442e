// SPDX-License-Identifier: BSD-2-Clause
// Converts a record to addresses; see chain.h.
#include "stack/chain.h"

#include <errno.h>
#include <string.h>

#include "stack/thread_entry.h"

#define TRAMPOLINES "[uprobes]" /* the kernel's own mapping, to which probed functions return */

/* Nothing is mapped below; the kernel is above. */
#define LOWEST_CODE 0x10000
#define USER_BITS 47

/* Calls in progress whose return address the kernel replaced, innermost first. */
struct callers {
	struct stack_caller list[STACK_CALLERS];
	uint32_t count, next;
};

/*
 * Leaves out the call that the stack was taken for: it has returned, so its slot is below the
 * stack.
 */
static void sort_callers(const struct stack_record *record, struct callers *callers)
{
	memset(callers, 0, sizeof(*callers));
	for (uint32_t i = 0; i < record->callers; i++) {
		uint32_t at = callers->count;

		if (record->caller[i].stack_address < record->registers.sp)
			continue;
		for (; at && callers->list[at - 1].stack_address > record->caller[i].stack_address;
		     at--)
			callers->list[at] = callers->list[at - 1];
		callers->list[at] = record->caller[i];
		callers->count++;
	}
}

static bool is_trampoline(const struct stack_process *process, uint64_t address)
{
	struct native_frame frame;

	return process && !native_process__locate(process->native, address, &frame) &&
	       !strcmp(frame.object, TRAMPOLINES);
}

/*
 * If a function uses the frame pointer register for something else, the kernel takes the values it
 * finds for addresses. If the process's code has changed since its mappings were read, any address
 * may be code.
 */
static bool can_be_return(const struct stack_process *process, const struct stack_record *record,
			  uint64_t address)
{
	if (address < LOWEST_CODE || address >> USER_BITS)
		return false;
	return !process || !record->code_version || process->code_version != record->code_version ||
	       process_map__may_return(native_process__map(process->native), address);
}

/* Kernels before 6.12 report trampolines as if they were callers. */
static void follow_pointers(struct call_chain *chain, const struct stack_process *process,
			    const struct stack_record *record)
{
	struct callers callers;

	sort_callers(record, &callers);
	for (uint32_t i = record->natives && !record->native[0]; i < record->natives; i++) {
		uint64_t address = record->native[i];

		if (callers.next < callers.count && is_trampoline(process, address))
			address = callers.list[callers.next++].address;
		if (!can_be_return(process, record, address))
			return;
		/* This is the next instruction, not a return address. */
		if (!i && record->flags & STACK_INTERRUPTED)
			chain->interrupted[0] |= 1;
		chain->address[chain->count++] = address;
	}
	chain->truncated = record->flags & STACK_CUT;
}

static bool is_at_thread_entry(const struct call_chain *chain, struct stack_processes *processes,
			       const struct stack_process *process)
{
	struct native_frame frame;
	uint64_t address;
	bool is_there;

	if (!chain->count || !process)
		return false;
	address = chain->address[chain->count - 1];
	if (native_frames__find(stack_processes__frames(processes), process->native, address,
				ADDRESS_OF_RETURN, &frame))
		return false;
	/* Only a function without a name has its code read. */
	is_there = !frame.function && stack_process__is_there(process->pid, process->start_ns);
	return thread_entry__is(stack_processes__memory(processes), &frame, address,
				is_there ? process->pid : 0);
}

static int run_unwinder(struct call_chain *chain, struct stack_processes *processes,
			struct stack_process *process, const struct stack_record *record,
			enum unwind_end *end)
{
	int count;

	if (!process->unwinder)
		process->unwinder =
			unwinder__new(native_process__map(process->native),
				      native_frames__cache(stack_processes__frames(processes)));
	if (!process->unwinder)
		return -ENOMEM;
	memset(chain, 0, sizeof(*chain));
	count = unwinder__run(process->unwinder, record, chain->address, chain->interrupted,
			      CHAIN_MAX, end);
	if (count < 0)
		return count;
	chain->count = (uint32_t)count;
	chain->unwound = true;
	chain->truncated = *end == UNWIND_TRUNCATED || *end == UNWIND_FULL;
	chain->broken = *end == UNWIND_BROKEN;
	return 0;
}

/* Unwinds the copy. If that ends too early, the mappings may be outdated. */
static int unwind(struct call_chain *chain, struct stack_processes *processes,
		  struct stack_process *process, const struct stack_record *record, uint64_t now)
{
	enum unwind_end end = UNWIND_BROKEN;
	int ret = run_unwinder(chain, processes, process, record, &end);

	if (ret || end != UNWIND_BROKEN || !stack_processes__retry(processes, process, now))
		return ret;
	return run_unwinder(chain, processes, process, record, &end);
}

/*
 * If frame pointers pass through the last caller found in a short copy, continues with the callers
 * that they give beyond it.
 */
static void go_on_by_pointers(struct call_chain *chain, const struct stack_process *process,
			      const struct stack_record *record)
{
	uint64_t last = chain->address[chain->count - 1];
	uint32_t i = 1;

	while (i < record->natives && record->native[i] != last)
		i++;
	if (i >= record->natives)
		return;
	for (i++; i < record->natives && chain->count < CHAIN_MAX; i++) {
		if (!can_be_return(process, record, record->native[i]))
			return;
		chain->address[chain->count++] = record->native[i];
	}
	chain->truncated = record->flags & STACK_CUT;
}

int call_chain__make(struct call_chain *chain, enum stack_mode mode,
		     struct stack_processes *processes, struct stack_process *process,
		     const struct stack_record *record, uint64_t now)
{
	uint32_t by_pointers;
	int ret;

	memset(chain, 0, sizeof(*chain));
	if (record->flags & STACK_PYTHON)
		return 0;
	follow_pointers(chain, process, record);
	chain->whole = chain->truncated || is_at_thread_entry(chain, processes, process);
	chain->broken = !chain->whole;
	by_pointers = chain->count;
	if (!record->copied || !process || (mode == STACK_AUTO && chain->whole))
		return 0;
	ret = unwind(chain, processes, process, record, now);
	if (!ret && chain->truncated && record->flags & STACK_INTERRUPTED)
		go_on_by_pointers(chain, process, record);
	if (ret || !chain->broken || chain->count >= by_pointers)
		return ret;
	/*
	 * Frame pointers may leave out frames, but lead further than the available frame
	 * information.
	 */
	memset(chain, 0, sizeof(*chain));
	follow_pointers(chain, process, record);
	chain->broken = true;
	return 0;
}
