// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program to watch: vector addition on the CUDA runtime, with every kind of call that a tracer
 * shows: device, allocation, copies both ways, launch, stream and events, and on request one that
 * fails.
 *
 * nvcc builds it as CUDA C++ (nvcc -x cu), any C compiler as C: the kernel is then PTX, which the
 * runtime loads. See README.md beside it.
 */
#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include "cuda_api.h"
#endif

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 256
#define MORE_THAN_ANY_DEVICE_HAS (1ull << 50)

/* Ends the program with the failed call's name and the reason. */
#define CHECK(call) check((call), #call)

static void check(cudaError_t result, const char *call)
{
	if (result == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(result));
	exit(1);
}

#ifdef __CUDACC__
extern "C" __global__ void vadd(const float *a, const float *b, float *sum, unsigned int n)
{
	unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		sum[i] = a[i] + b[i];
}

static const void *load_kernel(void)
{
	return (const void *)vadd;
}
#else
static const char vadd_text[] =
	".version 7.0\n"
	".target sm_75\n"
	".address_size 64\n"
	".visible .entry vadd(.param .u64 a, .param .u64 b, .param .u64 sum, .param .u32 n)\n"
	"{\n"
	"	.reg .pred %beyond;\n"
	"	.reg .b32 %i, %block, %size, %n;\n"
	"	.reg .b64 %at, %a, %b, %sum;\n"
	"	.reg .f32 %x, %y;\n"
	"	mov.u32 %block, %ctaid.x;\n"
	"	mov.u32 %size, %ntid.x;\n"
	"	mov.u32 %i, %tid.x;\n"
	"	mad.lo.u32 %i, %block, %size, %i;\n"
	"	ld.param.u32 %n, [n];\n"
	"	setp.ge.u32 %beyond, %i, %n;\n"
	"	@%beyond bra done;\n"
	"	mul.wide.u32 %at, %i, 4;\n"
	"	ld.param.u64 %a, [a];\n"
	"	ld.param.u64 %b, [b];\n"
	"	ld.param.u64 %sum, [sum];\n"
	"	add.u64 %a, %a, %at;\n"
	"	add.u64 %b, %b, %at;\n"
	"	add.u64 %sum, %sum, %at;\n"
	"	ld.global.f32 %x, [%a];\n"
	"	ld.global.f32 %y, [%b];\n"
	"	add.f32 %x, %x, %y;\n"
	"	st.global.f32 [%sum], %x;\n"
	"done:\n"
	"	ret;\n"
	"}\n";

static const void *load_kernel(void)
{
	cudaLibrary_t library;
	cudaKernel_t kernel;

	CHECK(cudaLibraryLoadData(&library, vadd_text, NULL, NULL, 0, NULL, NULL, 0));
	CHECK(cudaLibraryGetKernel(&kernel, library, "vadd"));
	return (const void *)kernel;
}
#endif

struct settings {
	unsigned int iterations, elements, pause_ms;
	int fail, simulated;
};

struct vectors {
	size_t bytes;
	float *a, *b, *sum; /* the program's */
	void *device_a, *device_b, *device_sum;
};

static float *new_vector(size_t bytes)
{
	float *vector = (float *)malloc(bytes);

	if (vector)
		return vector;
	fputs("out of memory\n", stderr);
	exit(1);
}

static void fill(struct vectors *vectors, unsigned int elements)
{
	vectors->bytes = elements * sizeof(float);
	vectors->a = new_vector(vectors->bytes);
	vectors->b = new_vector(vectors->bytes);
	vectors->sum = new_vector(vectors->bytes);
	for (unsigned int i = 0; i < elements; i++) {
		vectors->a[i] = (float)i;
		vectors->b[i] = 0.5f * (float)(i % 1000);
		vectors->sum[i] = -1;
	}
	CHECK(cudaMalloc(&vectors->device_a, vectors->bytes));
	CHECK(cudaMalloc(&vectors->device_b, vectors->bytes));
	CHECK(cudaMalloc(&vectors->device_sum, vectors->bytes));
}

static void release(struct vectors *vectors)
{
	CHECK(cudaFree(vectors->device_a));
	CHECK(cudaFree(vectors->device_b));
	CHECK(cudaFree(vectors->device_sum));
	free(vectors->a);
	free(vectors->b);
	free(vectors->sum);
}

static void launch(const void *kernel, struct vectors *vectors, unsigned int elements,
		   cudaStream_t stream)
{
	void *arguments[] = {&vectors->device_a, &vectors->device_b, &vectors->device_sum,
			     &elements};
	dim3 grid = {(elements + BLOCK - 1) / BLOCK, 1, 1}, block = {BLOCK, 1, 1};

	CHECK(cudaLaunchKernel(kernel, grid, block, arguments, 0, stream));
}

