/* SPDX-License-Identifier: BSD-2-Clause */
/* The same work in several threads at once, where it is waiting for the kernel that takes the time. */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#define THREADS_MAX 16

/*
 * Calls work(arg) in `count` threads, 1 to THREADS_MAX, of which the calling one is one, and returns when all have
 * returned. Where fewer can be had, fewer do it.
 */
void threads__run(void (*work)(void *arg), void *arg, unsigned int count);

#endif
