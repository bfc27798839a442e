// SPDX-License-Identifier: BSD-2-Clause
/*
 * The memory of the simulated devices: live allocations, free memory of each device, and the totals
 * for the truth file. One lock guards it all.
 */
#define _GNU_SOURCE
#include "cuda/memory.h"
#include "cuda/arena.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Address space of pinned host memory and of reserved ranges. */
#define HOST_RANGE (1ull << 38)
#define RESERVED_RANGE (1ull << 39)
#define LOW_RANGE (256ull << 20)
/* The memory of a freed allocation of this size or more is returned to the system. */
#define DISCARD_FROM (256u << 10)

static struct {
	pthread_mutex_t lock;
	struct arena devices[MAX_DEVICES];
	struct arena host;
	struct arena reserved;
	struct arena low;		/* for the API's first forms: below 4 GiB */
	uint64_t used[MAX_DEVICES];
	void *live;			/* a search tree of blocks, by address */
	/* By device; the last element is for memory on no device. */
	struct memory_totals totals[MAX_DEVICES + 1][MEMORY_KINDS];
	uint64_t next_id;
} memory = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *const kind_names[MEMORY_KINDS] = {
	[MEMORY_DEVICE] = "device", [MEMORY_MANAGED] = "managed", [MEMORY_HOST] = "host",
	[MEMORY_POOL] = "pool", [MEMORY_PHYSICAL] = "physical",
	[MEMORY_ARRAY] = "array", [MEMORY_IMPORTED] = "imported",
	[MEMORY_REGISTERED] = "registered", [MEMORY_MAPPED] = "mapped",
	[MEMORY_GLOBAL] = "global", [MEMORY_GRAPH] = "graph",
};

static struct memory_totals *totals_of(int device, enum memory_kind kind)
{
	return &memory.totals[device < 0 ? MAX_DEVICES : device][kind];
}

/* Blocks never overlap, so overlapping counts as equal. */
static int compare(const void *a, const void *b)
{
	const struct block *left = a, *right = b;

	if (left->address + left->size <= right->address)
		return -1;
	return left->address >= right->address + right->size;
}

static struct block *find(uint64_t address)
{
	struct block key = { .address = address, .size = 1 };
	struct block **node = tfind(&key, &memory.live, compare);

	return node ? *node : NULL;
}

static bool on_device(enum memory_kind kind)
{
	return kind == MEMORY_DEVICE || kind == MEMORY_MANAGED || kind == MEMORY_POOL ||
	       kind == MEMORY_ARRAY || kind == MEMORY_GLOBAL;
}

static void show(int device)
{
	show__used(device, memory.used[device]);
}

static bool charge(int device, uint64_t size)
{
	if (size > driver.memory || memory.used[device] > driver.memory - size)
		return false;
	memory.used[device] += size;
	show(device);
	return true;
}

static uint64_t charged_size(const struct block *block)
{
	return (block->size + 511) & ~511ull;
}

static struct arena *arena_of(const struct block *block)
{
	if (block->low)
		return &memory.low;
	if (on_device(block->kind))
		return &memory.devices[block->device];
	return block->kind == MEMORY_HOST ? &memory.host : &memory.reserved;
}

/* Pools reserve in steps of this size, as the real driver does (580, on an H200). */
#define POOL_STEP (32ull << 20)

static uint64_t whole_steps(uint64_t bytes)
{
	if (bytes > UINT64_MAX - POOL_STEP)
		return bytes;
	return (bytes + POOL_STEP - 1) / POOL_STEP * POOL_STEP;
}

/* Charges the allocation to its device; a pool may have reserved the memory already. */
static bool charge_block(const struct block *block)
{
	struct CUmemPoolHandle_st *pool = block->pool;
	uint64_t used;

	if (!on_device(block->kind))
		return true;
	if (!pool)
		return charge(block->device, charged_size(block));
	used = whole_steps(pool->used + block->size);
	if (used > pool->reserved_bytes) {
		if (!charge(block->device, used - pool->reserved_bytes))
			return false;
		pool->reserved_bytes = used;
	}
	if (pool->reserved_bytes > pool->reserved_high)
		pool->reserved_high = pool->reserved_bytes;
	return true;
}

/* Memory of a pool's allocation stays in the pool. */
static void uncharge_block(const struct block *block)
{
	if (!on_device(block->kind) || block->pool)
		return;
	memory.used[block->device] -= charged_size(block);
	show(block->device);
}

static void trim(struct CUmemPoolHandle_st *pool, uint64_t keep)
{
	uint64_t kept = whole_steps(keep > pool->used ? keep : pool->used);

	if (pool->reserved_bytes <= kept)
		return;
	memory.used[pool->device] -= pool->reserved_bytes - kept;
	show(pool->device);
	pool->reserved_bytes = kept;
}

void memory__trim_pool(struct CUmemPoolHandle_st *pool, uint64_t keep)
{
	pthread_mutex_lock(&memory.lock);
	trim(pool, keep);
	pthread_mutex_unlock(&memory.lock);
}

