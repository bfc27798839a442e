/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the workloads share: their options, the text of their kernels, and the
 * little of the two APIs that all of them need. A CUDA call that must succeed
 * and does not ends the workload with status 1.
 */
#ifndef WORKLOADS_COMMON_H
#define WORKLOADS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type { OPTION_FLAG, OPTION_NUMBER, OPTION_SECONDS, OPTION_TEXT, OPTION_CHOICE };

struct workload_option {
	const char *name;
	enum option_type type;
	void *value;		/* bool, uint64_t, double, const char * or int */
	const char *choices;	/* of OPTION_CHOICE, "first|second": value is the index */
	const char *help;
};

/*
 * Reads the options into their values; a number may end in K, M or G. Prints the
 * help and ends with 0 for --help, with a message and 2 for a wrong option. The
 * list ends with an option without name.
 */
void monitor_options__parse(int argc, char **argv, const char *about,
		    const struct workload_option *options);

enum api { API_RUNTIME, API_DRIVER };
#define API_CHOICES "runtime|driver"

/* Ends the workload if the result of a CUDA call is not success. */
void need(int result, const char *what);
#define NEED(call) need((int)(call), #call)

/* Prints the message and ends the workload with status 1. */
_Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the workload if memory for `size` bytes cannot be had; zeroed. */
void *must_allocate(size_t size);

/*
 * The name of kernel `index`: PREFIX_INDEX, filled with 'x' to `length` letters;
 * with length 0 no longer than needed. A prefix that ends in 'v' and begins with
 * _Z is a mangled name and is used as it is for kernel 0.
 */
char *kernel_name(const char *prefix, uint64_t index, size_t length);
/* PTX with `count` kernels of those names, which do nothing. Free it. */
char *kernels_text(const char *prefix, uint64_t count, size_t length);

double now(void);
void sleep_seconds(double seconds);

/* Runs `run` in so many threads with the arguments 0, 1, ... and waits for all. */
void run_threads(uint64_t count, void (*run)(uint64_t index, void *context), void *context);

#endif
