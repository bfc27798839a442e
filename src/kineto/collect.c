// SPDX-License-Identifier: BSD-2-Clause
// Looks for the traces of processes that have been asked; see serving.h.
#include "base/clock.h"
#include "kineto/serving.h"

/* When the process has recorded all that it was asked for, at the latest. */
static uint64_t recorded_ns(const struct kineto_server *server, const struct kineto_served *served)
{
	return served->asked_ns + (KINETO_START_S + KINETO_WARMUP_S) * NS_PER_S +
	       server->duration_ns;
}

static void note_size(struct kineto_served *served, enum kineto_file_state state, uint64_t size)
{
	if (state == KINETO_FILE_NONE || (served->begun && size == served->size))
		return;
	served->begun = true;
	served->size = size;
	served->moved_ns = clock__boot_ns();
}

static bool is_late(const struct kineto_server *server, const struct kineto_served *served)
{
	uint64_t now_ns = clock__boot_ns(), end_ns = recorded_ns(server, served),
		 moved_ns = served->moved_ns > end_ns ? served->moved_ns : end_ns;

	return now_ns > moved_ns + KINETO_SILENCE_S * NS_PER_S ||
	       now_ns > end_ns + KINETO_WRITE_S * NS_PER_S;
}

/* A process that has ended, or takes too long. What it has written is of no use. */
static void give_up(struct kineto_server *server, struct kineto_served *served, bool ended)
{
	kineto_file__remove(&served->file);
	if (ended)
		kineto_server__fail(server, served,
				    "the process ended before its trace was complete");
	else if (served->begun)
		kineto_server__fail(server, served,
				    "its profiler did not finish its trace in time; it may still "
				    "write %s: delete that",
				    served->file.path);
	else
		kineto_server__fail(server, served,
				    "its profiler took the request and made no trace: look at what "
				    "the program prints with KINETO_LOG_LEVEL=0; if it writes %s "
				    "later, delete that",
				    served->file.path);
}

static void look(struct kineto_server *server, struct kineto_served *served)
{
	/* In this order: it may complete the file and end in between. */
	bool ended = kineto_target__has_ended(&served->target);
	uint64_t size;
	enum kineto_file_state state = kineto_file__look(&served->file, &size);

	note_size(served, state, size);
	if (state == KINETO_FILE_COMPLETE) {
		if (!server->delivery)
			kineto_server__open_trace(server, served);
	} else if (ended || is_late(server, served)) {
		give_up(server, served, ended);
	}
}

void kineto_server__look_at_files(struct kineto_server *server)
{
	for (size_t i = 0; i < server->count; i++)
		if (server->served[i].progress == KINETO_RECORDING)
			look(server, &server->served[i]);
}
