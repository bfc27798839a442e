// SPDX-License-Identifier: BSD-2-Clause
// Gates of streams. Waits poll and sleep: ranks are many, and the CPUs are few.
#include "cuda/gate.h"

#include <pthread.h>
#include <time.h>

#define POLL_NS 50000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* threads share a context's gates */

static void add(struct gates *gates, const struct gate *gate)
{
	unsigned int i = 0;

	while (i < gates->count && (gates->gates[i].source != gate->source ||
				    gates->gates[i].open != gate->open))
		i++;
	if (i == SIM_GATES)
		return;
	if (i == gates->count)
		gates->gates[gates->count++] = *gate;
	else if (gate->number > gates->gates[i].number)
		gates->gates[i].number = gate->number;
}

void gates__add(struct gates *gates, const struct gate *gate)
{
	pthread_mutex_lock(&lock);
	add(gates, gate);
	pthread_mutex_unlock(&lock);
}

void gates__join(struct gates *gates, const struct gates *more)
{
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < more->count; i++)
		add(gates, &more->gates[i]);
	pthread_mutex_unlock(&lock);
}

bool gates__open(struct gates *gates)
{
	bool open = true;

	if (!__atomic_load_n(&gates->count, __ATOMIC_RELAXED))
		return true;
	pthread_mutex_lock(&lock);
	while (open && gates->count) {
		const struct gate *gate = &gates->gates[gates->count - 1];

		open = gate->open(gate->source, gate->number);
		gates->count -= open;
	}
	pthread_mutex_unlock(&lock);
	return open;
}

void gates__wait(struct gates *gates)
{
	const struct timespec poll = { .tv_nsec = POLL_NS };

	while (!gates__open(gates))
		nanosleep(&poll, NULL);
}
