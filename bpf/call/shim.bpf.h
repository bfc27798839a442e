// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Driver libraries in front of others: a loader, a quota or a tracer that exports libcuda's
 * functions and calls the real ones, or jumps to them. A call through both is one call, that of the
 * outer function. For most calls the outer one is found on the thread's record. Launches are not
 * recorded there, except in processes that call more than one driver library.
 */
#ifndef BPF_CALL_SHIM_BPF_H
#define BPF_CALL_SHIM_BPF_H

#include "call/thread.bpf.h"

static __always_inline u8 driver_of_site(u32 site)
{
	return site >> SITE_DRIVER_SHIFT;
}

/*
 * Notes which driver library the process calls. Returns whether the library may be in front of
 * another one.
 */
static __always_inline bool note_driver(struct process_record *process, u32 site)
{
	u8 driver = driver_of_site(site);

	if (!driver)
		return false;
	if (!process->driver) {
		process->driver = driver;
		return true;
	}
	if (process->driver != driver)
		process->calls_drivers = 1;
	return process->calls_drivers;
}

/* As note_driver, for calls other than launches. */
static __noinline int note_driver_of(struct thread *thread, u32 site)
{
	struct process_record *process = thread ? process_at(thread->slot) : NULL;

	return process && note_driver(process, site);
}

/* A function of the driver library `outer` has called the one at `site`. */
static __always_inline void note_shim(u32 slot, u8 outer, u32 site)
{
	u8 inner = driver_of_site(site);
	struct process_record *process;

	if (!outer || !inner || outer == inner)
		return;
	process = process_at(slot);
	if (!process || process->shim)
		return;
	process->behind_shim = inner;
	process->shim = outer;
}

#endif
