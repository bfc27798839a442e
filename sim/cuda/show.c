// SPDX-License-Identifier: BSD-2-Clause
/*
 * What this process shows the simulated NVML about its use of the devices: a page in a memfd, made
 * with the first context.
 */
#define _GNU_SOURCE
#include "cuda/memory.h"
#include "cuda/usage.h"

#include <sys/mman.h>
#include <unistd.h>

static struct usage *shown;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct usage *make(void)
{
	struct usage *usage;
	int fd = memfd_create(USAGE_NAME, MFD_CLOEXEC);

	if (fd < 0)
		return NULL;
	usage = MAP_FAILED;
	if (!ftruncate(fd, sizeof(*usage)))
		usage = mmap(NULL, sizeof(*usage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (usage == MAP_FAILED) {
		close(fd);
		return NULL;
	}
	/* The descriptor stays open, because NVML finds the page by it. */
	usage->nr_devices = (uint32_t)driver.nr_devices;
	usage->memory = driver.memory;
	usage__machine(usage->machine);
	__atomic_store_n(&usage->magic, USAGE_MAGIC, __ATOMIC_RELEASE);
	return usage;
}

void show__context(int device)
{
	pthread_mutex_lock(&lock);
	if (!shown)
		__atomic_store_n(&shown, make(), __ATOMIC_RELEASE);
	if (shown)
		shown->contexts[device]++;
	pthread_mutex_unlock(&lock);
}

void show__used(int device, uint64_t bytes)
{
	struct usage *usage = __atomic_load_n(&shown, __ATOMIC_ACQUIRE);

	if (usage)
		__atomic_store_n(&usage->used[device], bytes, __ATOMIC_RELAXED);
}

void show__forget(void)
{
	pthread_mutex_init(&lock, NULL);
	shown = NULL;
}
