/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash function of all of uthash's tables (base/table.h). Keys are in great part what watched processes choose:
 * handles, addresses, names. By uthash's own function, which is the same
 * everywhere, a process could choose thousands that come to lie in one chain.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>

/* SipHash-1-3 under a key that is made at random when the program starts. */
unsigned int hash__of(const void *bytes, size_t size);

#define HASH_FUNCTION(key, size, hash) ((hash) = hash__of((key), (size)))

#endif
