/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the threads of a profile have missed: what the functions of a class of time have, and launches of kernels.
 * A thread's estimated time lies within its life.
 */
#ifndef GOVERN_ESTIMATE_THREADS_H
#define GOVERN_ESTIMATE_THREADS_H

#include "govern/estimate_sharing.h"

/*
 * Shares out what functions and kernels were given, and tells the profile what threads have missed. The time that
 * these calls have taken, or would have where their threads are not known, is added to sharing->ns. Returns 0 or -ENOMEM.
 */
int estimate_threads__share(struct sharing *sharing);

#endif
