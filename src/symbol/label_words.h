/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of kernel labels: usual names of types, which classes are wrappers around what tells
 * kernels apart, and which parts of names are noise.
 */
#ifndef SYMBOL_LABEL_WORDS_H
#define SYMBOL_LABEL_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "symbol/name_tree.h"

/* How a class among template arguments is shown. */
enum label_form {
	LABEL_NAMED, /* its name and what tells among its own arguments */
	LABEL_OPEN,  /* only what tells among its arguments */
	LABEL_TYPES, /* only the data types in it */
	LABEL_SHAPE, /* its numbers: "128x64x32" */
	LABEL_BYTES, /* its number, which is a size: "8B" */
	LABEL_LEFT_OUT,
	LABEL_FLASH, /* type and head size of a flash attention kernel */
};

struct label_class {
	const char *name;
	const char *note; /* a word for the label; NULL: none */
	enum label_form form;
	/* LABEL_NAMED, LABEL_OPEN: which of its arguments are shown, a bit each */
	unsigned int arguments;
};

/* The usual name of a data type, such as "bf16"; NULL: it is none. */
const char *label_words__type(const struct name_part *part);

/* The usual name of the type of complex numbers whose parts have that type; NULL: unknown. */
const char *label_words__complex(const struct name_part *part);

/* Whether the type is one for indexes and sizes; false for NULL. */
bool label_words__is_index(const char *type);

/* How to show a class or function among template arguments; never NULL. */
const struct label_class *label_words__class(const struct name_part *part);

/*
 * The name of one of a kernel's boolean template arguments; `number` counts them from 0. Empty: the
 * argument tells nothing; NULL: it has no name.
 */
const char *label_words__flag(const struct name_part *kernel, unsigned int number);

/* The length of a kernel's name without noise at its end. */
size_t label_words__kernel(const struct name_part *kernel);

/* Whether the name says nothing, such as "Kernel2": its argument or its scope is the name. */
bool label_words__is_generic(const struct name_part *part);
bool label_words__is_generic_text(const char *name);

/*
 * Writes a functor's name without noise: "MulFunctor" is "Mul". Returns the length; `out` has
 * `size` bytes, at least 2.
 */
size_t label_words__functor(const struct name_part *part, char *out, size_t size);

/*
 * The same for a function with a lambda in it: "GeluBackwardCUDAKernelImpl" is "gelu_backward",
 * "direct_copy_kernel_cuda" is "direct_copy".
 */
size_t label_words__function(const struct name_part *part, char *out, size_t size);

#endif
