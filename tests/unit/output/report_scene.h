/* SPDX-License-Identifier: BSD-2-Clause */
/* Text reports of models built by hand. Include after cmocka.h. */
#ifndef TESTS_REPORT_SCENE_H
#define TESTS_REPORT_SCENE_H

#include <stdio.h>
#include <stdlib.h>

#include "model_builder.h"
#include "output/report/text.h"

#define RULE "========================\n"
#define DATE "2026-01-02 12:37:14\n"
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct report_options plain = {.top = 20};

static inline struct model model_of(struct process *processes, size_t count, unsigned int sections)
{
	struct model model = {
		.wall = {.tv_sec = 1767357434},
		.sections = sections,
		.launch_sample = 64,
		.libraries = 1,
		.processes = processes,
		.process_count = count,
	};

	return model;
}

static inline char *print(const struct model *model, const struct report_options *options)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	report_text__print(out, model, options);
	assert_int_equal(fclose(out), 0);
	return text;
}

static inline void expect_report(const struct model *model, const struct report_options *options,
				 const char *expected)
{
	char *text = print(model, options);

	assert_string_equal(text, expected);
	free(text);
}

/* A process that has only launched one kernel. */
static inline struct process launcher(int pid, struct kernel *kernel)
{
	struct process p = {
		.pid = pid,
		.comm = "run",
		.kernels = kernel,
		.kernel_count = 1,
		.launches = kernel->launches,
	};

	return p;
}

#endif
