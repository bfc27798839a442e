/* SPDX-License-Identifier: BSD-2-Clause */
/* The heap's memory goes back to the system: left alone, glibc keeps what has been free between what is in use. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdint.h>

/* Large pieces, such as pages of metrics, get memory of their own, which goes back as they are freed. Once, at the start. */
void heap__settle(void);

/*
 * Gives back what is free, where that is much and was not done in the last two seconds before `now_ns`; `last_ns`, at
 * first 0, has when that was.
 */
void heap__give_back(uint64_t *last_ns, uint64_t now_ns);

#endif
