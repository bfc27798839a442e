// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: handles LIBRARY PATTERN COUNT [PAUSE_MS]
 *
 * Makes COUNT handles of a library above CUDA (cublas, cudnn, cufft, nccl), each in serve(), and
 * loads the library right before the first. PATTERN says what becomes of a handle:
 *
 *   leak    nothing destroys it
 *   each    it is destroyed at once
 *   cache   the oldest of 100 is destroyed
 *   fail    as each, but before that a call fails that destroys nothing
 *   all     NCCL: as each, but one call makes three, and a split makes one, or none
 *   begin   NCCL: as each, of communicators that do not block
 *
 * Prints the number of handles that are live before the end.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_api.h"

#define CACHE 100
#define IN_PROGRESS 7
#define NO_COLOR (-1)
#define NOINLINE __attribute__((noinline, noclone))

struct unique_id {
	char bytes[128];
};

/* A handle; cuFFT's are numbers. */
union handle {
	void *address;
	int plan;
};

static const struct {
	const char *name, *file, *create, *destroy;
} libraries[] = {
	{ "cublas", "libcublas.so.13", "cublasCreate_v2", "cublasDestroy_v2" },
	{ "cudnn", "libcudnn.so.9", "cudnnCreate", "cudnnDestroy" },
	{ "cufft", "libcufft.so.12", "cufftPlan1d", "cufftDestroy" },
	{ "nccl", "libnccl.so.2", "ncclCommInitRank", "ncclCommDestroy" },
};

static void *library, *create, *destroy;
static const char *name, *pattern;
static union handle ring[CACHE];
static long live;

static int failed(void)
{
	fprintf(stderr, "handles: a call of %s failed\n", name);
	exit(1);
}

static NOINLINE union handle serve(void)
{
	union handle handle = { .address = NULL };
	struct unique_id id;
	int ret;

	memset(&id, 7, sizeof(id));
	if (!strcmp(name, "cufft"))
		ret = ((int (*)(int *, int, int, int))create)(&handle.plan, 1024, 0, 1);
	else if (strcmp(name, "nccl") != 0)
		ret = ((int (*)(void **))create)(&handle.address);
	else if (!strcmp(pattern, "begin"))
		ret = ((int (*)(void **, int, struct unique_id, int, void *))create)(
			      &handle.address, 1, id, 0, &id) != IN_PROGRESS;
	else
		ret = ((int (*)(void **, int, struct unique_id, int))create)(&handle.address, 1,
									     id, 0);
	if (ret)
		failed();
	live++;
	return handle;
}

static int try_to_end(union handle handle)
{
	if (!strcmp(name, "cufft"))
		return ((int (*)(int))destroy)(handle.plan);
	return ((int (*)(void *))destroy)(handle.address);
}

static void end(union handle handle)
{
	if (try_to_end(handle))
		failed();
	live--;
}

/* ncclCommInitAll, ncclCommSplit: several handles, one, and none. */
static void serve_all(void)
{
	int (*init_all)(void **, int, const int *) =
		(int (*)(void **, int, const int *))dlsym(library, "ncclCommInitAll");
	int (*split)(void *, int, int, void **, void *) =
		(int (*)(void *, int, int, void **, void *))dlsym(library, "ncclCommSplit");
	void *comms[3], *part, *none;

	if (init_all(comms, 3, NULL) || split(comms[0], 1, 0, &part, NULL) ||
	    split(comms[0], NO_COLOR, 0, &none, NULL))
		failed();
	live += 4;
	for (int i = 0; i < 3; i++)
		end((union handle){ .address = comms[i] });
	end((union handle){ .address = part });
}

static void request(long number)
{
	const union handle none = { .plan = -1 };

	if (!strcmp(pattern, "all")) {
		serve_all();
	} else if (!strcmp(pattern, "leak")) {
		serve();
	} else if (!strcmp(pattern, "cache")) {
		if (number >= CACHE)
			end(ring[number % CACHE]);
		ring[number % CACHE] = serve();
	} else {
		union handle handle = serve();

		if (!strcmp(pattern, "fail") &&
		    !try_to_end(strcmp(name, "cufft") ? (union handle){ .address = NULL } : none))
			failed();
		end(handle);
	}
}

static void load(void)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		if (strcmp(libraries[i].name, name) != 0)
			continue;
		library = dlopen(libraries[i].file, RTLD_NOW);
		if (!library)
			break;
		create = dlsym(library, strcmp(pattern, "begin") ? libraries[i].create :
								    "ncclCommInitRankConfig");
		destroy = dlsym(library, libraries[i].destroy);
	}
	if (!create || !destroy)
		failed();
}

int main(int argc, char **argv)
{
	long count, pause_ms;

	if (argc < 4)
		return 2;
	name = argv[1];
	pattern = argv[2];
	count = atol(argv[3]);
	pause_ms = argc > 4 ? atol(argv[4]) : 0;
	if (cudaFree(NULL))
		failed();
	load();
	for (long number = 0; number < count; number++) {
		request(number);
		usleep((unsigned int)pause_ms * 1000);
	}
	printf("%ld\n", live);
	return 0;
}
