/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of functions.tsv and their numbers. Each function returns the number of its word, or -1
 * if it does not know the word.
 */
#ifndef API_WORDS_H
#define API_WORDS_H

#include <stdbool.h>

#include "gpuprobe/function.h"

int word__layer(const char *word);     /* enum layer */
int word__operation(const char *word); /* enum operation; "-" is OP_NONE */
int word__role(const char *word);      /* enum role */
int word__params(const char *word);    /* enum copy_params */
int word__returns(const char *word);   /* enum trace_returns, except for the default, an error */

/*
 * The value of function_desc.kind. Each operation has its own words; an operation with one kind
 * only knows "-", which is 0.
 */
int word__kind(enum operation operation, const char *word);

/* Returns the table's copy of the family's name, or NULL. */
const char *word__family(const char *word);

/* The word for a value, for messages. */
const char *word__of_operation(enum operation operation);
const char *word__of_role(enum role role);

/*
 * Whether a C type is spelled as a pointer. Handles, which are typedefs of pointers, do not count.
 */
bool type__is_pointer(const char *type);

/* The size in bytes of an argument of a C type when passed, or -1. */
int type__size(const char *type);

/*
 * The size in bytes of a pointer type's target, or -1 if the type is no pointer or its target is a
 * structure that is not passed by value.
 */
int type__pointee_size(const char *type);

#endif
