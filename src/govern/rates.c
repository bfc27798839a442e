// SPDX-License-Identifier: BSD-2-Clause
// Reads the number of calls of each thread, see rates.h.
#include "govern/rates.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpuprobe/state.h"
#include "gen/gpuprobe.skel.h"

#define BYTES (RATE_THREADS * sizeof(struct thread_rate))

struct rates {
	struct thread_rate *shared; /* the BPF map, mapped */
	const struct bpf_map *free;
};

int rates__new(const struct gpuprobe_bpf *skeleton, struct rates **out, struct error *err)
{
	struct rates *rates = calloc(1, sizeof(*rates));
	void *memory;

	if (!rates)
		return error__set(err, -ENOMEM, "out of memory");
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(skeleton->maps.thread_rates), 0);
	if (memory == MAP_FAILED) {
		free(rates);
		return error__set(err, -errno, "cannot map the threads' rates: %s",
				  strerror(errno));
	}
	rates->shared = memory;
	rates->free = skeleton->maps.free_rates;
	*out = rates;
	return 0;
}

void rates__free(struct rates *rates)
{
	if (!rates)
		return;
	munmap(rates->shared, BYTES);
	free(rates);
}

static void give_back(const struct rates *rates, uint32_t number)
{
	memset(&rates->shared[number], 0, sizeof(rates->shared[number]));
	bpf_map__update_elem(rates->free, NULL, 0, &number, sizeof(number), 0);
}

size_t rates__read(struct rates *rates, struct thread_rate *out, size_t capacity)
{
	size_t count = 0;

	for (uint32_t number = 0; number < RATE_THREADS && count < capacity; number++) {
		const struct thread_rate *shared = &rates->shared[number];
		/* The counters are final only once the end is set. */
		uint64_t ended_ns = __atomic_load_n(&shared->ended_ns, __ATOMIC_ACQUIRE);

		if (!__atomic_load_n(&shared->start_ns, __ATOMIC_ACQUIRE))
			continue;
		out[count] = *shared;
		out[count++].ended_ns = ended_ns;
		if (ended_ns)
			give_back(rates, number);
	}
	return count;
}
