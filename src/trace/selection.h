/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions are traced: -e "memory,cudaMalloc,cu*Async,!cudaGetDevice".
 *
 * A word is a family (memory launch copy sync stream event device context
 * module graph errors all) or a name of a function, * and ? standing for any
 * characters. Words are taken in their order over all -e; one with ! takes
 * away. If the first word takes away, it is from the default: the families
 * memory, launch, copy, sync, stream, event and device, without the chatty
 * getters; of device, with the contexts that the driver has for it, only what
 * changes something. A plain name means its _ptds and _ptsz forms too.
 *
 * API_AUTO stands for both layers: what is nested is told apart at the call.
 */
#ifndef TRACE_SELECTION_H
#define TRACE_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/selection.h"
#include "base/error.h"
#include "api/api.h"
#include "trace/function.h"

struct trace_selection;

/* NULL without memory. */
struct trace_selection *trace_selection__new(enum api_mode api);
void trace_selection__free(struct trace_selection *selection);

/*
 * Adds the words of one -e. -EINVAL with a text that names a word that is no
 * family and the name of no function, and what is like it; a pattern with * or
 * ? may match nothing now (a newer library may have it), and so may a name that
 * begins with cu.
 */
int trace_selection__add(struct trace_selection *selection, const char *text, struct error *err);

/*
 * To be asked when all is added: -EINVAL with a text if no function is left,
 * and no name or pattern is there that only a newer library could have.
 */
int trace_selection__check(const struct trace_selection *selection, struct error *err);

/*
 * To be asked when the libraries that were found are in `functions`: -EINVAL
 * with a text if nothing is selected but names that neither the table nor a
 * library has, and one is like a name of the table.
 */
int trace_selection__check_names(const struct trace_selection *selection, const struct trace_functions *functions,
				 struct error *err);

/*
 * The next name or pattern, *at being 0 for the first, of no function of the table nor of the
 * libraries met so far: it may be mistyped, or a newer library's. NULL when there are no more.
 */
const char *trace_selection__unknown(const struct trace_selection *selection, const struct trace_functions *functions,
				     size_t *at);

/* The name of the table that is most like a name; NULL for a pattern, and where none is like it. */
const char *trace_selection__like(const char *name);

/* Whether the row of the table is traced. */
bool trace_selection__wants(const struct trace_selection *selection, const struct api_function *function);

/* Whether a function that a library exports and the table does not know is traced: by name or pattern, or by all. */
bool trace_selection__wants_symbol(const struct trace_selection *selection, const char *symbol, enum layer layer);

#endif
