/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions are probed: rows of the API table, chosen by the sections of the report and by
 * the watched layers or, for tracing, one by one.
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

/* Functions chosen one by one: their calls are watched at entry and at return, in each layer. */
struct function_choice {
	bool (*wants)(const struct api_function *function, void *arg);
	/*
	 * The row for probing a function that the table does not know; negative: do not probe it.
	 */
	int (*row_of_unknown)(const char *symbol, enum layer layer, void *arg);
	void *arg;
};

struct selection {
	unsigned int sections; /* enum section */
	enum api_mode api;
	bool no_driver;	     /* API_AUTO: no libcuda is known, so watch all of the runtime */
	bool launch_returns; /* returns of launches are probed */
	bool asks;	     /* functions that ask for errors, in each layer whatever `api` */
	bool getters;	     /* ASK_GETTER, by `api`; with API_AUTO in each layer */
	bool no_returns;     /* calls are only counted at entry: no return is probed */
	bool of_machine;     /* all processes are watched */
	bool tensors;	     /* probe points of frameworks' allocators, in addition */
	bool exhaustion;     /* functions by which these say that memory ran out, in addition */
	bool by_family;	     /* the probes of a family can be detached, see attacher__watch */
	/* replaces all of the above; NULL: none */
	const struct function_choice *choice;
};

/* Whether the function is probed at all. */
bool selection__wants(const struct selection *selection, const struct api_function *function);

/* Whether the function's return is probed, with links that probe returns separately. */
bool selection__wants_return(const struct selection *selection,
			     const struct function_desc *function);

/* Whether a launch of the runtime layer may contain a probed launch of the driver layer. */
bool selection__both_layers(const struct selection *selection);

#endif
