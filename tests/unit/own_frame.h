/* SPDX-License-Identifier: BSD-2-Clause */
/* A function that has a frame of its own on the stack, whatever the compiler could do without: for tests of stacks. */
#ifndef OWN_FRAME_H
#define OWN_FRAME_H

#ifdef __clang__
#define OWN_FRAME __attribute__((noinline, optnone))
#else
#define OWN_FRAME __attribute__((noipa))
#endif

#endif
