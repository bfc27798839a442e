/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of functions.tsv and what they stand for. Every function returns
 * the number of its word, or -1 for a word it does not know.
 */
#ifndef API_WORDS_H
#define API_WORDS_H

#include <stdbool.h>

#include "gpuprobe/function.h"

int word__layer(const char *word);     /* enum layer */
int word__operation(const char *word); /* enum operation; "-" is OP_NONE */
int word__role(const char *word);      /* enum role */
int word__params(const char *word);    /* enum copy_params */
int word__returns(const char *word);   /* enum trace_returns, but for an error, which is the rule */

/*
 * The value of function_desc.kind. Its words differ from operation to
 * operation; one whose calls are all of one kind knows only "-", which is 0.
 */
int word__kind(enum operation operation, const char *word);

/* The family's name, the table's own copy, or NULL. */
const char *word__family(const char *word);

/* The words back, for messages. */
const char *word__of_operation(enum operation operation);
const char *word__of_role(enum role role);

/* Whether a C type is a pointer by its looks. Handles, pointers by their typedef, are not. */
bool type__is_pointer(const char *type);

/* Bytes that an argument of a C type has when passed, or -1. */
int type__size(const char *type);

/* Bytes of what a pointer type points to, or -1: no pointer, or a structure not passed by value. */
int type__pointee_size(const char *type);

#endif
