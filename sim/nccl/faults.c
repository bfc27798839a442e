// SPDX-License-Identifier: BSD-2-Clause
// Failures of the library itself, from CUDA_SIM_NCCL_FAULT.
#include "nccl/library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_FAULTS 16

static struct {
	char function[40];
	unsigned long at, calls;
	int result;
	bool hangs;
} faults[MOST_FAULTS];
static unsigned int fault_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

_Noreturn static void refuse(const char *text)
{
	fprintf(stderr, "CUDA_SIM_NCCL_FAULT=%s: not understood\n", text);
	_exit(1);
}

static void parse_one(const char *text, const char *all)
{
	char what[16];

	if (fault_count == MOST_FAULTS ||
	    sscanf(text, "%39[A-Za-z]:%lu=%15[a-z0-9]", faults[fault_count].function,
		   &faults[fault_count].at, what) != 3)
		refuse(all);
	faults[fault_count].hangs = !strcmp(what, "hang");
	faults[fault_count].result = atoi(what);
	if (!faults[fault_count].hangs && !faults[fault_count].result)
		refuse(all);
	fault_count++;
}

static void parse(void)
{
	const char *text = getenv("CUDA_SIM_NCCL_FAULT"), *at = text;

	while (at && *at) {
		parse_one(at, text);
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
}

int faults__inject(const char *function)
{
	int result = 0;
	bool hangs = false;

	pthread_once(&once, parse);
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < fault_count; i++) {
		/* An asynchronous error stays. */
		bool stays = !strcmp(faults[i].function, "AsyncError");

		if (strcmp(faults[i].function, function))
			continue;
		faults[i].calls++;
		if (faults[i].calls != faults[i].at && !(stays && faults[i].calls > faults[i].at))
			continue;
		result = faults[i].result;
		hangs |= faults[i].hangs;
	}
	pthread_mutex_unlock(&lock);
	if (hangs)
		for (;;)
			pause();
	return result;
}
