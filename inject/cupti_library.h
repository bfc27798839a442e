/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's own CUPTI: where it is, the functions that are used, and what is read of its
 * records. Members of CUPTI's records are only ever appended, so that these places hold in CUPTI
 * 12 and 13; tests/unit/inject/test_cupti_library.c compares them with CUPTI's header where there
 * is one.
 */
#ifndef INJECT_CUPTI_LIBRARY_H
#define INJECT_CUPTI_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_OLD_DRIVER 15	  /* CUPTI_ERROR_NOT_INITIALIZED: a CUPTI newer than the driver */
#define CUPTI_OTHER_SUBSCRIBER 39 /* another profiler uses CUPTI */

#define CUPTI_CAN_REFUSE 27 /* the version since which a tool may refuse CUPTI a buffer: 12.9 */

#define CUPTI_DRIVER 1 /* the domain of callbacks of the driver's functions */
#define CUPTI_EXIT 1   /* the site of a callback at the end of a call */

/* Functions of the driver, by CUPTI's numbers; these do not change. */
enum cupti_function {
	CUPTI_CTX_SYNCHRONIZE = 17,
	CUPTI_EVENT_SYNCHRONIZE = 121,
	CUPTI_STREAM_SYNCHRONIZE = 126,
	CUPTI_STREAM_SYNCHRONIZE_PTSZ = 440,
	CUPTI_COPY_H2D = 276, /* cuMemcpyHtoD_v2 */
	CUPTI_COPY_H2D_PTDS = 397,
	CUPTI_COPY_H2D_ASYNC = 277,
	CUPTI_COPY_H2D_ASYNC_PTSZ = 421,
	CUPTI_COPY_D2H = 278,
	CUPTI_COPY_D2H_PTDS = 398,
	CUPTI_COPY_D2H_ASYNC = 279,
	CUPTI_COPY_D2H_ASYNC_PTSZ = 422,
	CUPTI_LAUNCH = 307, /* cuLaunchKernel */
	CUPTI_LAUNCH_PTSZ = 442,
	CUPTI_LAUNCH_EX = 652,
	CUPTI_LAUNCH_EX_PTSZ = 653,
	CUPTI_LAUNCH_GRAPH = 514,
	CUPTI_LAUNCH_GRAPH_PTSZ = 515,
};

/* Kinds of records. */
enum cupti_kind {
	CUPTI_COPY = 1,
	CUPTI_SET = 2,
	CUPTI_KERNEL = 10, /* kernels that may run side by side */
	CUPTI_PEER_COPY = 22,
	CUPTI_GRAPH = 51, /* launches of graphs as wholes */
};

/* The beginnings of the records. All begin with their kind, on 4 bytes. */
struct cupti_kernel {
	uint32_t kind;
	uint8_t skipped[12];
	uint64_t start, end, completed;
	uint32_t device;
	uint8_t skipped_more[60];
	const char *name;
	uint8_t skipped_last[32];
	uint64_t graph_node; /* 0: not in a graph */
};

struct cupti_copy { /* also the peer copy's, up to `device` */
	uint32_t kind;
	uint8_t copy_kind, source, destination, flags;
	uint64_t bytes, start, end;
	uint32_t device;
};

struct cupti_set {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device;
};

struct cupti_graph {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device;
};

/* The beginning of what a callback gets. */
struct cupti_call {
	int site;
};

typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				  size_t valid);
typedef void (*cupti_callback_fn)(void *arg, int domain, uint32_t id, const void *data);

/* The functions return 0 or an error. */
struct cupti {
	int (*subscribe)(void **subscriber, cupti_callback_fn callback, void *arg);
	int (*unsubscribe)(void *subscriber);
	int (*enable_callback)(uint32_t on, void *subscriber, int domain, uint32_t function);
	int (*register_callbacks)(cupti_request_fn request, cupti_complete_fn complete);
	int (*enable)(int kind);
	int (*disable)(int kind);
	int (*flush_all)(uint32_t flag);
	int (*next_record)(uint8_t *buffer, size_t valid, const void **record);
	int (*dropped)(void *context, uint32_t stream, size_t *count);
	int (*version)(uint32_t *version);
	int (*result_string)(int result, const char **text);
};

#define CUPTI_PLACES 9 /* where it is looked for */

/*
 * Opens the CUPTI at one of the places, 0 to CUPTI_PLACES - 1, the best first: what the process has
 * loaded, next to its CUDA runtime, where the loader finds it, in the usual toolkit. Returns 0, or
 * -1 if there is none, or not a whole one. It stays open for good.
 */
int cupti__open(unsigned int place, struct cupti *cupti);

#endif
