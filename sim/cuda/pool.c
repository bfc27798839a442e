// SPDX-License-Identifier: BSD-2-Clause
/*
 * Objects behind handles. A pool reserves one address range and hands out its slots; a freed slot
 * is the next one handed out, so a handle is soon reused for another object.
 */
#include "cuda/driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct pool {
	char *base;
	size_t size;		/* of a slot, a power of two */
	size_t capacity;
	size_t used;		/* slots handed out at least once */
	size_t nr_free;
	uint32_t *free;		/* a stack of slots */
	pthread_mutex_t lock;
};

struct pool *pool__new(size_t size, size_t capacity)
{
	struct pool *pool = calloc(1, sizeof(*pool));
	int prot = PROT_READ | PROT_WRITE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

	if (!pool)
		return NULL;
	for (pool->size = 64; pool->size < size; pool->size *= 2)
		;
	pool->capacity = capacity;
	pthread_mutex_init(&pool->lock, NULL);
	pool->base = mmap(NULL, pool->size * capacity, prot, flags, -1, 0);
	pool->free = mmap(NULL, capacity * sizeof(*pool->free), prot, flags, -1, 0);
	if (pool->base == MAP_FAILED || (void *)pool->free == MAP_FAILED) {
		free(pool);
		return NULL;
	}
	return pool;
}

/* Slots are read without the lock, so the member that makes one live is written last. */
static void set_live(struct object *object, uint32_t live)
{
	__atomic_store_n(&object->live, live, __ATOMIC_RELEASE);
}

static bool is_live(const struct object *object)
{
	return __atomic_load_n(&object->live, __ATOMIC_ACQUIRE);
}

static size_t nr_used(const struct pool *pool)
{
	return __atomic_load_n(&pool->used, __ATOMIC_ACQUIRE);
}

static void wipe(const struct pool *pool, struct object *object)
{
	memset(object + 1, 0, pool->size - sizeof(*object));
}

void *pool__take(struct pool *pool)
{
	struct object *object = NULL;

	pthread_mutex_lock(&pool->lock);
	if (pool->nr_free)
		object = (void *)(pool->base + pool->size * pool->free[--pool->nr_free]);
	else if (pool->used < pool->capacity)
		object = (void *)(pool->base + pool->size * pool->used);
	if (object) {
		object->type = 0;
		wipe(pool, object);
		set_live(object, 1);
		if ((char *)object == pool->base + pool->size * pool->used)
			__atomic_store_n(&pool->used, pool->used + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&pool->lock);
	return object;
}

void pool__give(struct pool *pool, void *object)
{
	size_t slot = (size_t)((char *)object - pool->base) / pool->size;

	pthread_mutex_lock(&pool->lock);
	set_live(object, 0);
	wipe(pool, object);
	pool->free[pool->nr_free++] = (uint32_t)slot;
	pthread_mutex_unlock(&pool->lock);
}

bool pool__holds(const struct pool *pool, const void *object)
{
	size_t offset;

	if (!pool || (const char *)object < pool->base)
		return false;
	offset = (size_t)((const char *)object - pool->base);
	if (offset >= nr_used(pool) * pool->size || (offset & (pool->size - 1)))
		return false;
	return is_live(object);
}

void *pool__next(const struct pool *pool, const void *object)
{
	size_t slot = 0;

	if (object)
		slot = (size_t)((const char *)object - pool->base) / pool->size + 1;
	for (; slot < nr_used(pool); slot++) {
		struct object *next = (void *)(pool->base + slot * pool->size);

		if (is_live(next))
			return next;
	}
	return NULL;
}
