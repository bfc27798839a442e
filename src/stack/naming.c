// SPDX-License-Identifier: BSD-2-Clause
// Names the frames of one stack; see naming.h.
#include "stack/naming.h"

#include <errno.h>
#include <string.h>

#include "stack/merge.h"

#define TRUNCATED "[truncated]"
#define BROKEN "[callers not found]"

/* Without the function where that is not wanted. */
static int find(const struct naming *naming, struct native_frames *frames,
		const struct stack_process *process, uint64_t address, enum native_address kind,
		struct native_frame *frame)
{
	if (!process)
		return -ENOENT;
	if (naming->names_in && !native_process__locate(process->native, address, frame) &&
	    frame->object && !naming->names_in(frame->object))
		return 0;
	return native_frames__find(frames, process->native, address, kind, frame);
}

static int name_address(const struct naming *naming, struct native_frames *frames,
			const struct stack_process *process, uint64_t address,
			enum native_address kind, struct stack_frame *out)
{
	struct native_frame frame = {0};
	int ret = find(naming, frames, process, address, kind, &frame);

	*out = (struct stack_frame){.kind = FRAME_NATIVE, .offset = address};
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	out->function = frame.function;
	out->object = frame.object;
	out->file = frame.file;
	out->offset = frame.offset;
	out->line = frame.line;
	return 0;
}

static int name_caller(const struct naming *naming, struct native_frames *frames,
		       const struct stack_process *process, uint32_t i, struct stack_frame *out)
{
	bool interrupted = call_chain__is_interrupted(&naming->chain, i);

	return name_address(naming, frames, process, naming->chain.address[i],
			    interrupted ? ADDRESS_OF_CODE : ADDRESS_OF_RETURN, out);
}

/* A thread without Python frames keeps the interpreter's native frames. */
static size_t merge(const struct naming *naming, const struct stack_process *process,
		    struct merged_frame *merged)
{
	struct merge_ranges ranges = {0};

	if (process && process->search == PYTHON_FOUND && naming->python->count) {
		ranges = (struct merge_ranges){
			process->python.object_start, process->python.object_end,
			process->python.eval_start, process->python.eval_end};
	}
	return python_merge(naming->chain.address, naming->chain.count, naming->python->entry,
			    naming->python->count, &ranges, merged);
}

int naming__make(struct naming *naming, struct native_frames *frames,
		 const struct stack_process *process, const struct stack_record *record,
		 struct stack *out)
{
	struct merged_frame merged[CHAIN_MAX + PYTHON_NAMED_MAX];
	size_t count = merge(naming, process, merged);
	struct stack_frame *next = naming->frames;
	int ret = 0;

	if (record->function)
		ret = name_address(naming, frames, process, record->function, ADDRESS_OF_CODE,
				   next++);
	for (size_t i = 0; i < count && !ret; i++, next++) {
		if (merged[i].python)
			*next = naming->python->frames[merged[i].index];
		else
			ret = name_caller(naming, frames, process, merged[i].index, next);
	}
	if (ret)
		return ret;
	if (naming->chain.truncated || naming->chain.broken)
		*next++ = (struct stack_frame){.kind = FRAME_MARK,
					       .function = naming->chain.truncated ? TRUNCATED :
										     BROKEN};
	*out = (struct stack){
		.count = (uint32_t)(next - naming->frames),
		.frames = naming->frames,
		.truncated = naming->chain.truncated,
		.broken = naming->chain.broken,
	};
	return 0;
}
