/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stand-ins for libraries above CUDA. They have the names, soname and functions of the real ones
 * that create and destroy handles, and nothing else. A handle takes device memory that no
 * allocation shows (CUDA_SIM_OBJECTS) and makes calls of CUDA, as real handles do.
 */
#ifndef SIM_LIBRARIES_HANDLE_H
#define SIM_LIBRARIES_HANDLE_H

#include <stddef.h>

#include "cuda_api.h"
#include "record/tallies.h"

#define LIBRARY_EXPORT __attribute__((visibility("default")))

/* In the simulated driver: a handle of that kind was made (1) or destroyed (-1). */
void cuda_sim_handle(enum sim_object kind, int change);

/* What a handle holds. */
struct handle {
	enum sim_object kind;
	void *workspace;
	cudaEvent_t event;
	void *inner; /* of another library */
};

/* A new handle with a workspace of so many bytes, 0: none; NULL if CUDA fails. */
struct handle *handle__new(enum sim_object kind, size_t workspace);

/* Frees what handle__new made. */
void handle__free(struct handle *handle);

#endif
