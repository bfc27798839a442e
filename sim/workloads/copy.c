// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every one-dimensional copy and memset, in all forms, found by name so that the forms for
 * per-thread default streams are called as well. Can leave asynchronous copies unwaited for a
 * while.
 */
#define _GNU_SOURCE
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum shape {
	SHAPE_COPY,		/* to, from, size */
	SHAPE_PEER,		/* to, context, from, context, size */
	SHAPE_SET8,
	SHAPE_SET16,
	SHAPE_SET32,
	SHAPE_KIND,		/* runtime: to, from, size, kind */
	SHAPE_RUNTIME_PEER,
	SHAPE_RUNTIME_SET,
};

/* Which sides are device memory. */
enum direction { TO_DEVICE, TO_HOST, ON_DEVICE };

struct form {
	const char *name;
	enum shape shape;
	enum direction direction;
	bool async;
	const char *suffix;	/* suffix of the form for per-thread default streams */
};

static const struct form driver_forms[] = {
	{ "cuMemcpy", SHAPE_COPY, ON_DEVICE, false, "_ptds" },
	{ "cuMemcpyHtoD_v2", SHAPE_COPY, TO_DEVICE, false, "_ptds" },
	{ "cuMemcpyDtoH_v2", SHAPE_COPY, TO_HOST, false, "_ptds" },
	{ "cuMemcpyDtoD_v2", SHAPE_COPY, ON_DEVICE, false, "_ptds" },
	{ "cuMemcpyPeer", SHAPE_PEER, ON_DEVICE, false, "_ptds" },
	{ "cuMemsetD8_v2", SHAPE_SET8, ON_DEVICE, false, "_ptds" },
	{ "cuMemsetD16_v2", SHAPE_SET16, ON_DEVICE, false, "_ptds" },
	{ "cuMemsetD32_v2", SHAPE_SET32, ON_DEVICE, false, "_ptds" },
	{ "cuMemcpyAsync", SHAPE_COPY, ON_DEVICE, true, "_ptsz" },
	{ "cuMemcpyHtoDAsync_v2", SHAPE_COPY, TO_DEVICE, true, "_ptsz" },
	{ "cuMemcpyDtoHAsync_v2", SHAPE_COPY, TO_HOST, true, "_ptsz" },
	{ "cuMemcpyDtoDAsync_v2", SHAPE_COPY, ON_DEVICE, true, "_ptsz" },
	{ "cuMemcpyPeerAsync", SHAPE_PEER, ON_DEVICE, true, "_ptsz" },
	{ "cuMemsetD8Async", SHAPE_SET8, ON_DEVICE, true, "_ptsz" },
	{ "cuMemsetD16Async", SHAPE_SET16, ON_DEVICE, true, "_ptsz" },
	{ "cuMemsetD32Async", SHAPE_SET32, ON_DEVICE, true, "_ptsz" },
	{ 0 },
};

static const struct form runtime_forms[] = {
	{ "cudaMemcpy", SHAPE_KIND, TO_DEVICE, false, "_ptds" },
	{ "cudaMemcpy", SHAPE_KIND, TO_HOST, false, "_ptds" },
	{ "cudaMemcpy", SHAPE_KIND, ON_DEVICE, false, "_ptds" },
	{ "cudaMemcpyPeer", SHAPE_RUNTIME_PEER, ON_DEVICE, false, NULL },
	{ "cudaMemset", SHAPE_RUNTIME_SET, ON_DEVICE, false, "_ptds" },
	{ "cudaMemcpyAsync", SHAPE_KIND, TO_DEVICE, true, "_ptsz" },
	{ "cudaMemcpyAsync", SHAPE_KIND, TO_HOST, true, "_ptsz" },
	{ "cudaMemcpyAsync", SHAPE_KIND, ON_DEVICE, true, "_ptsz" },
	{ "cudaMemcpyPeerAsync", SHAPE_RUNTIME_PEER, ON_DEVICE, true, NULL },
	{ "cudaMemsetAsync", SHAPE_RUNTIME_SET, ON_DEVICE, true, "_ptsz" },
	{ 0 },
};

enum wait { WAIT_STREAM, WAIT_CONTEXT, WAIT_EVENT, WAIT_QUERY };

