// SPDX-License-Identifier: BSD-2-Clause
// States of threads; see run_state.h.
#include "dump/run_state.h"

/* From Linux's include/linux/sched.h, 6.1 to 6.18. */
#define TASK_WAKING 0x0200
#define TASK_NO_LOAD 0x0400 /* with TASK_SLEEPS_ON: TASK_IDLE, "I" in ps */
#define TASK_NEW 0x0800
#define TASK_LOCK_WAIT 0x1000 /* PREEMPT_RT's spin locks */

/* For a thread that is on no CPU. */
static enum dump_run by_bits(const struct thread_look *look)
{
	if (look->state & TASK_FROZEN)
		return DUMP_FROZEN;
	if (look->state & TASK_TRACED)
		return DUMP_TRACED;
	if (look->state & TASK_STOPPED)
		return DUMP_STOPPED;
	if (!look->state || look->state & (TASK_WAKING | TASK_NEW))
		return DUMP_READY;
	if (look->state & TASK_LOCK_WAIT)
		return DUMP_SLEEPS_ON;
	if (look->state & TASK_SLEEPS_ON && !(look->state & TASK_NO_LOAD))
		return DUMP_SLEEPS_ON;
	return DUMP_SLEEPS;
}

enum dump_run run_state__of(const struct thread_look *look)
{
	enum dump_run run = look->on_cpu ? DUMP_RUNS : by_bits(look);

	return look->frozen && (run == DUMP_SLEEPS || run == DUMP_SLEEPS_ON) ? DUMP_FROZEN : run;
}
