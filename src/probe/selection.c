// SPDX-License-Identifier: BSD-2-Clause
// Which functions are probed; see selection.h.
#include "probe/selection.h"

#include "model/model.h"

static unsigned int sections_of_object(enum object_kind kind)
{
	switch (kind) {
	case OBJECT_STREAM: /* a capture ends with its stream */ return SECTION_ALL;
	case OBJECT_EVENT: return SECTION_COPY;
	case OBJECT_POOL: return SECTION_MEMORY;
	default: return SECTION_LAUNCH;
	}
}

/* The sections of the report that need the function. */
static unsigned int sections_of(const struct function_desc *function)
{
	switch (function->operation) {
	case OP_ALLOC:
	case OP_FREE:
	case OP_VIRTUAL:
	case OP_POOL: return SECTION_MEMORY;
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_HOST_FUNCTION:
	case OP_LAUNCH_LIST:
	case OP_GET_KERNEL: return SECTION_LAUNCH;
	case OP_COPY:
	case OP_SET: return SECTION_COPY;
	case OP_WAIT: /* waits end copies in flight, and let pools give memory back */
	case OP_QUERY: return SECTION_COPY | SECTION_MEMORY;
	case OP_CREATE:
	case OP_DESTROY: return sections_of_object(function->kind) | SECTION_OBJECTS;
	case OP_CONTEXT: /* decides the current device; its end frees all that is in it */
	case OP_DEVICE:
	case OP_CAPTURE:      /* captured work is not executed, and becomes a graph */
	case OP_EVENT_RECORD: /* streams join a capture by events */
	case OP_GRAPH: return SECTION_ALL;
	default: return 0;
	}
}

/* Functions that ask are CUDA's only. */
static bool is_of_api(const struct selection *selection, const struct function_desc *function)
{
	return selection->api != (function->layer == LAYER_DRIVER ? API_RUNTIME : API_DRIVER);
}

/* Chosen separately from the sections: these calls are many and short. */
static bool wants_ask(const struct selection *selection, const struct function_desc *function)
{
	switch (function->kind) {
	case ASK_ERROR: return selection->asks;
	case ASK_START: return selection->asks && is_of_api(selection, function);
	case ASK_COUNT:
		return (selection->asks || selection->getters) && is_of_api(selection, function);
	default: return selection->getters && is_of_api(selection, function);
	}
}

static bool wants_by_section(const struct selection *selection,
			     const struct function_desc *function)
{
	bool is_driver = function->layer == LAYER_DRIVER;

	if (!(sections_of(function) & selection->sections))
		return false;
	if (function->layer == LAYER_LIBRARY)
		return true;
	switch (selection->api) {
	case API_DRIVER: return is_driver;
	case API_RUNTIME: return !is_driver;
	case API_BOTH: return true;
	case API_AUTO: break;
	}
	return is_driver || selection->no_driver || function->operation == OP_ALLOC ||
	       function->operation == OP_FREE || function->operation == OP_DEVICE;
}

bool selection__wants(const struct selection *selection, const struct api_function *function)
{
	if (selection->choice)
		return selection->choice->wants(function, selection->choice->arg);
	if (function->desc.operation == OP_ASK)
		return wants_ask(selection, &function->desc);
	return wants_by_section(selection, &function->desc);
}

bool selection__wants_return(const struct selection *selection,
			     const struct function_desc *function)
{
	if (selection->choice)
		return true;
	if (function->operation == OP_ASK)
		return function->kind != ASK_ERROR;
	if (function->operation != OP_LAUNCH || selection->launch_returns)
		return true;
	return function->layer == LAYER_RUNTIME && selection__both_layers(selection);
}

bool selection__both_layers(const struct selection *selection)
{
	return selection->api == API_BOTH || (selection->api == API_AUTO && selection->no_driver);
}
