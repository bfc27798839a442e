// SPDX-License-Identifier: BSD-2-Clause
/*
 * The names of kernels, each stored once and forever, so that launches can be counted in arrays and
 * a name outlives its module.
 */
#include "record/record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) ((entry)->id = 0)
#include <uthash.h>

#define BLOCK 1024u
#define BLOCKS 4096u

struct name {
	uint32_t id;
	UT_hash_handle hh;
	char text[];
};

static struct {
	pthread_mutex_t lock;
	struct name *by_text;
	struct name **blocks[BLOCKS];	/* by id; a block never moves */
	uint32_t count;			/* ids in use, including SIM_NO_KERNEL */
} names = { .lock = PTHREAD_MUTEX_INITIALIZER, .count = 1 };

static struct name *add(const char *text, size_t length)
{
	struct name **block = names.blocks[names.count / BLOCK];
	struct name *name = calloc(1, sizeof(*name) + length + 1);

	if (!name)
		return NULL;
	if (!block)
		block = names.blocks[names.count / BLOCK] = calloc(BLOCK, sizeof(*block));
	if (!block) {
		free(name);
		return NULL;
	}
	memcpy(name->text, text, length + 1);
	name->id = names.count;
	HASH_ADD_KEYPTR(hh, names.by_text, name->text, length, name);
	if (!name->id) {
		free(name);
		return NULL;
	}
	block[names.count % BLOCK] = name;
	__atomic_store_n(&names.count, names.count + 1, __ATOMIC_RELEASE);
	return name;
}

uint32_t sim_names__intern(const char *text)
{
	size_t length = strlen(text);
	struct name *name;
	uint32_t id = SIM_NO_KERNEL;

	pthread_mutex_lock(&names.lock);
	HASH_FIND(hh, names.by_text, text, length, name);
	if (!name && names.count < BLOCK * BLOCKS)
		name = add(text, length);
	if (name)
		id = name->id;
	pthread_mutex_unlock(&names.lock);
	return id;
}

const char *sim_names__get(uint32_t id)
{
	if (id == SIM_NO_KERNEL || id >= sim_names__count())
		return "(no kernel)";
	return names.blocks[id / BLOCK][id % BLOCK]->text;
}

uint32_t sim_names__count(void)
{
	return __atomic_load_n(&names.count, __ATOMIC_ACQUIRE);
}
