/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a timeline consists of, and what each format does with it. timeline.c makes these parts of
 * the tracer's lines; perfetto.c and chrome.c write them.
 *
 * Parts need not come in the order of their times: a call comes with its end, before the calls
 * inside it. Readers sort by time. Parts of one track with equal times come in their order.
 */
#ifndef OUTPUT_TIMELINE_FORM_H
#define OUTPUT_TIMELINE_FORM_H

#include "output/timeline/packed_file.h"
#include "output/timeline/timeline.h"

struct api_function; /* api/api.h */

enum timeline_track_kind {
	TRACK_PROCESS = 0,
	TRACK_THREAD,
	TRACK_STREAMS, /* groups the streams of a process */
	TRACK_STREAM,
	TRACK_BYTES,  /* a counter */
	TRACK_QUEUED, /* a counter of a stream */
	TRACK_STEPS,  /* of a thread */
	TRACK_RANGES, /* of a thread or a process: NVTX ranges */
	TRACK_LOSSES,
	TRACK_GPUS, /* groups those of a process */
	TRACK_GPU,  /* a stream of a GPU, with the work that ran there */
};

#define TRACK_NAME_SIZE 96

/* Of TRACK_GPU. */
struct timeline_gpu_place {
	uint32_t device, stream;
	bool is_plain; /* no other track of the file has this device and stream */
};

struct timeline_track {
	uint32_t number;  /* unique, from 1 on */
	uint8_t kind;	  /* enum timeline_track_kind */
	pid_t pid, tid;	  /* 0: of no process; tid of threads and their steps */
	uint32_t process; /* number of the process's track; 0: none */
	uint32_t parent;  /* number of the track that contains it, or 0 */
	struct timeline_gpu_place gpu;
	char name[TRACK_NAME_SIZE]; /* of a process or thread: hostile; may be empty */
};

/* Work on a stream that no wait has covered yet. */
struct timeline_work {
	uint64_t number; /* of its call */
	uint64_t begin_ns, end_ns;
	pid_t pid, tid;
	bool is_copy; /* or a memset; otherwise a launch */
};

/* What a wait covers. */
struct timeline_cover {
	const struct timeline_work *work; /* the newest; the others are only counted */
	size_t count;
	uint64_t launches, copies; /* in total */
};

/* A call at the end of an arrow. */
struct timeline_point {
	pid_t pid, tid;
	uint64_t begin_ns;
};

/* A stream that waits for an event of another one: its later work comes after the other's. */
struct timeline_order {
	uint64_t number;		       /* of the call that makes it wait */
	struct timeline_point recorded, waits; /* the calls */
};

enum timeline_part {
	PART_WHOLE = 0,
	PART_BEGIN, /* its end comes later */
	PART_END,
};

struct timeline_call {
	const struct timeline_track *thread;
	const struct trace_line *line;	/* NULL in a PART_END without a line of its own */
	const struct api_function *row; /* NULL: not in the API table */
	enum timeline_part part;
	uint64_t begin_ns, end_ns; /* CLOCK_BOOTTIME */
	uint64_t number;	   /* from 1 on; the same for both parts */
	bool queues;		   /* an arrow may begin here */
	bool submits;		   /* an arrow to work of a GPU may begin here */
	bool is_unfinished;	   /* it did not return: end_ns is the last time at which it ran */
	struct timeline_cover cover;
};

#define NOTE_MAX 200

/* A moment with a name. */
struct timeline_mark {
	const struct timeline_track *track;
	uint64_t time_ns;
	const char *category; /* our own word */
	const char *name;     /* may be hostile */
	uint64_t arrow;	      /* number of the call whose arrow goes through it; 0: none */
	const struct timeline_order *orders; /* whose arrows end here */
	size_t order_count;
	const char *key; /* of `value`, or NULL */
	uint64_t value;
	const char *note; /* may be hostile; at most NOTE_MAX bytes; or NULL */
};

/* A step or a range of a thread. Steps of a track do not overlap, ranges are in each other. */
struct timeline_span {
	const struct timeline_track *track;
	uint64_t begin_ns, end_ns;
	const char *category; /* our own word */
	const char *name;     /* may be hostile */
	bool is_range;
	/* For a range: */
	bool is_unfinished;  /* it had not ended by end_ns */
	const char *payload; /* may be hostile, at most NOTE_MAX bytes; NULL: none */
	/* For a step: */
	bool regular; /* it has about as many launches as others */
	uint64_t launches;
};

/* A piece of work that a GPU did. Those of a track do not overlap. */
struct timeline_gpu_slice {
	const struct timeline_track *track;
	const struct trace_line *line; /* LINE_GPU */
	uint64_t begin_ns, end_ns;
	uint64_t number; /* of the call that submitted it; 0: unknown */
	struct timeline_point call;
};

/* What a counter is from that time on. */
struct timeline_value {
	const struct timeline_track *track;
	uint64_t time_ns;
	uint64_t amount; /* bytes of live memory, or pieces of queued work */
	/* Of TRACK_BYTES: */
	int64_t change; /* by this allocation or free */
	uint64_t address;
	int device; /* -1: unknown */
};

/* An arrow from a call to a later one, for forms whose marks have none. */
struct timeline_arrow {
	const char *category, *name; /* our own words */
	uint64_t number;	     /* unique in its category */
	struct timeline_point from, to;
};

struct timeline_form;

/* Errors stay with the file. */
struct timeline_form_ops {
	/* Before the first part that is on it. Again with another name: the process has it now. */
	void (*track)(struct timeline_form *form, const struct timeline_track *track);
	void (*call)(struct timeline_form *form, const struct timeline_call *call);
	void (*mark)(struct timeline_form *form, const struct timeline_mark *mark);
	/* NULL: the arrows of marks are enough */
	void (*arrow)(struct timeline_form *form, const struct timeline_arrow *arrow);
	void (*value)(struct timeline_form *form, const struct timeline_value *value);
	void (*span)(struct timeline_form *form, const struct timeline_span *span);
	void (*gpu)(struct timeline_form *form, const struct timeline_gpu_slice *slice);
	void (*finish)(struct timeline_form *form); /* the last part */
	void (*free)(struct timeline_form *form);
};

struct timeline_form {
	const struct timeline_form_ops *ops;
	struct packed_file *file; /* the form's */
};

/* Each begins the file. Returns NULL if out of memory. */
struct timeline_form *perfetto_form__new(int fd, const struct timeline_options *options);
struct timeline_form *chrome_form__new(int fd, const struct timeline_options *options);

/* Bytes that the call's texts and arguments take at most, in either form. */
size_t timeline_call__room(const struct timeline_call *call);

/* "launch", "memory": the call's family. */
const char *timeline_call__family(const struct timeline_call *call);

/*
 * The result, if it says more than success: "cudaErrorMemoryAllocation", "error 12345", "0x7f00".
 * Returns NULL otherwise, or `buffer`, or a constant.
 */
#define RESULT_SIZE 32
const char *timeline_call__result(const struct timeline_call *call, char buffer[RESULT_SIZE]);

#endif
