/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that plays the daemon for Kineto, PyTorch's profiler: it asks processes for traces,
 * reads these, and sends the work of GPUs in them to gpuprobe. It is a process of its own because
 * it must answer within 90 ms, enter network namespaces, have the rights of the profiled processes'
 * user, and read files that these can make as they like, even so that a read hangs.
 */
#ifndef KINETO_SERVER_H
#define KINETO_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpuprobe/gpu_times.h"

#define KINETO_PROCESSES 64	     /* asked at a time */
#define KINETO_ASK_S 15		     /* how long a process has to ask; Kineto does every 5 s */
#define KINETO_ALIVE_S 1	     /* a message comes at least this often while it waits */
#define KINETO_START_S 2	     /* from a request to its warm-up, at most */
#define KINETO_SILENCE_S 30	     /* without progress of the file after the recorded time */
#define KINETO_WRITE_S 300	     /* to write the whole file */
#define KINETO_READ_S 120	     /* to read it */
#define KINETO_READ_MAX (1ull << 30) /* bytes of it */
#define KINETO_TEXT_SIZE 512

struct kineto_request {
	const pid_t *pids;
	size_t count; /* at most KINETO_PROCESSES */
	uint64_t duration_ns;
};

/* The subject of a message. */
enum kineto_message_kind {
	KINETO_READY = 1, /* waits for the processes' questions */
	/* the last one: it cannot begin; `text` says why, `code` is a negative errno */
	KINETO_REFUSED,
	KINETO_ALIVE,
	KINETO_ASKED,	 /* this process has its request; `text` is the file's path */
	KINETO_WORK,	 /* `work` of the process; its head is empty */
	KINETO_NAME,	 /* `name` of a kernel; its head is empty */
	KINETO_FINISHED, /* all work of the process has come: `trace` */
	KINETO_FAILED,	 /* there is none; `text` says why */
	KINETO_END,	 /* the last one */
};

struct kineto_trace {
	uint64_t bytes;		     /* of the file */
	uint64_t overhead_ns;	     /* see struct trace_summary */
	char note[KINETO_TEXT_SIZE]; /* what is wrong with it; "": nothing */
};

struct kineto_reason {
	int64_t code;
	char text[KINETO_TEXT_SIZE];
};

/* One message of a SOCK_SEQPACKET; it ends with the member that its kind has. */
struct kineto_message {
	uint32_t kind;
	uint32_t process; /* its place in the request */
	union {
		struct kineto_reason reason;
		struct gpu_times_work work;
		struct gpu_times_name name;
		struct kineto_trace trace;
	};
};

/* The size that a message of this kind has at least; 0: there is no such kind. */
size_t kineto_message__size(uint32_t kind);

/*
 * The main function of the forked process. `socket` leads to gpuprobe, which sends one byte when
 * requests are to be handed out; the server ends when its other end is closed. The caller must have
 * blocked all signals.
 */
_Noreturn void kineto_server__run(const struct kineto_request *request, int socket);

#endif
