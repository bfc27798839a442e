// SPDX-License-Identifier: BSD-2-Clause
// Writes a process's segments and tensors for PyTorch's visualiser, see snapshot.h.
#include "output/snapshot/snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/array.h"
#include "base/saturate.h"
#include "model/tensors.h"
#include "output/snapshot/private.h"

/* --- segments and the tensors in them --- */

static int by_begin(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

/* Sorts stretches, and makes them disjoint: the later one loses what it shares with the earlier. */
static size_t make_disjoint(struct snapshot *snapshot, struct stretch *items, size_t count)
{
	uint64_t end = 0;
	size_t kept = 0;

	if (count)
		qsort(items, count, sizeof(*items), by_begin);
	for (size_t i = 0; i < count; i++) {
		struct stretch item = items[i];

		if (item.begin < end) {
			uint64_t cut = (item.end < end ? item.end : end) - item.begin;

			snapshot->overlapping++;
			saturate__add(&snapshot->overlapping_bytes, cut);
			item.begin = end;
		}
		if (item.begin >= item.end)
			continue;
		end = item.end;
		items[kept++] = item;
	}
	return kept;
}

static int take_segments(struct snapshot *snapshot, const struct process *process)
{
	for (size_t i = 0; i < process->live_listed; i++) {
		const struct allocation *live = &process->live[i];

		if (live->kind != MEMORY_DEVICE)
			continue;
		if (ARRAY_APPEND(snapshot->segments, snapshot->segment_count,
				 (struct stretch){
					 .begin = live->address,
					 .end = saturate__sum(live->address, live->size),
					 .of = live,
				 }))
			return -ENOMEM;
	}
	for (size_t i = 0; i < process->tensors->stretch_count; i++) {
		const struct tensor_stretch *mapped = &process->tensors->stretches[i];

		if (mapped->expandable &&
		    ARRAY_APPEND(snapshot->segments, snapshot->segment_count,
				 (struct stretch){
					 .begin = mapped->address,
					 .end = saturate__sum(mapped->address, mapped->bytes),
					 .expandable = true,
				 }))
			return -ENOMEM;
	}
	snapshot->segment_count =
		make_disjoint(snapshot, snapshot->segments, snapshot->segment_count);
	return 0;
}

static int take_tensors(struct snapshot *snapshot, const struct tensors *tensors)
{
	for (size_t i = 0; i < tensors->live_listed; i++) {
		const struct allocation *live = &tensors->live[i];
		uint64_t bytes = saturate__sum(live->size, TENSOR_ROUND - 1) / TENSOR_ROUND;

		if (ARRAY_APPEND(snapshot->blocks, snapshot->block_count,
				 (struct stretch){
					 .begin = live->address,
					 .end = saturate__sum(live->address, bytes * TENSOR_ROUND),
					 .of = live,
				 }))
			return -ENOMEM;
	}
	snapshot->block_count = make_disjoint(snapshot, snapshot->blocks, snapshot->block_count);
	return 0;
}

/* A segment for adjacent tensors that no known segment holds: it claims no holes. */
static int add_unseen(struct snapshot *snapshot, size_t known, size_t number)
{
	const struct stretch *block = &snapshot->blocks[number];
	struct stretch *last = NULL;

	if (snapshot->segment_count > known)
		last = &snapshot->segments[snapshot->segment_count - 1];
	if (last && last->end == block->begin && last->first + last->count == number) {
		last->end = block->end;
		last->count++;
		return 0;
	}
	snapshot->unseen++;
	return ARRAY_APPEND(
		snapshot->segments, snapshot->segment_count,
		(struct stretch){
			.begin = block->begin, .end = block->end, .first = number, .count = 1});
}

static void cut_at(struct snapshot *snapshot, struct stretch *block, uint64_t end)
{
	if (block->end <= end)
		return;
	snapshot->overlapping++;
	saturate__add(&snapshot->overlapping_bytes, block->end - end);
	block->end = end;
}

/* Gives blocks what is too short to be a block by itself. */
static void widen_blocks(struct snapshot *snapshot, size_t known)
{
	for (size_t i = 0; snapshot->blocks && i < known; i++) {
		const struct stretch *segment = &snapshot->segments[i];
		struct stretch *blocks = &snapshot->blocks[segment->first];

		for (size_t j = 0; j < segment->count; j++)
			blocks[j].end = tensors__block_end(
				blocks[j].end,
				j + 1 < segment->count ? blocks[j + 1].begin : segment->end,
				segment->end - segment->begin, segment->expandable);
	}
}

/* Both lists are sorted and disjoint. A block that reaches beyond its segment is cut there. */
static int place_tensors(struct snapshot *snapshot)
{
	size_t known = snapshot->segment_count, at = 0;

	for (size_t i = 0; i < snapshot->block_count; i++) {
		struct stretch *block = &snapshot->blocks[i], *segment;

		while (at < known && snapshot->segments[at].end <= block->begin)
			at++;
		segment = at < known ? &snapshot->segments[at] : NULL;
		if (!segment || block->begin < segment->begin) {
			if (segment)
				cut_at(snapshot, block, segment->begin);
			if (add_unseen(snapshot, known, i))
				return -ENOMEM;
			continue;
		}
		cut_at(snapshot, block, segment->end);
		if (!segment->count++)
			segment->first = i;
	}
	widen_blocks(snapshot, known);
	if (snapshot->segment_count)
		qsort(snapshot->segments, snapshot->segment_count, sizeof(struct stretch),
		      by_begin);
	return 0;
}

bool snapshot__has_allocator(const struct stack *stack)
{
	for (uint32_t i = 0; stack && i < stack->count; i++)
		if (stack->frames[i].object && api__has_allocator(stack->frames[i].object))
			return true;
	return false;
}

/* Whether PyTorch's allocator took it: a cached segment may hold no tensor. */
bool snapshot__is_frameworks(const struct stretch *segment)
{
	return segment->count || snapshot__has_allocator(segment->of ? segment->of->stack : NULL);
}

/* --- writing --- */

static void write_frame_list(struct pickle *pickle, const struct stack *stack)
{
	pickle__list_begin(pickle);
	for (uint32_t i = 0; stack && i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		const char *file = frame->file ? frame->file : frame->object;

		pickle__dict_begin(pickle);
		pickle__key_string(pickle, "filename", file ? file : "??");
		pickle__key_u64(pickle, "line", frame->line);
		pickle__key_string(pickle, "name", frame->function ? frame->function : "??");
		pickle__dict_end(pickle);
	}
	pickle__list_end(pickle);
}

/* Equal stacks are one object, in the model and in the file. */
int snapshot__write_frames(struct snapshot *snapshot, const struct stack *stack)
{
	struct kept_frames *kept = TABLE_FIND(snapshot->kept, stack, &stack);

	pickle__key(&snapshot->pickle, "frames");
	if (kept) {
		pickle__again(&snapshot->pickle, kept->number);
		return 0;
	}
	kept = TABLE_ADD_NEW(snapshot->kept, stack, &stack);
	if (!kept)
		return -ENOMEM;
	write_frame_list(&snapshot->pickle, stack);
	kept->number = pickle__keep(&snapshot->pickle);
	return 0;
}

static int write_block(struct snapshot *snapshot, uint64_t begin, uint64_t end,
		       const struct allocation *tensor)
{
	struct pickle *pickle = &snapshot->pickle;
	uint64_t size = end - begin;
	int ret;

	pickle__dict_begin(pickle);
	pickle__key_u64(pickle, "address", begin);
	pickle__key_u64(pickle, "size", size);
	pickle__key_u64(pickle, "requested_size",
			!tensor		    ? 0 :
			tensor->size < size ? tensor->size :
					      size);
	pickle__key_string(pickle, "state", tensor ? "active_allocated" : "inactive");
	ret = snapshot__write_frames(snapshot, tensor ? tensor->stack : NULL);
	pickle__dict_end(pickle);
	return ret;
}

static int write_blocks(struct snapshot *snapshot, const struct stretch *segment)
{
	uint64_t at = segment->begin;
	int ret = 0;

	pickle__key(&snapshot->pickle, "blocks");
	pickle__list_begin(&snapshot->pickle);
	for (size_t i = 0; i < segment->count && !ret; i++) {
		const struct stretch *block = &snapshot->blocks[segment->first + i];

		if (block->begin > at)
			ret = write_block(snapshot, at, block->begin, NULL);
		if (!ret)
			ret = write_block(snapshot, block->begin, block->end, block->of);
		at = block->end;
	}
	if (!ret && at < segment->end)
		ret = write_block(snapshot, at, segment->end, NULL);
	pickle__list_end(&snapshot->pickle);
	return ret;
}

static void write_sums(struct snapshot *snapshot, const struct stretch *segment)
{
	struct pickle *pickle = &snapshot->pickle;
	const struct stretch *blocks = snapshot->blocks + segment->first;
	uint8_t device = segment->of ? segment->of->device : DEVICE_UNKNOWN;
	uint64_t allocated = 0, requested = 0, total = segment->end - segment->begin, stream = 0;

	for (size_t i = 0; i < segment->count; i++) {
		uint64_t size = blocks[i].end - blocks[i].begin;

		allocated += size;
		requested += blocks[i].of->size < size ? blocks[i].of->size : size;
		stream = blocks[i].of->stream;
		if (device == DEVICE_UNKNOWN)
			device = blocks[i].of->device;
	}
	if (device == DEVICE_UNKNOWN)
		device = 0;
	if (snapshot->devices <= device)
		snapshot->devices = device + 1u;
	pickle__key_u64(pickle, "device", device);
	pickle__key_u64(pickle, "address", segment->begin);
	pickle__key_u64(pickle, "total_size", total);
	pickle__key_u64(pickle, "allocated_size", allocated);
	pickle__key_u64(pickle, "active_size", allocated);
	pickle__key_u64(pickle, "requested_size", requested);
	pickle__key_u64(pickle, "stream", stream);
	pickle__key_string(pickle, "segment_type",
			   total <= TENSOR_SMALL_SEGMENT ? "small" : "large");
	pickle__key(pickle, "segment_pool_id");
	pickle__pair(pickle, 0, 0);
	pickle__key_bool(pickle, "is_expandable", segment->expandable);
	if (!segment->of && !segment->expandable)
		pickle__key_string(pickle, "gpuprobe", "not seen: from before the attach");
}

static int write_segments(struct snapshot *snapshot)
{
	struct pickle *pickle = &snapshot->pickle;
	int ret = 0;

	pickle__key(pickle, "segments");
	pickle__list_begin(pickle);
	for (size_t i = 0; i < snapshot->segment_count && !ret; i++) {
		const struct stretch *segment = &snapshot->segments[i];

		if (!snapshot__is_frameworks(segment)) {
			snapshot->other++;
			saturate__add(&snapshot->other_bytes, segment->end - segment->begin);
			continue;
		}
		pickle__dict_begin(pickle);
		write_sums(snapshot, segment);
		ret = snapshot__write_frames(snapshot, segment->of ? segment->of->stack : NULL);
		if (!ret)
			ret = write_blocks(snapshot, segment);
		pickle__dict_end(pickle);
	}
	pickle__list_end(pickle);
	return ret;
}

static void write_notes(struct snapshot *snapshot, const struct process *process)
{
	const struct tensor_device_record *total = &process->tensors->total;
	struct pickle *pickle = &snapshot->pickle;

	pickle__key(pickle, "gpuprobe");
	pickle__dict_begin(pickle);
	pickle__key_u64(pickle, "version", 1);
	pickle__key_u64(pickle, "pid", (uint64_t)process->pid);
	pickle__key_string(
		pickle, "modelled",
		"size, segment_pool_id, segment_type, active_size, the stream of a "
		"segment without tensors; tensors and segments from before the attach "
		"are unknown, and the trace has no unmapped parts of expandable segments");
	pickle__key_u64(pickle, "segments_not_seen", snapshot->unseen);
	pickle__key_u64(pickle, "overlapping", snapshot->overlapping);
	pickle__key_u64(pickle, "overlapping_bytes", snapshot->overlapping_bytes);
	pickle__key_u64(pickle, "tensors_not_kept", total->untracked);
	pickle__key_u64(pickle, "tensors_not_kept_bytes", total->untracked_bytes);
	pickle__key_u64(pickle, "events_overwritten", snapshot->events_overwritten);
	pickle__key_u64(pickle, "events_lost", snapshot->events_lost);
	pickle__key_u64(pickle, "other_allocations", snapshot->other);
	pickle__key_u64(pickle, "other_allocation_bytes", snapshot->other_bytes);
	pickle__dict_end(pickle);
}

static int write_all(struct snapshot *snapshot, const struct process *process,
		     const struct snapshot_trace *trace, FILE *out)
{
	struct pickle *pickle = &snapshot->pickle;
	int ret;

	pickle__begin(pickle, out);
	pickle__dict_begin(pickle);
	ret = write_segments(snapshot);
	if (!ret)
		ret = snapshot__write_traces(snapshot, process, trace);
	pickle__key(pickle, "allocator_settings");
	pickle__dict_begin(pickle);
	pickle__dict_end(pickle);
	pickle__key(pickle, "external_annotations");
	pickle__list_begin(pickle);
	pickle__list_end(pickle);
	write_notes(snapshot, process);
	pickle__dict_end(pickle);
	pickle__end(pickle);
	return ret;
}

int snapshot__print(FILE *out, const struct process *process, const struct snapshot_trace *trace)
{
	struct snapshot snapshot = {0};
	int ret = take_segments(&snapshot, process);

	if (!ret)
		ret = take_tensors(&snapshot, process->tensors);
	if (!ret)
		ret = place_tensors(&snapshot);
	if (!ret)
		ret = write_all(&snapshot, process, trace, out);
	TABLE_CLEAR(snapshot.kept, free);
	free(snapshot.segments);
	free(snapshot.blocks);
	return ret;
}
