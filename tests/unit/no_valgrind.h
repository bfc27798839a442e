/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests that bound a time, or inspect what valgrind replaces in a program. */
#ifndef NO_VALGRIND_H
#define NO_VALGRIND_H

#include <cmocka.h>

/* Skips the test in the build for valgrind (tests/valgrind/valgrind.mk). */
static inline void not_under_valgrind(void)
{
#ifdef GPUPROBE_VALGRIND
	skip();
#endif
}

#endif
