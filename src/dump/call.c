// SPDX-License-Identifier: BSD-2-Clause
// The call that a stack is in; see call.h.
#include "dump/call.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "api/api.h"
#include "stack/thread_entry.h"

/*
 * Libraries that call CUDA for the program: the prefixes of their file names and of their
 * functions.
 */
static const struct {
	const char *file, *function;
} libraries[] = {
	{"libnccl", "nccl"},	     {"libnccl", "pnccl"},	    {"libcudnn", "cudnn"},
	{"libcublas", "cublas"},     {"libcufft", "cufft"},	    {"libcusparse", "cusparse"},
	{"libcusolver", "cusolver"}, {"libcurand", "curand"},	    {"libnvshmem", "nvshmem"},
	{"libnvrtc", "nvrtc"},	     {"libnvJitLink", "nvJitLink"}, {"libcutensor", "cutensor"},
};

/* The owner of a frame. */
enum owner {
	OWNER_PROGRAM = 0,
	OWNER_SYSTEM, /* the C library, the loader, the vdso: belongs to its caller */
	OWNER_LIBRARY,
	OWNER_CUDA,
};

static bool begins_with(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

static bool is_system(const char *object)
{
	static const char *const names[] = {"libc.so",	 "libc-",      "ld-linux",
					    "ld-",	 "libpthread", "ld-musl",
					    "libc.musl", "[vdso]",     "[uprobes]"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (begins_with(object, names[i]))
			return true;
	return false;
}

static bool is_library(const char *object)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (begins_with(object, libraries[i].file))
			return true;
	return false;
}

#define CUDA_FILE "libcuda"		   /* prefix of the file names of CUDA's own libraries */
#define STATIC_RUNTIME "libcudart_static_" /* prefix of the names of its inner functions */

/*
 * Whether the frame is a function of the API, in any file: a program may have the runtime linked
 * in.
 */
static bool is_cuda_function(const struct stack_frame *frame)
{
	return frame->function && begins_with(frame->function, "cu") &&
	       api__find(frame->function, API_NEWEST) >= 0;
}

static bool is_of_cuda(const struct stack_frame *frame)
{
	return is_cuda_function(frame) ||
	       (frame->function && begins_with(frame->function, STATIC_RUNTIME)) ||
	       (frame->object && begins_with(frame->object, CUDA_FILE));
}

static enum owner owner_of(const struct stack_frame *frame)
{
	if (frame->kind != FRAME_NATIVE)
		return OWNER_PROGRAM;
	if (is_of_cuda(frame))
		return OWNER_CUDA;
	if (!frame->object)
		return OWNER_PROGRAM;
	if (is_library(frame->object))
		return OWNER_LIBRARY;
	return is_system(frame->object) ? OWNER_SYSTEM : OWNER_PROGRAM;
}

/*
 * Recognises an exported function of a CUDA library that the table does not know, by its name:
 * cuXyz, cudaXyz.
 */
static bool is_named_like_cuda(const char *function)
{
	const char *rest = function + (begins_with(function, "cuda") ? 4 : 2);

	return begins_with(function, "cu") && isupper((unsigned char)*rest);
}

static bool is_named_like_library(const char *function)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		size_t length = strlen(libraries[i].function);

		if (!strncmp(function, libraries[i].function, length) &&
		    (isupper((unsigned char)function[length]) || function[length] == '_'))
			return true;
	}
	return false;
}

/*
 * NCCL's symbol tables have each function twice at one address, like PMPI. The program called
 * ncclX, not pncclX.
 */
static const char *called_name(const char *function)
{
	return begins_with(function, "pnccl") ? function + 1 : function;
}

/* Whether the program, or another library, can have called this function. */
static bool is_call(const struct stack_frame *frame, enum owner owner)
{
	if (!frame->function)
		return false;
	return owner == OWNER_CUDA ? is_named_like_cuda(frame->function) :
				     is_named_like_library(frame->function);
}

static bool is_beginning(const struct stack_frame *frame)
{
	return frame->kind == FRAME_NATIVE && frame->function &&
	       thread_entry__is_name(frame->function);
}

/*
 * The number of frames before those that start a program or a thread. A stripped program's _start
 * has no name.
 */
static size_t find_end(const struct stack *stack)
{
	size_t end = stack->count;

	if (end > 1 && !stack->frames[end - 1].function && is_beginning(&stack->frames[end - 2]))
		end--;
	while (end && is_beginning(&stack->frames[end - 1]))
		end--;
	return end;
}

/* For a stack in no call: the number of C library frames in front of the program's. */
static size_t skip_system(const struct stack *stack, size_t end)
{
	size_t i = 0;

	while (i < end && owner_of(&stack->frames[i]) == OWNER_SYSTEM)
		i++;
	return i < end ? i : 0;
}

bool stack_call__may_be_in(const char *object)
{
	return begins_with(object, CUDA_FILE) || is_library(object) || !strstr(object, ".so");
}

struct stack_call stack_call__of(const struct stack *stack)
{
	struct stack_call call = {.ends = find_end(stack)};

	for (uint32_t i = 0; i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		enum owner owner = owner_of(frame);

		if (owner == OWNER_PROGRAM && (call.function || call.by))
			break;
		if (owner < OWNER_LIBRARY || !is_call(frame, owner))
			continue;
		/* A library call that CUDA makes itself is not the program's. */
		if (owner == OWNER_CUDA && call.by)
			break;
		*(owner == OWNER_CUDA ? &call.function : &call.by) = called_name(frame->function);
		if (!call.inner)
			call.inner = call.function;
		call.beyond = i + 1;
	}
	if (!call.beyond)
		call.beyond = skip_system(stack, call.ends);
	return call;
}
