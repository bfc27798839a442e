// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe's BPF program itself, compiled for this machine, see program.h.
#include "program.h"

#include <stdbool.h>

#include "gpuprobe/state.h"

/* Userspace sets these before the program is loaded; only the verifier treats them as constants. */
extern const volatile struct config config __attribute__((section(".bss.config")));
extern const volatile struct function_desc functions[MAX_FUNCTIONS]
	__attribute__((section(".bss.functions")));

/* Warnings about the program are reported where it is compiled for BPF. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"
#endif
#include "gpuprobe.bpf.c"
#pragma GCC diagnostic pop

#define PLACES 64 /* threads at a time */
#define PROCESSES 4

/*
 * The writable memory of a constant. The compiler must not know that it is written, or it would
 * drop the write.
 */
static void *memory_of(const volatile void *constant)
{
	uintptr_t address = (uintptr_t)constant;

	barrier_var(address);
	return (void *)address;
}

static void set_constants(void)
{
	const struct config chosen = {
		.links = LINKS_MULTI,
		.launch_sample = 1,
		.launch_returns = 1,
		.track_inflight = 1,
		.profile = 1,
		.idle_records = 1,
		.stack_sample = 1,
		.max_kernels = 1 << 16,
		.max_objects = 1 << 16,
		.max_allocations = 1 << 20,
		.pidns_inum = PROGRAM_PIDNS,
	};
	struct function_desc *rows = memory_of(functions);

	memcpy(memory_of(&config), &chosen, sizeof(chosen));
	for (size_t i = 0; i < api_function_count; i++)
		rows[i] = api_functions[i].desc;
}

static void size_maps(void)
{
	map__resize(KEYED_MAP(&thread_accounts), PLACES);
	map__resize(KEYED_MAP(&process_accounts), PROCESSES);
	map__resize(KEYED_MAP(&durations), PROFILE_DURATIONS);
	map__resize(KEYED_MAP(&duration_numbers), PROFILE_DURATIONS);
	map__resize(KEYED_MAP(&sizes), 1 << 14);
	map__resize(KEYED_MAP(&copy_sizes), 1 << 10);
	map__resize(KEYED_MAP(&ignored), 1 << 10);
	map__resize(KEYED_MAP(&copy_targets), 1 << 14);
	map__resize(KEYED_MAP(&repeats), 1 << 14);
}

static void fill_queues(void)
{
	for (__u32 i = 0; i < PROCESSES; i++)
		bpf_map_push_elem(&free_slots, &i, 0);
	for (__u32 i = 0; i < PLACES; i++)
		bpf_map_push_elem(&free_places, &i, 0);
	for (__u32 i = 0; i < PROFILE_DURATIONS; i++)
		bpf_map_push_elem(&free_durations, &i, 0);
}

void program__load(__u64 now_ns)
{
	program__unload();
	machine.now_ns = now_ns;
	attached_ns = now_ns;
	any_sticky = 0;
	kernel_keys = 0;
	live_granted = 0;
	object_keys = 0;
	ended_accounts = 0;
	set_constants();
	size_maps();
	fill_queues();
}

void program__unload(void)
{
	maps__free();
	machine__clear();
}

void program__enter(struct pt_regs *registers)
{
	call_entry(registers);
	maps__bury();
}

void program__return(struct pt_regs *registers)
{
	call_return(registers);
	maps__bury();
}

void program__thread_ends(void)
{
	__u64 arguments[] = {(uintptr_t)machine.task};

	process_exit((void *)arguments);
	maps__bury();
}

struct process_profile *program__profile(__u32 slot)
{
	return bpf_map_lookup_elem(&process_accounts, &slot);
}

__u64 program__lost(enum loss reason)
{
	__u32 key = reason;

	return *(__u64 *)bpf_map_lookup_elem(&losses, &key);
}
