// SPDX-License-Identifier: BSD-2-Clause
/* The library that stacks.cc loads, calls and unloads. */
void call_back(void (*function)(void));

static volatile int calls;

static __attribute__((noinline)) void call(void (*function)(void))
{
	function(); // at call
	calls++;
}

void call_back(void (*function)(void))
{
	call(function); // at call_back
	calls++;
}