static struct {
	uint64_t threads, count, size, in_flight;
	double hold;
	bool by_line;
	int api, wait;
	const char *only;
	struct gpu gpu;
} run = { .threads = 1, .count = 1, .size = 65536 };

/* A thread's own memory and stream. */
struct buffers {
	CUdeviceptr device[2];
	void *host;
	CUstream stream;
};

typedef unsigned long long address;

static address as_address(const void *pointer)
{
	return (address)(uintptr_t)pointer;
}

static enum cudaMemcpyKind kind_of(enum direction direction)
{
	switch (direction) {
	case TO_DEVICE:
		return cudaMemcpyHostToDevice;
	case TO_HOST:
		return cudaMemcpyDeviceToHost;
	case ON_DEVICE:
		break;
	}
	return cudaMemcpyDeviceToDevice;
}

/*
 * Calls the function; a synchronous one ignores the stream after its last argument. Pointers and
 * addresses are passed alike.
 */
static int call(void *function, const struct form *form, const struct buffers *buffers)
{
	address to = form->direction == TO_HOST ? as_address(buffers->host) : buffers->device[0];
	address from = form->direction == TO_DEVICE ? as_address(buffers->host) :
						       buffers->device[1];
	CUstream stream = buffers->stream;
	size_t size = run.size;

	switch (form->shape) {
	case SHAPE_COPY:
		return ((int (*)(address, address, size_t, CUstream))function)(to, from, size,
									       stream);
	case SHAPE_PEER:
		return ((int (*)(address, CUcontext, address, CUcontext, size_t, CUstream))
				function)(to, run.gpu.context, from, run.gpu.context, size, stream);
	case SHAPE_SET8:
		return ((int (*)(address, unsigned char, size_t, CUstream))function)(to, 1, size,
										     stream);
	case SHAPE_SET16:
		return ((int (*)(address, unsigned short, size_t, CUstream))
				function)(to, 1, size / 2, stream);
	case SHAPE_SET32:
		return ((int (*)(address, unsigned int, size_t, CUstream))
				function)(to, 1, size / 4, stream);
	case SHAPE_KIND:
		return ((int (*)(address, address, size_t, enum cudaMemcpyKind, CUstream))
				function)(to, from, size, kind_of(form->direction), stream);
	case SHAPE_RUNTIME_PEER:
		return ((int (*)(address, int, address, int, size_t, CUstream))
				function)(to, 0, from, 0, size, stream);
	case SHAPE_RUNTIME_SET:
		return ((int (*)(address, int, size_t, CUstream))function)(to, 1, size, stream);
	}
	return 1;
}

static void call_by_name(const char *name, const struct form *form, const struct buffers *buffers)
{
	void *function;

	if (run.only && strcmp(run.only, name))
		return;
	function = dlsym(RTLD_DEFAULT, name);
	if (!function)
		give_up("%s is not exported", name);
	for (uint64_t i = 0; i < run.count; i++)
		need(call(function, form, buffers), name);
}

static struct buffers make_buffers(void)
{
	struct buffers buffers = { 0 };

	if (run.api == API_RUNTIME) {
		for (int i = 0; i < 2; i++)
			NEED(cudaMalloc((void **)&buffers.device[i], run.size));
		NEED(cudaHostAlloc(&buffers.host, run.size, cudaHostAllocDefault));
		NEED(cudaStreamCreateWithFlags(&buffers.stream, cudaStreamNonBlocking));
		return buffers;
	}
	for (int i = 0; i < 2; i++)
		NEED(cuMemAlloc(&buffers.device[i], run.size));
	NEED(cuMemHostAlloc(&buffers.host, run.size, 0));
	NEED(cuStreamCreate(&buffers.stream, CU_STREAM_NON_BLOCKING));
	return buffers;
}

static void free_buffers(const struct buffers *buffers)
{
	for (int i = 0; i < 2; i++) {
		if (run.api == API_RUNTIME)
			NEED(cudaFree((void *)(uintptr_t)buffers->device[i]));
		else
			NEED(cuMemFree(buffers->device[i]));
	}
	if (run.api == API_RUNTIME)
		NEED(cudaFreeHost(buffers->host));
	else
		NEED(cuMemFreeHost(buffers->host));
}

