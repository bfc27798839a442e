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

struct kineto_server {
	int socket; /* to gpuprobe */
	struct kineto_sockets sockets;
	struct kineto_served served[KINETO_PROCESSES];
	size_t count;
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

/* Answers questions until all processes have their request, ended, or did not ask in time. */
void kineto_server__ask(struct kineto_server *server);

/* Waits for the traces, and sends what is in each. */
void kineto_server__collect(struct kineto_server *server);

/* Reads the complete trace of the process, sends what is in it, and deletes it. */
void kineto_server__deliver(struct kineto_server *server, struct kineto_served *served);

#endif
