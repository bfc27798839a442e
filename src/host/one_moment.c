// SPDX-License-Identifier: BSD-2-Clause
// Takes values of one moment; see one_moment.h.
#include "host/one_moment.h"

#include "base/clock.h"

void one_moment__take(void (*take)(void *arg), void *arg)
{
	uint64_t began_ns;

	for (int tries = 0; tries < MOMENT_TRIES; tries++) {
		began_ns = clock__boot_ns();
		take(arg);
		if (clock__boot_ns() - began_ns < MOMENT_NS)
			return;
	}
}