/* Copies in, adds between two events, copies out. */
static void add(const void *kernel, struct vectors *vectors, unsigned int elements)
{
	cudaEvent_t begin, end;
	cudaStream_t stream;
	float ms;

	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	CHECK(cudaMemcpy(vectors->device_a, vectors->a, vectors->bytes, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(vectors->device_b, vectors->b, vectors->bytes, cudaMemcpyHostToDevice));
	CHECK(cudaEventRecord(begin, stream));
	launch(kernel, vectors, elements, stream);
	CHECK(cudaEventRecord(end, stream));
	CHECK(cudaEventSynchronize(end));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaEventElapsedTime(&ms, begin, end));
	CHECK(cudaMemcpy(vectors->sum, vectors->device_sum, vectors->bytes,
			 cudaMemcpyDeviceToHost));
	CHECK(cudaEventDestroy(begin));
	CHECK(cudaEventDestroy(end));
	CHECK(cudaStreamDestroy(stream));
}

static void compare(const float *found, const float *a, const float *b, unsigned int elements)
{
	for (unsigned int i = 0; i < elements; i++) {
		float expected = b ? a[i] + b[i] : a[i];

		if (found[i] == expected)
			continue;
		fprintf(stderr, "element %u is %g, not %g\n", i, (double)found[i],
			(double)expected);
		exit(1);
	}
}

/* Simulated kernels compute nothing: there the data copied in must come out unchanged. */
static void verify(const struct settings *settings, struct vectors *vectors)
{
	if (!settings->simulated) {
		compare(vectors->sum, vectors->a, vectors->b, settings->elements);
		return;
	}
	CHECK(cudaMemcpy(vectors->sum, vectors->device_a, vectors->bytes, cudaMemcpyDeviceToHost));
	compare(vectors->sum, vectors->a, NULL, settings->elements);
}

/* Gives a tracer a failed call to show. */
static void fail_to_allocate(void)
{
	void *nothing;
	cudaError_t result = cudaMalloc(&nothing, MORE_THAN_ANY_DEVICE_HAS);

	if (result != cudaErrorMemoryAllocation) {
		fprintf(stderr, "cudaMalloc of 1 PiB gave %d\n", (int)result);
		exit(1);
	}
	cudaGetLastError(); /* otherwise it stays the last error */
}

static unsigned int number(const char *name, const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end != text && !*end && *text != '-' && value <= 1000000000)
		return (unsigned int)value;
	fprintf(stderr, "%s '%s': give a whole number\n", name, text);
	exit(2);
}

static void usage(FILE *out)
{
	fputs("usage: cuda_events_test [OPTIONS]\n"
	      "Adds two vectors on the GPU, again and again.\n"
	      "\n"
	      "  --iterations N   how often [3]\n"
	      "  --elements N     of a vector [1048576]\n"
	      "  --pause MS       between them [0]\n"
	      "  --fail           also try to allocate 1 PiB, which fails\n"
	      "  --simulated      kernels compute nothing: do not look at the sums\n"
	      "  --help           print this\n",
	      out);
}

static struct settings parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"iterations", required_argument, NULL, 'i'},
		{"elements", required_argument, NULL, 'n'},
		{"pause", required_argument, NULL, 'p'},
		{"fail", no_argument, NULL, 'f'},
		{"simulated", no_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct settings settings = {3, 1048576, 0, 0, 0};
	int option;

#ifdef SIMULATED
	settings.simulated = 1;
#endif
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'i')
			settings.iterations = number("--iterations", optarg);
		else if (option == 'n')
			settings.elements = number("--elements", optarg);
		else if (option == 'p')
			settings.pause_ms = number("--pause", optarg);
		else if (option == 'f')
			settings.fail = 1;
		else if (option == 's')
			settings.simulated = 1;
		else {
			usage(option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	return settings;
}

int main(int argc, char **argv)
{
	struct settings settings = parse(argc, argv);
	struct vectors vectors;
	const void *kernel;
	int device;

	CHECK(cudaGetDevice(&device));
	CHECK(cudaSetDevice(device));
	kernel = load_kernel();
	for (unsigned int i = 0; i < settings.iterations; i++) {
		if (i && settings.pause_ms)
			usleep(settings.pause_ms * 1000);
		fill(&vectors, settings.elements);
		add(kernel, &vectors, settings.elements);
		verify(&settings, &vectors);
		release(&vectors);
	}
	if (settings.fail)
		fail_to_allocate();
	printf("%u additions of %u elements on device %d\n", settings.iterations, settings.elements,
	       device);
	return 0;
}
