// SPDX-License-Identifier: BSD-2-Clause
// The processes and threads of a timeline, see tracks.h.
#include "output/timeline/tracks.h"

#include <stdio.h>

struct timeline_tracks {
	struct timeline_form *form;
	struct timeline_process *processes;
	struct timeline_thread *threads;
	struct timeline_track losses; /* number 0: none yet */
	uint32_t last;		      /* number of a track */
	uint64_t process_count;
};

struct timeline_tracks *timeline_tracks__new(struct timeline_form *form)
{
	struct timeline_tracks *tracks = calloc(1, sizeof(*tracks));

	if (tracks)
		tracks->form = form;
	return tracks;
}

void timeline_tracks__free(struct timeline_tracks *tracks)
{
	if (!tracks)
		return;
	TABLE_CLEAR(tracks->processes, free);
	TABLE_CLEAR(tracks->threads, free);
	free(tracks);
}

static void announce(struct timeline_tracks *tracks, struct timeline_track *track)
{
	if (!track->number)
		track->number = ++tracks->last;
	tracks->form->ops->track(tracks->form, track);
}

/* uthash keeps the order in which elements came. */
#define FORGET_OLDEST(head) \
	do { \
		__typeof__(head) oldest_ = (head); \
		if (HASH_COUNT(head) >= TRACKS_MAX) { \
			HASH_DEL(head, oldest_); \
			free(oldest_); \
		} \
	} while (0)

static void set_name(struct timeline_track *track, const struct trace_process *process)
{
	snprintf(track->name, sizeof(track->name), "%.*s", COMM_SIZE, process->comm);
}

struct timeline_process *timeline_tracks__process(struct timeline_tracks *tracks,
						  const struct trace_process *process)
{
	struct timeline_process *known = TABLE_FIND(tracks->processes, pid, &process->pid);

	if (known && known->number == process->number)
		return known;
	if (!known) {
		FORGET_OLDEST(tracks->processes);
		known = TABLE_ADD_NEW(tracks->processes, pid, &process->pid);
		if (!known)
			return NULL;
		tracks->process_count++;
	} else if (!strncmp(known->track.name, process->comm, COMM_SIZE)) {
		known->number = process->number;
		return known;
	}
	known->number = process->number;
	known->track.kind = TRACK_PROCESS;
	known->track.pid = process->pid;
	set_name(&known->track, process);
	announce(tracks, &known->track);
	return known;
}

struct timeline_thread *timeline_tracks__thread(struct timeline_tracks *tracks,
						const struct timeline_process *process, pid_t tid,
						const char *name)
{
	const struct timeline_thread_key key = {process->pid, tid};
	struct timeline_thread *thread = TABLE_FIND(tracks->threads, key, &key);

	if (thread)
		return thread;
	FORGET_OLDEST(tracks->threads);
	thread = TABLE_ADD_NEW(tracks->threads, key, &key);
	if (!thread)
		return NULL;
	thread->track = (struct timeline_track){
		.kind = TRACK_THREAD,
		.pid = process->pid,
		.tid = tid,
		.process = process->track.number,
		.parent = process->track.number,
	};
	if (tid == process->pid)
		memcpy(thread->track.name, process->track.name, sizeof(thread->track.name));
	else if (name)
		snprintf(thread->track.name, sizeof(thread->track.name), "%.*s", COMM_SIZE, name);
	announce(tracks, &thread->track);
	return thread;
}

struct timeline_process *timeline_tracks__find(struct timeline_tracks *tracks, pid_t pid)
{
	return TABLE_FIND(tracks->processes, pid, &pid);
}

const struct timeline_track *timeline_tracks__losses(struct timeline_tracks *tracks)
{
	if (!tracks->losses.number) {
		tracks->losses =
			(struct timeline_track){.kind = TRACK_LOSSES, .name = "gpuprobe: losses"};
		announce(tracks, &tracks->losses);
	}
	return &tracks->losses;
}

static uint32_t group_of(struct timeline_tracks *tracks, const struct timeline_process *process,
			 struct timeline_track *group, enum timeline_track_kind kind,
			 const char *name)
{
	if (!group->number) {
		*group = (struct timeline_track){
			.kind = (uint8_t)kind,
			.pid = process->pid,
			.process = process->track.number,
			.parent = process->track.number,
		};
		snprintf(group->name, sizeof(group->name), "%s", name);
		announce(tracks, group);
	}
	return group->number;
}

/* The track that contains those of this kind. */
static uint32_t parent_of(struct timeline_tracks *tracks, struct timeline_process *process,
			  enum timeline_track_kind kind)
{
	if (kind == TRACK_BYTES)
		return process->track.number;
	if (kind == TRACK_GPU)
		return group_of(tracks, process, &process->gpus, TRACK_GPUS,
				"GPU streams: what ran, and when");
	return group_of(tracks, process, &process->streams, TRACK_STREAMS,
			"CUDA streams: what was queued, and when");
}

void timeline_tracks__add(struct timeline_tracks *tracks, struct timeline_process *process,
			  enum timeline_track_kind kind, const char *name,
			  struct timeline_track *track)
{
	*track = (struct timeline_track){
		.kind = (uint8_t)kind,
		.pid = process->pid,
		.process = process->track.number,
		.parent = parent_of(tracks, process, kind),
		.gpu = track->gpu,
	};
	snprintf(track->name, sizeof(track->name), "%s", name);
	announce(tracks, track);
}

void timeline_tracks__add_steps(struct timeline_tracks *tracks, const struct timeline_track *thread,
				const char *name, struct timeline_track *track)
{
	*track = (struct timeline_track){
		.kind = TRACK_STEPS,
		.pid = thread->pid,
		.tid = thread->tid,
		.process = thread->process,
		.parent = thread->process,
	};
	snprintf(track->name, sizeof(track->name), "%s", name);
	announce(tracks, track);
}

void timeline_tracks__add_ranges(struct timeline_tracks *tracks,
				 const struct timeline_track *parent, const char *name,
				 struct timeline_track *track)
{
	*track = (struct timeline_track){
		.kind = TRACK_RANGES,
		.pid = parent->pid,
		.tid = parent->tid,
		.process = parent->kind == TRACK_PROCESS ? parent->number : parent->process,
	};
	track->parent = track->process;
	snprintf(track->name, sizeof(track->name), "%s", name);
	announce(tracks, track);
}

uint64_t timeline_tracks__processes(const struct timeline_tracks *tracks)
{
	return tracks->process_count;
}
