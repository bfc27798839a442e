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

#define CUPTI_OUT_OF_MEMORY 8	  /* CUPTI_ERROR_OUT_OF_MEMORY */
#define CUPTI_OLD_DRIVER 15	  /* CUPTI_ERROR_NOT_INITIALIZED: a CUPTI newer than the driver */
#define CUPTI_OTHER_SUBSCRIBER 39 /* another profiler uses CUPTI */

#define CUPTI_CAN_REFUSE 27 /* the version since which a tool may refuse CUPTI a buffer: 12.9 */

/* Kinds of records. */
enum cupti_kind {
	CUPTI_COPY = 1,
	CUPTI_SET = 2,
	CUPTI_DRIVER_CALL = 4,
	CUPTI_KERNEL = 10, /* kernels that may run side by side */
	CUPTI_PEER_COPY = 22,
	CUPTI_GRAPH = 51, /* launches of graphs as wholes */
};

/* The beginnings of the records. All begin with their kind, on 4 bytes. */
struct cupti_kernel {
	uint32_t kind;
	uint8_t skipped[12];
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	uint8_t skipped_more[40];
	uint32_t correlation;
	uint8_t skipped_again[8];
	const char *name;
	uint8_t skipped_last[32];
	uint64_t graph_node; /* 0: not in a graph */
};

struct cupti_copy { /* also the peer copy's, up to `device` */
	uint32_t kind;
	uint8_t copy_kind, source, destination, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
};

struct cupti_peer_copy {
	struct cupti_copy copy; /* but for its last member */
	uint32_t skipped[3], correlation;
};

struct cupti_set {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
};

struct cupti_graph {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
};

struct cupti_call {
	uint32_t kind, id;
	uint64_t start, end;
	uint32_t process, thread, correlation;
};

#define CUPTI_SYSTEM_THREAD_IDS 1 /* as gettid, and not those of pthreads */

/*
 * The ids of the driver's calls that submit work, first and last of each range: launches of
 * kernels and graphs, copies and sets, in all their versions.
 */
#define CUPTI_SUBMITTING_CALLS \
	{ \
		{43, 82}, {115, 117}, {216, 226}, {248, 254}, {276, 293}, {305, 307}, {318, 321}, \
			{397, 416}, {418, 433}, {442, 442}, {477, 478}, {480, 480}, {514, 515}, \
			{652, 653}, {776, 779}, {796, 799}, \
	}

typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				  size_t valid);
typedef void (*cupti_callback_fn)(void *arg, int domain, uint32_t id, const void *data);

/* The functions return 0 or an error. */
struct cupti {
	int (*subscribe)(void **subscriber, cupti_callback_fn callback, void *arg);
	int (*unsubscribe)(void *subscriber);
	int (*register_callbacks)(cupti_request_fn request, cupti_complete_fn complete);
	int (*enable)(int kind);
	int (*disable)(int kind);
	int (*flush_all)(uint32_t flag);
	int (*next_record)(uint8_t *buffer, size_t valid, const void **record);
	int (*dropped)(void *context, uint32_t stream, size_t *count);
	int (*version)(uint32_t *version);
	int (*result_string)(int result, const char **text);
	/* What an old CUPTI may lack: NULL. */
	int (*timestamp)(uint64_t *ns);
	int (*thread_ids)(int type);
	int (*enable_call)(uint32_t id, uint8_t on);
};

#define CUPTI_PLACES 9 /* where it is looked for */

/*
 * Opens the CUPTI at one of the places, 0 to CUPTI_PLACES - 1, the best first: what the process has
 * loaded, next to its CUDA runtime, where the loader finds it, in the usual toolkit. Returns 0, or
 * -1 if there is none, or it lacks a function that is needed. It stays open for good.
 */
int cupti__open(unsigned int place, struct cupti *cupti);

#endif
