/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Returns the heap's free memory to the system: glibc by itself keeps memory that is free between
 * blocks in use.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdint.h>

/*
 * Gives large blocks, such as pages of metrics, a mapping of their own, which is returned as soon
 * as they are freed. Call once, at startup.
 */
void heap__settle(void);

/*
 * Returns free memory if there is much of it and two seconds have passed since the last time.
 * `last_ns` stores the time of the last call that did so; the caller initializes it to 0.
 */
void heap__give_back(uint64_t *last_ns, uint64_t now_ns);

#endif
