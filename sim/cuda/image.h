/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading of the code that a program loads: which kernels and variables it has.
 */
#ifndef SIM_CUDA_IMAGE_H
#define SIM_CUDA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* What the parser calls for each thing that it finds; false ends the parsing. */
struct ptx_visitor {
	bool (*kernel)(void *context, const char *name);
	bool (*variable)(void *context, const char *name, size_t size);
	void *context;
};

/* Whether the code is text, as opposed to a binary whose kernels cannot be read here. */
bool image__is_text(const void *code);
/* False if the text is no PTX, or the visitor ended it. */
bool ptx__parse(const char *text, const struct ptx_visitor *visitor);

#endif
