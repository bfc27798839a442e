/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash function of all uthash tables (base/table.h). Watched processes choose most of the keys:
 * handles, addresses, names. uthash's own function has no secret, so a process could choose
 * thousands of keys that collide in one chain.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>

/* SipHash-1-3 with a random key made when the program starts. */
unsigned int hash__of(const void *bytes, size_t size);

#define HASH_FUNCTION(key, size, hash) ((hash) = hash__of((key), (size)))

#endif
