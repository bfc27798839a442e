/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the self-test: checks that end the process, look-ups in the truth file,
 * and the lists of cases.
 */
#ifndef SIM_TESTS_CHECK_H
#define SIM_TESTS_CHECK_H

#include "cuda_api.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case runs in a process of its own, with the environment that it needs. */
struct test {
	const char *name;
	void (*run)(void);
	const char *variable;
	const char *value;
};

/* Each list ends with an empty element. */
extern const struct test basic_tests[], truth_tests[], graph_tests[], family_tests[], v1_tests[],
	clock_tests[], clock_graph_tests[];

#define EXPECT(condition)								\
	do {										\
		if (!(condition)) {							\
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,	\
				#condition);						\
			exit(1);							\
		}									\
	} while (0)
#define OK(call) EXPECT((int)(call) == 0)
#define FAILS(code, call) EXPECT((int)(call) == (code))

#define TRUTH(...) truth(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *),	\
			 (const char *[]){ __VA_ARGS__ })
#define TOLD(value, ...)								\
	do {										\
		unsigned long long told_ = TRUTH(__VA_ARGS__);				\
											\
		if (told_ != (unsigned long long)(value)) {				\
			fprintf(stderr, "%s:%d: %s is %llu, not %s\n", __FILE__,	\
				__LINE__, #__VA_ARGS__, told_, #value);			\
			exit(1);							\
		}									\
	} while (0)

/* PTX with the kernels `first` and `second` and the variables `table` (64 B) and `number`. */
extern const char two_kernels[];

/*
 * The number in the truth file that follows the given keys, each of which is searched after the
 * previous one.
 */
unsigned long long truth(int nr_keys, const char *const *keys);
/* Initialises the driver and creates a context on device 0. */
CUcontext open_driver(void);

#endif
