// SPDX-License-Identifier: BSD-2-Clause
// libcufft.so.12: plans, whose handles are small numbers from 0 on, see handle.h.
#include "libraries/handle.h"

#define INVALID_PLAN 1
#define ALLOC_FAILED 2
#define PLANS 65536

LIBRARY_EXPORT int cufftPlan1d(int *plan, int nx, int type, int batch);
LIBRARY_EXPORT int cufftDestroy(int plan);

static struct handle *plans[PLANS];

int cufftPlan1d(int *plan, int nx, int type, int batch)
{
	int number = 0;

	(void)nx;
	(void)type;
	(void)batch;
	while (number < PLANS && plans[number])
		number++;
	if (number == PLANS)
		return ALLOC_FAILED;
	plans[number] = handle__new(SIM_CUFFT, 0);
	if (!plans[number])
		return ALLOC_FAILED;
	*plan = number;
	return 0;
}

int cufftDestroy(int plan)
{
	if (plan < 0 || plan >= PLANS || !plans[plan])
		return INVALID_PLAN;
	handle__free(plans[plan]);
	plans[plan] = NULL;
	return 0;
}
