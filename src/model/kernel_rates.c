// SPDX-License-Identifier: BSD-2-Clause
// Rates of the kernels of one process, see kernel_rates.h.
#include "model/kernel_rates.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/table.h"

struct known {
	uint64_t serial; /* of the kernel */
	uint64_t launches;
	double rate;
	uint64_t sampled_ns;
	UT_hash_handle hh;
};

struct kernel_rates {
	struct known *known;
	int32_t pid;
	uint64_t start_ns;   /* of the process */
	uint64_t sampled_ns; /* 0: no reading yet */
};

struct kernel_rates *kernel_rates__new(void)
{
	return calloc(1, sizeof(struct kernel_rates));
}

static void forget(struct kernel_rates *rates)
{
	TABLE_CLEAR(rates->known, free);
	*rates = (struct kernel_rates){0};
}

void kernel_rates__free(struct kernel_rates *rates)
{
	if (!rates)
		return;
	forget(rates);
	free(rates);
}

/* A kernel that the previous reading did not have was launched for the first time since then. */
static void take(const struct kernel_rates *rates, struct known *known, const struct kernel *kernel,
		 uint64_t now_ns)
{
	uint64_t more = kernel->launches > known->launches ? kernel->launches - known->launches : 0;

	known->rate = rates->sampled_ns ?
			      (double)more / ((double)(now_ns - rates->sampled_ns) / NS_PER_S) :
			      KERNEL_RATE_UNKNOWN;
	known->launches = kernel->launches;
	known->sampled_ns = now_ns;
}

int kernel_rates__sample(struct kernel_rates *rates, const struct process *process, uint64_t now_ns)
{
	int ret = 0;

	if (rates->pid != process->pid || rates->start_ns != process->start_ns)
		forget(rates);
	if (now_ns <= rates->sampled_ns)
		return 0;
	rates->pid = process->pid;
	rates->start_ns = process->start_ns;
	for (size_t i = 0; i < process->kernel_count; i++) {
		const struct kernel *kernel = &process->kernels[i];
		struct known *known = TABLE_TAKE(rates->known, serial, &kernel->serial);

		if (known)
			take(rates, known, kernel, now_ns);
		else
			ret = -ENOMEM;
	}
	rates->sampled_ns = now_ns;
	TABLE_DROP(rates->known, known, known->sampled_ns != rates->sampled_ns, free);
	return ret;
}

double kernel_rates__of(const struct kernel_rates *rates, const struct kernel *kernel)
{
	const struct known *known = TABLE_FIND(rates->known, serial, &kernel->serial);

	return known ? known->rate : KERNEL_RATE_UNKNOWN;
}
