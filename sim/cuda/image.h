/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the code that a program loads: its kernels and variables. */
#ifndef SIM_CUDA_IMAGE_H
#define SIM_CUDA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Callbacks for what the parser finds; false ends the parsing. */
struct ptx_visitor {
	bool (*kernel)(void *context, const char *name);
	bool (*variable)(void *context, const char *name, size_t size);
	void *context;
};

/* Whether the code is text, as opposed to a binary whose kernels cannot be read here. */
bool image__is_text(const void *code);
/* Returns false if the text is no PTX, or if the visitor ended the parsing. */
bool ptx__parse(const char *text, const struct ptx_visitor *visitor);

#endif
