/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a model built by hand: the arguments are what tests of the output vary, all else is 0.
 */
#ifndef TESTS_MODEL_BUILDER_H
#define TESTS_MODEL_BUILDER_H

#include "model/model.h"

#define KERNEL(handle_, name_, short_, launches_, serial_) \
	{ \
		.handle = (handle_), .name = (name_), .short_name = (short_), .label = (short_), \
		.launches = (launches_), .serial = (serial_) \
	}

#define FAILURE(function_, error_, code_, layer_, count_, sampled_) \
	{ \
		.function = (function_), .error = (error_), .code = (code_), .layer = (layer_), \
		.count = (count_), .sampled = (sampled_) \
	}

#endif
