/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For programs that know their own stacks: each function first says ENTER("name") and makes its
 * calls with CALL(...), each on one line. CUDA_CALL(event, number, ...) writes the stack that the
 * call has to the truth file, as a line of JSON:
 *
 *   {"event": "cudaMalloc", "number": 1000, "bytes": 432, "frames": [["inner", "file.c", 12], …,
 *   ["main", …]]}
 *
 * innermost first. "bytes" is the amount of stack from there to the outermost function that uses
 * ENTER. A frame ["", "", 0] stands for the frames of signal delivery.
 */
#ifndef KNOWN_STACKS_H
#define KNOWN_STACKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN __attribute__((noinline, noipa, no_stack_protector))

struct known_frame {
	const char *name, *file;
	const struct known_frame *caller;
	struct known_frame **top;
	int line;
};

static inline void known_frame_leave(struct known_frame *frame)
{
	*frame->top = (struct known_frame *)frame->caller;
}

/* Defined in the program; a library gets a pointer to it. */
typedef void known_write_fn(const char *event, unsigned long number,
			    const struct known_frame *frame);

#define ENTER_AT(function, where) \
	struct known_frame known __attribute__((cleanup(known_frame_leave))) = { \
		function, __FILE__, *(where), where, 0}; \
	*(where) = &known

#define CALL(...) (known.line = __LINE__, __VA_ARGS__)
#define CUDA_CALL_BY(write, event, number, ...) \
	(known.line = __LINE__, write(event, number, &known), __VA_ARGS__)

#ifndef KNOWN_PLUGIN

static __thread struct known_frame *known_top;
static FILE *known_truth;
static const char *known_path;

#define ENTER(function) ENTER_AT(function, &known_top)
#define CUDA_CALL(event, number, ...) CUDA_CALL_BY(known_write, event, number, __VA_ARGS__)
/* The next function is called by a signal. */
#define SIGNALLED() \
	ENTER_AT("", &known_top); \
	known.file = ""

static void known_open(const char *path)
{
	known_path = path;
	known_truth = fopen(path, "a");
	if (!known_truth)
		abort();
}

/* Writes whole lines, even if several threads and processes write. */
static void known_write(const char *event, unsigned long number, const struct known_frame *frame)
{
	static const char *const separator[] = {"", ", "};
	const struct known_frame *outermost = frame;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	while (outermost->caller)
		outermost = outermost->caller;
	fprintf(out, "{\"event\": \"%s\", \"number\": %lu, \"bytes\": %ld, \"frames\": [", event,
		number, (long)((const char *)outermost - (const char *)frame));
	for (const struct known_frame *at = frame; at; at = at->caller)
		fprintf(out, "%s[\"%s\", \"%s\", %d]", separator[at != frame], at->name, at->file,
			at->line);
	fprintf(out, "]}\n");
	fclose(out);
	fwrite(text, 1, size, known_truth);
	fflush(known_truth);
	free(text);
}

#endif
#endif