static void wait_for_event(CUstream stream)
{
	CUevent event;

	if (run.api == API_RUNTIME) {
		NEED(cudaEventCreate(&event));
		NEED(cudaEventRecord(event, stream));
		NEED(cudaEventSynchronize(event));
		NEED(cudaEventDestroy(event));
		return;
	}
	NEED(cuEventCreate(&event, 0));
	NEED(cuEventRecord(event, stream));
	NEED(cuEventSynchronize(event));
	NEED(cuEventDestroy(event));
}

static void query_until_done(CUstream stream)
{
	int result;

	do {
		result = run.api == API_RUNTIME ? (int)cudaStreamQuery(stream) :
						  (int)cuStreamQuery(stream);
		if (result == CUDA_ERROR_NOT_READY)
			sleep_seconds(0.001);
	} while (result == CUDA_ERROR_NOT_READY);
	need(result, "the query of the stream");
}

static void wait_for(CUstream stream)
{
	switch ((enum wait)run.wait) {
	case WAIT_STREAM:
		if (run.api == API_RUNTIME)
			NEED(cudaStreamSynchronize(stream));
		else
			NEED(cuStreamSynchronize(stream));
		break;
	case WAIT_CONTEXT:
		gpu__synchronize(&run.gpu);
		break;
	case WAIT_EVENT:
		wait_for_event(stream);
		break;
	case WAIT_QUERY:
		query_until_done(stream);
		break;
	}
}

static void stay(void)
{
	char line[256];

	if (!run.by_line)
		sleep_seconds(run.hold);
	else if (!fgets(line, sizeof(line), stdin))
		give_up("no line on standard input");
}

/* Submits copies, prints that it did, leaves them for a while and then waits. */
static void leave_in_flight(const struct buffers *buffers)
{
	for (uint64_t i = 0; i < run.in_flight; i++) {
		if (run.api == API_RUNTIME)
			NEED(cudaMemcpyAsync((void *)(uintptr_t)buffers->device[0], buffers->host,
					     run.size, cudaMemcpyHostToDevice, buffers->stream));
		else
			NEED(cuMemcpyHtoDAsync(buffers->device[0], buffers->host, run.size,
					       buffers->stream));
	}
	puts("ISSUED");
	fflush(stdout);
	stay();
	wait_for(buffers->stream);
	puts("WAITED");
	fflush(stdout);
	stay();
}

static void run_thread(uint64_t index, void *context)
{
	const struct form *form = run.api == API_RUNTIME ? runtime_forms : driver_forms;
	struct buffers buffers;
	char name[64];

	(void)index, (void)context;
	gpu__enter(&run.gpu);
	buffers = make_buffers();
	for (; form->name && run.count; form++) {
		call_by_name(form->name, form, &buffers);
		if (!form->suffix)
			continue;
		snprintf(name, sizeof(name), "%s%s", form->name, form->suffix);
		call_by_name(name, form, &buffers);
	}
	if (run.count)
		wait_for(buffers.stream);
	if (run.in_flight)
		leave_in_flight(&buffers);
	free_buffers(&buffers);
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "threads", OPTION_NUMBER, &run.threads, NULL, "threads [1]" },
		{ "count", OPTION_NUMBER, &run.count, NULL, "calls of each function a thread [1]" },
		{ "bytes", OPTION_NUMBER, &run.size, NULL, "of each copy; a multiple of 4 [64K]" },
		{ "only", OPTION_TEXT, &run.only, NULL, "this function of the list alone" },
		{ "in-flight", OPTION_NUMBER, &run.in_flight, NULL,
		  "then leave so many copies unwaited [0]" },
		{ "hold", OPTION_SECONDS, &run.hold, NULL,
		  "before waiting for them, and after [0]" },
		{ "by-line", OPTION_FLAG, &run.by_line, NULL,
		  "hold until a line comes on standard input instead, and another after" },
		{ "wait", OPTION_CHOICE, &run.wait, "stream|context|event|query",
		  "how to wait [stream]" },
		{ "api", OPTION_CHOICE, &run.api, API_CHOICES, "[runtime]" },
		{ 0 },
	};

	monitor_options__parse(argc, argv, "Calls every one-dimensional copy and memset.", options);
	if (!run.size || run.size % 4)
		give_up("--bytes must be a multiple of 4");
	run.gpu = gpu__open(run.api);
	run_threads(run.threads, run_thread, NULL);
	return 0;
}