static void bury_pool(struct CUmemPoolHandle_st *pool)
{
	if (!pool->doomed || pool->used)
		return;
	trim(pool, 0);
	pool__give(driver.pools, pool);
}

void memory__doom_pool(struct CUmemPoolHandle_st *pool)
{
	pthread_mutex_lock(&memory.lock);
	pool->doomed = true;
	bury_pool(pool);
	pthread_mutex_unlock(&memory.lock);
}

bool memory__start(void)
{
	for (int device = 0; device < driver.nr_devices; device++)
		if (!arena__start(&memory.devices[device], driver.memory * 2 + (1ull << 30)))
			return false;
	return arena__start(&memory.host, HOST_RANGE) &&
	       arena__start(&memory.reserved, RESERVED_RANGE) &&
	       arena__start_low(&memory.low, LOW_RANGE);
}

void memory__forget(void)
{
	pthread_mutex_init(&memory.lock, NULL);
	memset(memory.totals, 0, sizeof(memory.totals));
	memory.live = NULL;
}

static bool insert(const struct block *block)
{
	struct block *copy = malloc(sizeof(*copy));
	struct block **node;

	if (!copy)
		return false;
	*copy = *block;
	copy->id = ++memory.next_id;
	node = tsearch(copy, &memory.live, compare);
	if (!node || *node != copy) {
		free(copy);
		return false;
	}
	totals_of(block->device, block->kind)->allocations++;
	totals_of(block->device, block->kind)->bytes_allocated += block->size;
	if (block->pool) {
		block->pool->used += block->size;
		if (block->pool->used > block->pool->used_high)
			block->pool->used_high = block->pool->used;
	}
	return true;
}

/* Removes the block from the tree and frees what it holds. */
static void drop(struct block *block)
{
	tdelete(block, &memory.live, compare);
	uncharge_block(block);
	if (block->span) {
		if (block->span >= DISCARD_FROM &&
		    (block->touched || !on_device(block->kind) || block->kind == MEMORY_MANAGED))
			arena__discard(block->address, block->span);
		arena__give(arena_of(block), block->address, block->span);
	}
	if (block->pool) {
		block->pool->used -= block->size;
		bury_pool(block->pool);
	}
	free(block);
}

int memory__allocate(const struct block *like, uint64_t *address)
{
	struct block block = *like;
	int result = CUDA_ERROR_OUT_OF_MEMORY;

	if (!address || !block.size)
		return CUDA_ERROR_INVALID_VALUE;
	if (block.size > 1ull << 50)
		return CUDA_ERROR_OUT_OF_MEMORY;
	/* Allocations from a pool or of a graph outlive the context. */
	block.context = block.pool || block.kind == MEMORY_GRAPH ? NULL : driver__context();
	if (block.kind != MEMORY_GRAPH)
		block.device = block.pool ? block.pool->device : driver__context()->device;
	block.span = arena__round(block.size);
	pthread_mutex_lock(&memory.lock);
	if (!charge_block(&block))
		goto out;
	block.address = arena__take(arena_of(&block), block.span);
	if (!block.address)
		goto uncharge;
	if (!insert(&block)) {
		arena__give(arena_of(&block), block.address, block.span);
		goto uncharge;
	}
	*address = block.address;
	result = CUDA_SUCCESS;
	goto out;
uncharge:
	uncharge_block(&block);
out:
	pthread_mutex_unlock(&memory.lock);
	return result;
}

void memory__run(uint64_t address)
{
	struct block *block;

	pthread_mutex_lock(&memory.lock);
	block = find(address);
	if (block && block->kind == MEMORY_GRAPH)
		block->ran = true;
	pthread_mutex_unlock(&memory.lock);
}

int memory__free(uint64_t address, unsigned int kinds, struct block *freed)
{
	int result = CUDA_ERROR_INVALID_VALUE;
	bool with_node = kinds == KIND(MEMORY_GRAPH);
	struct block *block;

	pthread_mutex_lock(&memory.lock);
	block = find(address);
	if (block && block->address == address && (KIND(block->kind) & kinds) &&
	    (block->kind != MEMORY_GRAPH || block->ran || with_node)) {
		if (freed)
			*freed = *block;
		totals_of(block->device, block->kind)->frees++;
		totals_of(block->device, block->kind)->bytes_freed += block->size;
		/*
		 * The next run of the graph allocates there again; the addresses are freed with the
		 * node.
		 */
		block->ran = false;
		if (block->kind != MEMORY_GRAPH || with_node)
			drop(block);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&memory.lock);
	return result;
}

