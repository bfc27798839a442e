/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests that bound a time, or look at what valgrind has put in the place of the program's own.
 */
#ifndef NO_VALGRIND_H
#define NO_VALGRIND_H

#include <cmocka.h>

/* Skips the test in the build that is for valgrind (tests/valgrind/valgrind.mk). */
static inline void not_under_valgrind(void)
{
#ifdef GPUPROBE_VALGRIND
	skip();
#endif
}

#endif
