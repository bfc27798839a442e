/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the server share; see server.h. Not for other folders. */
#ifndef KINETO_SERVING_H
#define KINETO_SERVING_H

#include <stdbool.h>

#include "kineto/server.h"
#include "kineto/sockets.h"
#include "kineto/target.h"
#include "kineto/trace_file.h"

enum kineto_progress {
	KINETO_WAITING = 0, /* has not asked */
	KINETO_RECORDING,   /* has its request */
	KINETO_READING,	    /* its trace is being read; one process at a time */
	KINETO_OVER,
};

/* One of the processes. */
struct kineto_served {
	struct kineto_target target;
	struct kineto_file file;
	enum kineto_progress progress;
	bool was_busy;	   /* it asked while its profiler was in use */
	uint64_t asked_ns; /* CLOCK_BOOTTIME, as the next ones */
	uint64_t moved_ns; /* when the file was seen to grow */
	uint64_t size;	   /* of the file then */
	bool begun;	   /* there has been a file */
};

struct kineto_delivery;

struct kineto_server {
	int socket; /* to gpuprobe */
	struct kineto_sockets sockets;
	struct kineto_served served[KINETO_PROCESSES];
	size_t count;
	struct kineto_delivery *delivery; /* of the trace that is being read; NULL: none */
	uint64_t duration_ns;
	uint64_t sent_ns;  /* when the latest message was sent */
	uint64_t until_ns; /* requests are handed out; 0: gpuprobe has not said so yet */
};

/* Sends the message, as long as its kind needs. Ends this process if gpuprobe has gone. */
void kineto_server__send(struct kineto_server *server, struct kineto_message *message);

/* Sends KINETO_FAILED for the process: it is over. */
void kineto_server__fail(struct kineto_server *server, struct kineto_served *served,
			 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Tells gpuprobe from time to time that this process lives; ends it if gpuprobe has gone. */
void kineto_server__breathe(struct kineto_server *server);

/* How many processes have got so far. */
size_t kineto_server__count(const struct kineto_server *server, enum kineto_progress progress);

/*
 * Waits for questions for so long, and answers those that have come. Gives up the daemon's name
 * once all processes have their request, ended, or did not ask in time.
 */
void kineto_server__take_questions(struct kineto_server *server, int wait_ms);

/* Looks which traces are complete, and which will not come. Begins to read one. */
void kineto_server__look_at_files(struct kineto_server *server);

/* Begins to read the complete trace of the process. */
void kineto_server__open_trace(struct kineto_server *server, struct kineto_served *served);

/* Reads a part of the trace that is being read, and sends what is in it; deletes it at its end. */
void kineto_server__read_trace(struct kineto_server *server);

#endif
