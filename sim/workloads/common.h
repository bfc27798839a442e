/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the workloads: their options, the text of their kernels, and helpers for both APIs. If
 * a CUDA call fails that must succeed, the workload ends with status 1.
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
	const char *choices;	/* for OPTION_CHOICE, "first|second": value is the index */
	const char *help;
};

/*
 * Parses the options into their values; a number may end in K, M or G. Prints the help and exits
 * with 0 for --help; prints a message and exits with 2 for a wrong option. The list ends with an
 * option without name.
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

/* Returns zeroed memory of `size` bytes; ends the workload if there is none. */
void *must_allocate(size_t size);

/*
 * The name of kernel `index`: PREFIX_INDEX, padded with 'x' to `length` letters; length 0 means no
 * padding. A prefix that begins with _Z and ends in 'v' is a mangled name and is used unchanged for
 * kernel 0.
 */
char *kernel_name(const char *prefix, uint64_t index, size_t length);
/* Returns PTX with `count` empty kernels of those names. The caller frees it. */
char *kernels_text(const char *prefix, uint64_t count, size_t length);

double now(void);
void sleep_seconds(double seconds);

/* Runs `run` in `count` threads with the arguments 0, 1, ... and waits for all. */
void run_threads(uint64_t count, void (*run)(uint64_t index, void *context), void *context);

#endif