int memory__adopt(const struct block *block)
{
	bool done;

	pthread_mutex_lock(&memory.lock);
	done = insert(block);
	pthread_mutex_unlock(&memory.lock);
	return done ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool memory__find(uint64_t address, struct block *found)
{
	struct block *block;

	pthread_mutex_lock(&memory.lock);
	block = find(address);
	if (block)
		*found = *block;
	pthread_mutex_unlock(&memory.lock);
	return block != NULL;
}

bool memory__covers(uint64_t address, uint64_t size, bool write)
{
	bool covered = true;

	if (size > UINT64_MAX - address)
		return false;
	pthread_mutex_lock(&memory.lock);
	while (size) {
		struct block *block = find(address);
		uint64_t part;

		if (!block) {
			covered = false;
			break;
		}
		block->touched |= write;
		part = block->address + block->size - address;
		part = part < size ? part : size;
		address += part;
		size -= part;
	}
	pthread_mutex_unlock(&memory.lock);
	return covered;
}

static bool holds(const struct arena *arena, uint64_t address)
{
	return address >= arena->base && address - arena->base < arena->size;
}

bool memory__is_ours(uint64_t address)
{
	for (int device = 0; device < driver.nr_devices; device++)
		if (holds(&memory.devices[device], address))
			return true;
	return holds(&memory.host, address) || holds(&memory.reserved, address) ||
	       holds(&memory.low, address);
}

int memory__charge(enum memory_kind kind, int device, uint64_t size)
{
	bool own = kind == MEMORY_PHYSICAL && device >= 0;
	bool done;

	pthread_mutex_lock(&memory.lock);
	done = !own || charge(device, size);
	if (done) {
		totals_of(device, kind)->allocations++;
		totals_of(device, kind)->bytes_allocated += size;
	}
	pthread_mutex_unlock(&memory.lock);
	return done ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void memory__uncharge(enum memory_kind kind, int device, uint64_t size)
{
	pthread_mutex_lock(&memory.lock);
	if (kind == MEMORY_PHYSICAL && device >= 0) {
		memory.used[device] -= size;
		show(device);
	}
	totals_of(device, kind)->frees++;
	totals_of(device, kind)->bytes_freed += size;
	pthread_mutex_unlock(&memory.lock);
}

uint64_t memory__reserve(uint64_t size)
{
	uint64_t address;

	pthread_mutex_lock(&memory.lock);
	address = arena__take(&memory.reserved, size);
	pthread_mutex_unlock(&memory.lock);
	return address;
}

void memory__unreserve(uint64_t address, uint64_t size)
{
	pthread_mutex_lock(&memory.lock);
	arena__discard(address, size);
	arena__give(&memory.reserved, address, size);
	pthread_mutex_unlock(&memory.lock);
}

uint64_t memory__used(int device)
{
	uint64_t used;

	pthread_mutex_lock(&memory.lock);
	used = memory.used[device];
	pthread_mutex_unlock(&memory.lock);
	return used;
}

struct visit {
	struct CUctx_st *context;
	struct block *found;
	FILE *out;
	const char *comma;
};

static void visit_context(const void *node, VISIT which, void *argument)
{
	struct block *block = *(struct block *const *)node;
	struct visit *visit = argument;

	if ((which == postorder || which == leaf) && block->context == visit->context) {
		block->next = visit->found;
		visit->found = block;
	}
}

void memory__release_all(struct CUctx_st *context)
{
	struct visit visit = { .context = context };
	struct block *next;

	pthread_mutex_lock(&memory.lock);
	twalk_r(memory.live, visit_context, &visit);
	for (struct block *block = visit.found; block; block = next) {
		next = block->next;
		totals_of(block->device, block->kind)->released++;
		totals_of(block->device, block->kind)->bytes_released += block->size;
		drop(block);
	}
	pthread_mutex_unlock(&memory.lock);
}

static void visit_live(const void *node, VISIT which, void *argument)
{
	const struct block *block = *(struct block *const *)node;
	struct visit *visit = argument;

	if ((which != postorder && which != leaf) || block->kind >= MEMORY_MAPPED)
		return;
	fprintf(visit->out, "%s\n  {\"address\":\"0x%" PRIx64 "\",\"size\":%" PRIu64
		",\"kind\":\"%s\",\"device\":%d}", visit->comma, block->address, block->size,
		kind_names[block->kind], block->device);
	visit->comma = ",";
}

struct memory_totals memory__totals(int device, enum memory_kind kind)
{
	struct memory_totals sum = { 0 };

	pthread_mutex_lock(&memory.lock);
	for (int i = 0; i <= MAX_DEVICES; i++) {
		const struct memory_totals *totals = &memory.totals[i][kind];

		if (device >= 0 && i != device)
			continue;
		sum.allocations += totals->allocations;
		sum.frees += totals->frees;
		sum.bytes_allocated += totals->bytes_allocated;
		sum.bytes_freed += totals->bytes_freed;
		sum.released += totals->released;
		sum.bytes_released += totals->bytes_released;
	}
	pthread_mutex_unlock(&memory.lock);
	return sum;
}

const char *memory__kind_name(enum memory_kind kind)
{
	return kind_names[kind];
}

void memory__describe_live(FILE *out)
{
	struct visit visit = { .out = out, .comma = "" };

	pthread_mutex_lock(&memory.lock);
	fputs(" \"live\": [", out);
	twalk_r(memory.live, visit_live, &visit);
	fputs("\n ]", out);
	pthread_mutex_unlock(&memory.lock);
}
