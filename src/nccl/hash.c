// SPDX-License-Identifier: BSD-2-Clause
// NCCL's two functions for the number of a communicator (src/include/bitops.h and src/init.cc of
// NCCL). Where the mixer's input is cut into feeds matters.
#include "nccl/hash.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FIRST_WITH_MIXER 22600

struct mixer {
	uint64_t a, b;
};

enum nccl_hashing nccl_hashing__of_version(int version)
{
	return version < FIRST_WITH_MIXER ? NCCL_HASHING_DJB2 : NCCL_HASHING_MIXER;
}

/* Feeds bytes. NCCL reads words in the order of the machine, which is little-endian wherever it
 * runs. */
static void feed(struct mixer *mixer, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	mixer->a ^= size;
	while (size) {
		size_t length = size < sizeof(uint64_t) ? size : sizeof(uint64_t);
		uint64_t word = 0;

		memcpy(&word, at, length);
		mixer->a += mixer->b;
		mixer->b ^= mixer->a;
		mixer->a ^= mixer->a >> 31;
		mixer->a *= 0x9de62bbc8cef3ce3;
		mixer->b ^= mixer->b >> 32;
		mixer->b *= 0x485cd6311b599e79;
		mixer->a += word;
		at += length;
		size -= length;
	}
}

static uint64_t digest(const struct mixer *mixer)
{
	uint64_t hash = mixer->a;

	hash ^= hash >> 31;
	hash *= 0xbac3bd562846de6b;
	hash += mixer->b;
	hash ^= hash >> 32;
	return hash * 0x995a187a14e7b445;
}

static uint64_t djb2a(const uint8_t bytes[NCCL_ID_SIZE])
{
	uint64_t hash = 5381;

	for (size_t i = 0; i < NCCL_ID_SIZE; i++)
		hash = hash * 33 ^ bytes[i];
	return hash;
}

uint64_t nccl_hash__id(enum nccl_hashing hashing, const uint8_t id[NCCL_ID_SIZE])
{
	struct mixer mixer = {1, 1};

	if (hashing == NCCL_HASHING_DJB2)
		return djb2a(id);
	feed(&mixer, id, NCCL_ID_SIZE);
	return digest(&mixer);
}

uint64_t nccl_hash__split(enum nccl_hashing hashing, uint64_t parent, int32_t number, int32_t color)
{
	struct mixer mixer = {1, 1};
	char id[NCCL_ID_SIZE] = "";

	if (hashing == NCCL_HASHING_DJB2) {
		/* NCCL makes an id of this text, as if the child had been created with it. */
		snprintf(id, sizeof(id), "%016" PRIx64 "-%" PRId32, parent, color);
		return djb2a((const uint8_t *)id);
	}
	feed(&mixer, &parent, sizeof(parent));
	feed(&mixer, &number, sizeof(number));
	feed(&mixer, &color, sizeof(color));
	return digest(&mixer);
}

uint64_t nccl_hash__shrink(uint64_t parent)
{
	return nccl_hash__split(NCCL_HASHING_MIXER, parent, 0, 0);
}

static uint64_t combine(uint64_t one, uint64_t other)
{
	struct mixer mixer = {1, 1};

	feed(&mixer, &one, sizeof(one));
	feed(&mixer, &other, sizeof(other));
	return digest(&mixer);
}

uint64_t nccl_hash__magic(const uint8_t id[NCCL_ID_SIZE])
{
	uint64_t magic;

	memcpy(&magic, id, sizeof(magic));
	return magic;
}

uint64_t nccl_hash__grown_magic(uint64_t parent_magic, int32_t number)
{
	return combine(parent_magic, (uint64_t)number);
}

uint64_t nccl_hash__grow(uint64_t grown_magic, int32_t size)
{
	return combine(grown_magic, (uint64_t)size);
}
