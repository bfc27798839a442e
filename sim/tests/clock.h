/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of the device clock share. The kernel `first` is a long one that holds a stream up; what is submitted
 * meanwhile has times that do not depend on the machine.
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

/* Opens the driver and makes all of these. */
void open_clock(void);
CUstream new_stream(unsigned int flags);
CUevent new_event(void);
void launch(CUfunction function, CUstream stream);
/*
 * Begins a round: the stream is held up until the event `held`. The round has to end with `ended`, which tells whether all
 * was submitted before that; if it was not, the machine was too slow, and there has to be another one.
 */
void hold(CUstream stream);
bool ended(void);
/* From one event to another, in ns; to 10 ns, since the API tells it in floats. */
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
