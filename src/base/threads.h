/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the same work in several threads at once, for work that mostly waits for the kernel. */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#define THREADS_MAX 16

/*
 * Calls work(arg) in `count` threads (1 to THREADS_MAX) including the calling one, and returns when
 * all have returned. If fewer threads can be created, fewer do the work.
 */
void threads__run(void (*work)(void *arg), void *arg, unsigned int count);

/*
 * Calls work(arg, i) for each i below `count`, up to THREADS_MAX of them at once, and returns when
 * all have returned. The calls may come in any order.
 */
void threads__each(void (*work)(void *arg, unsigned int i), void *arg, unsigned int count);

#endif
