/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes values that belong to one moment. If gpuprobe itself loses the CPU while it takes them, the
 * threads go on meanwhile, so the values would be of different moments.
 */
#ifndef HOST_ONE_MOMENT_H
#define HOST_ONE_MOMENT_H

#define MOMENT_NS 10000000 /* values are of one moment if taking them took less */
#define MOMENT_TRIES 3

/*
 * Calls `take` with `arg`, and calls it again if that took MOMENT_NS or more, MOMENT_TRIES times at
 * most. The values of the last call count.
 */
void one_moment__take(void (*take)(void *arg), void *arg);

#endif
