/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Missed calls of the threads of a profile: what the functions of a time class got, and launches
 * of kernels. A thread's estimated time is limited by its lifetime.
 */
#ifndef GOVERN_ESTIMATE_THREADS_H
#define GOVERN_ESTIMATE_THREADS_H

#include "govern/estimate_sharing.h"

/*
 * Distributes what functions and kernels got, and stores the threads' missed calls in the profile.
 * Adds to sharing->ns the time of these calls, or the time they would have taken if their threads
 * are unknown. Returns 0 or -ENOMEM.
 */
int estimate_threads__share(struct sharing *sharing);

#endif
