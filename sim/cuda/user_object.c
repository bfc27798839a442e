// SPDX-License-Identifier: BSD-2-Clause
/*
 * User objects: reference counts that programs pass to graphs. A graph's references count as the
 * program's here, so an object is destroyed when all are released.
 */
#include "cuda/graph.h"

#include <stdio.h>

#define MAX_USER_OBJECTS (1u << 12)

struct CUuserObject_st {
	struct object object;
	uint64_t reserved;
	uint64_t references;
	void *argument;
	CUhostFn destroy;
};

static struct pool *objects;

static int create(CUuserObject *out, void *argument, CUhostFn destroy, unsigned int count)
{
	struct CUuserObject_st *object;

	if (!out || !destroy || !count)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	if (!objects)
		objects = pool__new(sizeof(*object), MAX_USER_OBJECTS);
	object = objects ? pool__take(objects) : NULL;
	pthread_mutex_unlock(&driver.lock);
	if (!object)
		return CUDA_ERROR_OUT_OF_MEMORY;
	object->references = count;
	object->argument = argument;
	object->destroy = destroy;
	*out = object;
	return CUDA_SUCCESS;
}

static int retain(CUuserObject object, unsigned int count)
{
	if (!pool__holds(objects, object) || !count)
		return CUDA_ERROR_INVALID_VALUE;
	__atomic_add_fetch(&object->references, count, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

static int release(CUuserObject object, unsigned int count)
{
	CUhostFn destroy;
	void *argument;

	if (!pool__holds(objects, object) || !count || count > object->references)
		return CUDA_ERROR_INVALID_VALUE;
	if (__atomic_sub_fetch(&object->references, count, __ATOMIC_ACQ_REL))
		return CUDA_SUCCESS;
	destroy = object->destroy;
	argument = object->argument;
	pool__give(objects, object);
	destroy(argument);
	return CUDA_SUCCESS;
}

#define MOVE_REFERENCES 1u	/* the graph takes over the caller's references */

static int give(const struct CUgraph_st *graph, CUuserObject object, unsigned int count,
		unsigned int flags)
{
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & MOVE_REFERENCES)
		return pool__holds(objects, object) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	return retain(object, count);
}

static int draw(const struct CUgraph_st *graph, const char *path)
{
	FILE *out = graph && path ? fopen(path, "we") : NULL;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	fputs("digraph dot {\n", out);
	for (const struct CUgraphNode_st *node = graph->first; node; node = node->next)
		for (size_t i = 0; i < node->nr_from; i++)
			fprintf(out, "\"node_%llu\" -> \"node_%llu\";\n",
				(unsigned long long)node->from[i]->id,
				(unsigned long long)node->id);
	fputs("}\n", out);
	return fclose(out) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

DRIVER_PLAIN(cuUserObjectCreate, (CUuserObject *out, void *argument, CUhostFn destroy,
				  unsigned int count, unsigned int flags),
	     ((void)flags, create(out, argument, destroy, count)));
DRIVER_PLAIN(cuUserObjectRetain, (CUuserObject object, unsigned int count),
	     retain(object, count));
DRIVER_PLAIN(cuUserObjectRelease, (CUuserObject object, unsigned int count),
	     release(object, count));
DRIVER_PLAIN(cuGraphRetainUserObject, (CUgraph graph, CUuserObject object, unsigned int count,
				       unsigned int flags),
	     give(graph__get(graph), object, count, flags));
DRIVER_PLAIN(cuGraphReleaseUserObject, (CUgraph graph, CUuserObject object, unsigned int count),
	     graph__get(graph) ? release(object, count) : (int)CUDA_ERROR_INVALID_VALUE);
DRIVER_PLAIN(cuGraphDebugDotPrint, (CUgraph graph, const char *path, unsigned int flags),
	     ((void)flags, draw(graph__get(graph), path)));
