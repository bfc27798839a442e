/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions are probed: rows of the API table, by the sections of the
 * report that were chosen and by the layers that are watched; or, for tracing,
 * one by one.
 */
#ifndef PROBE_SELECTION_H
#define PROBE_SELECTION_H

#include <stdbool.h>

#include "api/api.h"

enum api_mode {
	API_AUTO = 0, /* the driver for everything; of the runtime only allocation and free */
	API_DRIVER,
	API_RUNTIME,
	API_BOTH,
};

/* Functions chosen one by one: their calls are seen at entry and at return, at each layer. */
struct function_choice {
	bool (*wants)(const struct api_function *function, void *arg);
	/* The row to probe a function under that the table does not know; negative: not at all. */
	int (*row_of_unknown)(const char *symbol, enum layer layer, void *arg);
	void *arg;
};

struct selection {
	unsigned int sections; /* enum section */
	enum api_mode api;
	bool no_driver;	     /* API_AUTO: no libcuda is known, so the runtime stands for everything */
	bool launch_returns; /* the returns of launches are looked at */
	bool asks;	     /* what asks for errors (ASK_ERROR), at each layer whatever `api` */
	bool getters;	     /* ASK_GETTER, as `api` has it; API_AUTO: at each layer */
	bool no_returns;     /* calls are counted at entry alone: no return is probed, whatever wants one */
	bool of_machine;     /* all processes are watched */
	bool by_family;	     /* the probes of a family can be taken out, see attacher__watch */
	/* in place of all the above; NULL: none */
	const struct function_choice *choice;
};

/* Whether the function is probed at all. */
bool selection__wants(const struct selection *selection, const struct api_function *function);

/* Whether the function's return is probed, with links that have returns apart. */
bool selection__wants_return(const struct selection *selection, const struct function_desc *function);

/* Whether a launch of the runtime layer may have one of the driver layer nested in it that is probed too. */
bool selection__both_layers(const struct selection *selection);

#endif
