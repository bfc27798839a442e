/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes and threads of a timeline: each has a track, announced to the form before its first
 * call, and a thread knows its calls in progress.
 *
 * At most TRACKS_MAX of each are remembered. Then the oldest is forgotten, and gets a new track if
 * it makes another call.
 */
#ifndef OUTPUT_TIMELINE_TRACKS_H
#define OUTPUT_TIMELINE_TRACKS_H

#include "base/table.h"
#include "gpuprobe/trace.h"
#include "output/timeline/form.h"

#define TRACKS_MAX 65536u

/* By pid: a program that executes another one stays one process. */
struct timeline_process {
	pid_t pid;
	uint32_t number;	       /* of the latest struct trace_process */
	struct timeline_track track;   /* its name is that of the latest program */
	struct timeline_track streams; /* number 0: none yet */
	struct timeline_track gpus;    /* the same */
	UT_hash_handle hh;
};

struct timeline_thread_key {
	pid_t pid, tid;
};

/* The call of a thread at one depth. */
struct timeline_frame {
	uint64_t begin_ns;
	uint64_t end_ns; /* UINT64_MAX: in progress; 0: none */
	uint64_t number; /* of the call */
};

struct timeline_thread {
	struct timeline_thread_key key;
	struct timeline_track track;
	struct timeline_frame frames[TRACE_DEPTH];
	/* The outermost call that does something to streams or memory: calls inside it do not. */
	uint64_t acts_until_ns;
	uint8_t acts_depth;
	UT_hash_handle hh;
};

struct timeline_tracks;

/* Returns NULL if out of memory. `form` must outlive it. */
struct timeline_tracks *timeline_tracks__new(struct timeline_form *form);
void timeline_tracks__free(struct timeline_tracks *tracks); /* NULL is fine */

/* Each returns NULL if out of memory. The result is valid until the next line. */
struct timeline_process *timeline_tracks__process(struct timeline_tracks *tracks,
						  const struct trace_process *process);
/* `name`: NULL if it is unknown. The thread keeps the name that it has with its first call. */
struct timeline_thread *timeline_tracks__thread(struct timeline_tracks *tracks,
						const struct timeline_process *process, pid_t tid,
						const char *name);

/* NULL: none of its calls is in the timeline. */
struct timeline_process *timeline_tracks__find(struct timeline_tracks *tracks, pid_t pid);

/* The track of losses. */
const struct timeline_track *timeline_tracks__losses(struct timeline_tracks *tracks);

/*
 * Makes and announces a track of the process, of a stream, a counter or a GPU, with this name. Of
 * `track` it keeps `gpu`.
 */
void timeline_tracks__add(struct timeline_tracks *tracks, struct timeline_process *process,
			  enum timeline_track_kind kind, const char *name,
			  struct timeline_track *track);

/* Makes and announces the track of a thread's steps. `thread` is the thread's own track. */
void timeline_tracks__add_steps(struct timeline_tracks *tracks, const struct timeline_track *thread,
				const char *name, struct timeline_track *track);

/*
 * Makes and announces a track of NVTX ranges: of a thread, whose own track is `parent`, or of a
 * process.
 */
void timeline_tracks__add_ranges(struct timeline_tracks *tracks,
				 const struct timeline_track *parent, const char *name,
				 struct timeline_track *track);

uint64_t timeline_tracks__processes(const struct timeline_tracks *tracks); /* so far */

#endif
