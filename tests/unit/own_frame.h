/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function that always has its own stack frame, even if the compiler could do without: for tests
 * of stacks.
 */
#ifndef OWN_FRAME_H
#define OWN_FRAME_H

#ifdef __clang__
#define OWN_FRAME __attribute__((noinline, optnone))
#else
#define OWN_FRAME __attribute__((noipa))
#endif

#endif
