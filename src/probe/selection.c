// SPDX-License-Identifier: BSD-2-Clause
// Which functions are probed, see selection.h.
#include "probe/selection.h"

#include "model/model.h"

/* The sections of the report that need the operation. */
static unsigned int sections_of(enum operation operation)
{
	switch (operation) {
	case OP_ALLOC:
	case OP_FREE:
		return SECTION_MEMORY;
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_GET_KERNEL:
	case OP_UNLOAD:
		return SECTION_LAUNCH;
	case OP_COPY:
	case OP_SET:
	case OP_WAIT: /* waits end what is in flight */
	case OP_QUERY:
	case OP_EVENT_RECORD:
	case OP_STREAM_DESTROY:
		return SECTION_COPY;
	case OP_CONTEXT: /* and with a context its kernels go */
		return SECTION_COPY | SECTION_LAUNCH;
	default:
		return 0;
	}
}

bool selection__wants(const struct selection *selection, const struct function_desc *function)
{
	bool is_driver = function->layer == LAYER_DRIVER;

	if (!(sections_of(function->operation) & selection->sections))
		return false;
	switch (selection->api) {
	case API_DRIVER:
		return is_driver;
	case API_RUNTIME:
		return !is_driver;
	case API_BOTH:
		return true;
	case API_AUTO:
		break;
	}
	return is_driver || selection->no_driver || function->operation == OP_ALLOC ||
	       function->operation == OP_FREE;
}

bool selection__wants_return(const struct selection *selection, const struct function_desc *function)
{
	if (function->operation != OP_LAUNCH || selection->launch_returns)
		return true;
	return function->layer == LAYER_RUNTIME && selection__both_layers(selection);
}

bool selection__both_layers(const struct selection *selection)
{
	return selection->api == API_BOTH || (selection->api == API_AUTO && selection->no_driver);
}
