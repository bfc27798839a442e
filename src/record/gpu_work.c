// SPDX-License-Identifier: BSD-2-Clause
// The work of GPUs in recordings, see gpu_work.h.
#include "record/gpu_work.h"

void recorded_gpu_work__put_shape(struct bytes *to, const struct trace_line *line, uint32_t process,
				  uint32_t kernel)
{
	const struct trace_gpu_work *work = line->gpu;

	bytes__number(to, process);
	bytes__number(to, kernel);
	bytes__number(to, work->kind);
	bytes__number(to, work->copy);
	bytes__number(to, work->device);
	bytes__number(to, work->stream);
	bytes__number(to, work->has_call ? (uint64_t)(uint32_t)line->tid + 1 : 0);
}

bool recorded_gpu_work__take_shape(struct varint_reader *from, struct recorded_gpu_shape *shape,
				   uint64_t *process, uint64_t *kernel)
{
	uint64_t kind, copy, device, stream, thread;

	*process = varint__take(from);
	*kernel = varint__take(from);
	kind = varint__take(from);
	copy = varint__take(from);
	device = varint__take(from);
	stream = varint__take(from);
	thread = varint__take(from);
	if (from->failed || !kind || kind >= GPU_WORK_CALL || copy > UINT8_MAX ||
	    device > UINT32_MAX || stream > UINT32_MAX || thread > (uint64_t)INT32_MAX + 1)
		return false;
	shape->work = (struct trace_gpu_work){
		.kind = (uint8_t)kind,
		.copy = (uint8_t)copy,
		.has_call = thread != 0,
		.device = (uint32_t)device,
		.stream = (uint32_t)stream,
	};
	shape->tid = thread ? (pid_t)(thread - 1) : 0;
	return true;
}

void recorded_gpu_work__put(struct bytes *to, const struct trace_line *line, uint64_t time_ns)
{
	const struct trace_gpu_work *work = line->gpu;

	bytes__signed(to, (int64_t)(line->start_ns - time_ns));
	bytes__number(to, line->duration_ns);
	if (work->has_call)
		bytes__signed(to, (int64_t)(line->start_ns - work->called_ns));
	if (trace_gpu_work__has_bytes(work))
		bytes__number(to, work->bytes);
}

bool recorded_gpu_work__take(struct varint_reader *from, const struct recorded_gpu_shape *shape,
			     uint64_t time_ns, struct trace_gpu_work *work, struct trace_line *line)
{
	*work = shape->work;
	line->start_ns = time_ns + (uint64_t)varint__take_signed(from);
	line->duration_ns = varint__take(from);
	if (work->has_call)
		work->called_ns = line->start_ns - (uint64_t)varint__take_signed(from);
	if (trace_gpu_work__has_bytes(work))
		work->bytes = varint__take(from);
	line->tid = shape->tid;
	line->device = work->device <= INT16_MAX ? (int16_t)work->device : -1;
	return !from->failed;
}
