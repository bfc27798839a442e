/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the tests of the device clock. The long kernel `first` keeps a stream busy; the times
 * of work submitted meanwhile do not depend on the machine.
 */
#ifndef SIM_TESTS_CLOCK_H
#define SIM_TESTS_CLOCK_H

#include "check.h"

#define CLOCK "CUDA_SIM_CLOCK"
#define HOLD_NS 300000000ull
#define TIMES "kernel=1ms,kernel:first=300ms,copy=2ms+10ns/B,set=4ms+1ns/B"

extern CUfunction first, second;
extern CUevent held;
extern unsigned int rounds;

/* Opens the driver and creates all of these. */
void open_clock(void);
CUstream new_stream(unsigned int flags);
CUevent new_event(void);
void launch(CUfunction function, CUstream stream);
/*
 * Begins a round: keeps the stream busy until the event `held`. End the round with `ended`, which
 * returns whether everything was submitted before that event. If not, the machine was too slow, and
 * the round must be repeated.
 */
void hold(CUstream stream);
bool ended(void);
/* Time between two events in ns, with a precision of 10 ns because the API returns floats. */
double between(CUevent from, CUevent to);

/* A case that begins with open_clock(). */
#define CASE(name)							\
	static void clock_##name(void)					\
	{								\
		open_clock();						\
		test_##name();						\
	}								\
	_Static_assert(1, "")

#endif
