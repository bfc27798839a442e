// SPDX-License-Identifier: BSD-2-Clause
/*
 * The driver's lock: CUDA_SIM_LOCK, a list of functions of the driver. Each holds the lock during
 * its latency. The driver's launches and copies need the lock for a moment when they begin, and so
 * do the listed functions.
 */
#include "record/internal.h"

#include <stdlib.h>

static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;

static bool needs_lock(const struct sim_function *function)
{
	return function->family == SIM_LAUNCH || function->family == SIM_COPY;
}

void sim_lock__arm(struct sim_function *function)
{
	const char *list = getenv("CUDA_SIM_LOCK");

	if (!list || function->layer != SIM_DRIVER)
		return;
	if (sim_parse__is_listed(list, function->name))
		function->lock = SIM_LOCK_HELD;
	else if (needs_lock(function))
		function->lock = SIM_LOCK_NEEDED;
}

void sim_lock__take(const struct sim_function *function)
{
	if (!function->lock)
		return;
	pthread_mutex_lock(&driver_lock);
	if (function->lock == SIM_LOCK_NEEDED)
		pthread_mutex_unlock(&driver_lock);
}

void sim_lock__give_back(const struct sim_function *function)
{
	if (function->lock == SIM_LOCK_HELD)
		pthread_mutex_unlock(&driver_lock);
}
