/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions are traced: -e "memory,cudaMalloc,cu*Async,!cudaGetDevice".
 *
 * A word is a family (memory launch copy sync stream event device context module graph nccl
 * errors all) or a function's name, in which * and ? are wildcards. Words apply in order over all
 * -e; a word with ! removes functions. If the first word removes, it does so from the default: the
 * families memory, launch, copy, sync, stream, event and device, without the chatty getters. Of
 * device, with the driver's contexts for it, the default only has calls that change something. A
 * plain name includes its _ptds and _ptsz forms.
 *
 * API_AUTO means both layers: nested calls are recognised at the call.
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

/* Returns NULL if out of memory. */
struct trace_selection *trace_selection__new(enum api_mode api);
void trace_selection__free(struct trace_selection *selection);

/*
 * Adds the words of one -e. Returns -EINVAL with a message if a word is neither a family nor the
 * name of a function; the message suggests a similar one. A pattern with * or ? may match nothing
 * (a newer library may have a match), and so may a name that begins with cu.
 */
int trace_selection__add(struct trace_selection *selection, const char *text, struct error *err);

/*
 * Call after adding everything. Returns -EINVAL with a message if no function is left, and no name
 * or pattern is there that only a newer library could have.
 */
int trace_selection__check(const struct trace_selection *selection, struct error *err);

/*
 * Call when the libraries that were found are in `functions`. Returns -EINVAL with a message if the
 * selection only has names that neither the table nor a library has, and one of them is similar to
 * a name in the table.
 */
int trace_selection__check_names(const struct trace_selection *selection,
				 const struct trace_functions *functions, struct error *err);

/*
 * Iterates over names and patterns that match no function of the table or of the libraries found so
 * far: they may be mistyped, or a newer library's. *at is 0 for the first. Returns NULL if there
 * are no more.
 */
const char *trace_selection__unknown(const struct trace_selection *selection,
				     const struct trace_functions *functions, size_t *at);

/* The most similar name in the table; NULL for a pattern, or if none is similar. */
const char *trace_selection__like(const char *name);

/* Whether functions of libraries above CUDA are traced (LAYER_LIBRARY): only if they are named. */
bool trace_selection__wants_libraries(const struct trace_selection *selection);

/* Whether the row of the table is traced. */
bool trace_selection__wants(const struct trace_selection *selection,
			    const struct api_function *function);

/*
 * Whether to trace a function that a library exports and the table does not know: by name, pattern
 * or all.
 */
bool trace_selection__wants_symbol(const struct trace_selection *selection, const char *symbol,
				   enum layer layer);

#endif
