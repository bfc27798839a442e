// SPDX-License-Identifier: BSD-2-Clause
// SipHash-1-3 (Aumasson and Bernstein); see hash.h.
#include "base/hash.h"

#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* Constant once the program runs. It is global because uthash has no argument to pass it in. */
static uint64_t key[2];

/*
 * Runs before main. If the kernel has no random numbers yet (early at boot), the time is better
 * than nothing.
 */
__attribute__((constructor)) static void make_key(void)
{
	struct timespec now;

	if (getrandom(key, sizeof(key), GRND_NONBLOCK) == sizeof(key))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	key[0] = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u;
	key[1] = (uint64_t)now.tv_sec ^ (uintptr_t)&now;
}

static uint64_t rotate(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static void mix(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static void take(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mix(v);
	v[0] ^= word;
}

unsigned int hash__of(const void *bytes, size_t size)
{
	uint64_t v[4] = {
		key[0] ^ 0x736f6d6570736575u,
		key[1] ^ 0x646f72616e646f6du,
		key[0] ^ 0x6c7967656e657261u,
		key[1] ^ 0x7465646279746573u,
	};
	const char *at = bytes;
	uint64_t word, sum;

	for (size_t left = size; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		take(v, word);
	}
	word = 0;
	memcpy(&word, at, size % sizeof(word));
	take(v, word | (uint64_t)size << 56);
	v[2] ^= 0xff;
	mix(v);
	mix(v);
	mix(v);
	sum = v[0] ^ v[1] ^ v[2] ^ v[3];
	return (unsigned int)(sum ^ sum >> 32);
}
