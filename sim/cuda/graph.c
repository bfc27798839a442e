// SPDX-License-Identifier: BSD-2-Clause
/*
 * Graphs as lists of nodes: creates, copies and destroys them, and keeps their dependencies. node.c
 * has what the nodes do.
 */
#include "cuda/graph.h"
#include "cuda/memory.h"

#include <stdlib.h>

#define MAX_GRAPHS (1u << 16)
#define MAX_NODES (1u << 20)

static struct pool *graphs, *nodes;

bool graph__start(void)
{
	graphs = pool__new(sizeof(struct CUgraph_st), MAX_GRAPHS);
	nodes = pool__new(sizeof(struct CUgraphNode_st), MAX_NODES);
	return graphs && nodes;
}

struct CUgraph_st *graph__get(CUgraph graph)
{
	return pool__holds(graphs, graph) ? graph : NULL;
}

struct CUgraphNode_st *node__get(CUgraphNode node)
{
	return pool__holds(nodes, node) ? node : NULL;
}

struct CUgraphNode_st *node__get_typed(CUgraphNode node, CUgraphNodeType type)
{
	return pool__holds(nodes, node) && node->type == type ? node : NULL;
}

struct CUgraph_st *graph__new(void)
{
	struct CUgraph_st *graph = pool__take(graphs);

	if (graph)
		graph->id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED);
	return graph;
}

/* driver.lock is held. */
static struct CUgraphNode_st *append(struct CUgraph_st *graph, CUgraphNodeType type)
{
	struct CUgraphNode_st *node = pool__take(nodes);

	if (!node)
		return NULL;
	node->type = type;
	node->id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED);
	node->kernels = type == CU_GRAPH_NODE_TYPE_KERNEL;
	node->graph = graph;
	node->previous = graph->last;
	if (graph->last)
		graph->last->next = node;
	else
		graph->first = node;
	graph->last = node;
	graph->nr_nodes++;
	return node;
}

struct CUgraphNode_st *graph__add(struct CUgraph_st *graph, CUgraphNodeType type)
{
	struct CUgraphNode_st *node;

	pthread_mutex_lock(&driver.lock);
	node = append(graph, type);
	pthread_mutex_unlock(&driver.lock);
	return node;
}

static void free_node(struct CUgraphNode_st *node)
{
	if (node->type == CU_GRAPH_NODE_TYPE_GRAPH)
		graph__free(node->child);
	if (node->owns_memory && !node->graph->instantiated)
		memory__free(node->allocation.dptr, KIND(MEMORY_GRAPH), NULL);
	free(node->from);
	pool__give(nodes, node);
}

void graph__free(struct CUgraph_st *graph)
{
	struct CUgraphNode_st *next;

	if (!graph)
		return;
	for (struct CUgraphNode_st *node = graph->first; node; node = next) {
		next = node->next;
		free_node(node);
	}
	pool__give(graphs, graph);
}

/* --- who depends on whom; the lock is held --- */

static bool depends(const struct CUgraphNode_st *node, const struct CUgraphNode_st *on)
{
	for (size_t i = 0; i < node->nr_from; i++)
		if (node->from[i] == on)
			return true;
	return false;
}

static int add_edge(struct CUgraphNode_st *from, struct CUgraphNode_st *to)
{
	struct CUgraphNode_st **grown;

	if (!node__get(from) || !node__get(to) || from->graph != to->graph || from == to)
		return CUDA_ERROR_INVALID_VALUE;
	if (depends(to, from))
		return CUDA_ERROR_INVALID_VALUE;
	grown = realloc(to->from, (to->nr_from + 1) * sizeof(*grown));
	if (!grown)
		return CUDA_ERROR_OUT_OF_MEMORY;
	grown[to->nr_from++] = from;
	to->from = grown;
	return CUDA_SUCCESS;
}

static int remove_edge(const struct CUgraphNode_st *from, struct CUgraphNode_st *to)
{
	if (!node__get(to) || !depends(to, from))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < to->nr_from; i++)
		if (to->from[i] == from)
			to->from[i] = to->from[--to->nr_from];
	return CUDA_SUCCESS;
}

static int change_edges(struct CUgraph_st *graph, const CUgraphNode *from, const CUgraphNode *to,
			size_t count, bool add)
{
	int result = CUDA_SUCCESS;

	if (!graph || (count && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	for (size_t i = 0; !result && i < count; i++)
		result = add ? add_edge(from[i], to[i]) : remove_edge(from[i], to[i]);
	pthread_mutex_unlock(&driver.lock);
	return result;
}

int graph__add_after(CUgraphNode *out, struct CUgraph_st *graph, CUgraphNodeType type,
		     const CUgraphNode *from, size_t count)
{
	struct CUgraphNode_st *node;

	if (!out || !graph || (count && !from))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++)
		if (!node__get(from[i]) || from[i]->graph != graph)
			return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	node = append(graph, type);
	for (size_t i = 0; node && i < count; i++)
		add_edge(from[i], node);
	pthread_mutex_unlock(&driver.lock);
	*out = node;
	return node ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/*
 * Lists as the API returns them: without an array only the number; otherwise as many as fit, and
 * how many these were.
 */
struct list {
	CUgraphNode *out, *second;
	size_t room, count;
};

static void put(struct list *list, CUgraphNode node, CUgraphNode second)
{
	if (list->out && list->count >= list->room)
		return;
	if (list->out)
		list->out[list->count] = node;
	if (list->second)
		list->second[list->count] = second;
	list->count++;
}

enum which { ALL_NODES, ROOT_NODES, EDGES };

static int list_graph(const struct CUgraph_st *graph, CUgraphNode *out, CUgraphNode *second,
		      size_t *count, enum which which)
{
	struct list list = { .out = out, .second = second };

	if (!graph || !count)
		return CUDA_ERROR_INVALID_VALUE;
	list.room = *count;
	pthread_mutex_lock(&driver.lock);
	for (struct CUgraphNode_st *node = graph->first; node; node = node->next) {
		if (which == ALL_NODES || (which == ROOT_NODES && !node->nr_from))
			put(&list, node, NULL);
		for (size_t i = 0; which == EDGES && i < node->nr_from; i++)
			put(&list, node->from[i], node);
	}
	pthread_mutex_unlock(&driver.lock);
	*count = list.count;
	return CUDA_SUCCESS;
}

/* Lists the dependencies of the node, or its dependents. */
static int list_node(struct CUgraphNode_st *node, CUgraphNode *out, size_t *count, bool dependent)
{
	struct list list = { .out = out };

	if (!node__get(node) || !count)
		return CUDA_ERROR_INVALID_VALUE;
	list.room = *count;
	pthread_mutex_lock(&driver.lock);
	for (size_t i = 0; !dependent && i < node->nr_from; i++)
		put(&list, node->from[i], NULL);
	for (struct CUgraphNode_st *other = node->graph->first; dependent && other;
	     other = other->next)
		if (depends(other, node))
			put(&list, other, NULL);
	pthread_mutex_unlock(&driver.lock);
	*count = list.count;
	return CUDA_SUCCESS;
}

static struct CUgraphNode_st *clone_node(struct CUgraph_st *copy, struct CUgraphNode_st *node)
{
	struct CUgraphNode_st *twin = append(copy, node->type);

	if (!twin)
		return NULL;
	twin->copy = node->copy;	/* the largest member of the union, so this copies all */
	twin->kernels = node->kernels;
	twin->bytes = node->bytes;
	twin->device_ns = node->device_ns;
	twin->original = node;
	node->twin = twin;
	if (node->type == CU_GRAPH_NODE_TYPE_GRAPH && node->child)
		twin->child = graph__clone(node->child);
	for (size_t i = 0; i < node->nr_from; i++)
		add_edge(node->from[i]->twin, twin);
	return twin;
}

_Static_assert(sizeof(CUDA_MEMCPY3D) >= sizeof(CUDA_MEM_ALLOC_NODE_PARAMS), "the largest member");

/* driver.lock is held. Nodes are normally listed after their dependencies. */
struct CUgraph_st *graph__clone(const struct CUgraph_st *graph)
{
	struct CUgraph_st *copy = graph__new();

	for (struct CUgraphNode_st *node = graph->first; copy && node; node = node->next)
		if (!clone_node(copy, node))
			return NULL;
	return copy;
}

static int clone(CUgraph *out, const struct CUgraph_st *graph)
{
	if (!out || !graph || graph->capture_id)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	*out = graph__clone(graph);
	pthread_mutex_unlock(&driver.lock);
	if (!*out)
		return CUDA_ERROR_OUT_OF_MEMORY;
	driver__created(SIM_GRAPH);
	return CUDA_SUCCESS;
}

static int find_in_clone(CUgraphNode *out, const struct CUgraphNode_st *original,
			 const struct CUgraph_st *graph)
{
	if (!out || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct CUgraphNode_st *node = graph->first; node; node = node->next) {
		if (node->original == original) {
			*out = node;
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_INVALID_VALUE;
}

static int create(CUgraph *out)
{
	if (!driver.initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = graph__new();
	if (!*out)
		return CUDA_ERROR_OUT_OF_MEMORY;
	driver__created(SIM_GRAPH);
	return CUDA_SUCCESS;
}

static int destroy(struct CUgraph_st *graph)
{
	if (!graph || graph->capture_id)
		return CUDA_ERROR_INVALID_VALUE;
	graph__free(graph);
	driver__destroyed(SIM_GRAPH);
	return CUDA_SUCCESS;
}

static int destroy_node(struct CUgraphNode_st *node)
{
	struct CUgraph_st *graph;

	if (!node__get(node))
		return CUDA_ERROR_INVALID_VALUE;
	graph = node->graph;
	pthread_mutex_lock(&driver.lock);
	for (struct CUgraphNode_st *other = graph->first; other; other = other->next)
		if (depends(other, node))
			remove_edge(node, other);
	if (node->previous)
		node->previous->next = node->next;
	else
		graph->first = node->next;
	if (node->next)
		node->next->previous = node->previous;
	else
		graph->last = node->previous;
	graph->nr_nodes--;
	pthread_mutex_unlock(&driver.lock);
	free_node(node);
	return CUDA_SUCCESS;
}

#define GRAPH graph__get(graph)
#define EDGE_LISTS const CUgraphNode *from, const CUgraphNode *to
#define EDGE_DATA const CUgraphEdgeData *edges

DRIVER_PLAIN(cuGraphCreate, (CUgraph *out, unsigned int flags), ((void)flags, create(out)));
DRIVER_PLAIN(cuGraphDestroy, (CUgraph graph), destroy(GRAPH));
DRIVER_PLAIN(cuGraphDestroyNode, (CUgraphNode node), destroy_node(node));
DRIVER_PLAIN(cuGraphClone, (CUgraph *out, CUgraph graph), clone(out, GRAPH));
DRIVER_PLAIN(cuGraphNodeFindInClone, (CUgraphNode *out, CUgraphNode original, CUgraph graph),
	     find_in_clone(out, original, GRAPH));
DRIVER_PLAIN(cuGraphGetNodes, (CUgraph graph, CUgraphNode *out, size_t *count),
	     list_graph(GRAPH, out, NULL, count, ALL_NODES));
DRIVER_PLAIN(cuGraphGetRootNodes, (CUgraph graph, CUgraphNode *out, size_t *count),
	     list_graph(GRAPH, out, NULL, count, ROOT_NODES));
DRIVER_PLAIN(cuGraphGetEdges, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count),
	     list_graph(GRAPH, from, to, count, EDGES));
DRIVER_PLAIN(cuGraphGetEdges_v2, (CUgraph graph, CUgraphNode *from, CUgraphNode *to,
				  CUgraphEdgeData *edges, size_t *count),
	     ((void)edges, list_graph(GRAPH, from, to, count, EDGES)));
DRIVER_PLAIN(cuGraphAddDependencies, (CUgraph graph, EDGE_LISTS, size_t count),
	     change_edges(GRAPH, from, to, count, true));
DRIVER_PLAIN(cuGraphAddDependencies_v2, (CUgraph graph, EDGE_LISTS, EDGE_DATA, size_t count),
	     ((void)edges, change_edges(GRAPH, from, to, count, true)));
DRIVER_PLAIN(cuGraphRemoveDependencies, (CUgraph graph, EDGE_LISTS, size_t count),
	     change_edges(GRAPH, from, to, count, false));
DRIVER_PLAIN(cuGraphRemoveDependencies_v2, (CUgraph graph, EDGE_LISTS, EDGE_DATA, size_t count),
	     ((void)edges, change_edges(GRAPH, from, to, count, false)));
DRIVER_PLAIN(cuGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode *out, size_t *count),
	     list_node(node, out, count, false));
DRIVER_PLAIN(cuGraphNodeGetDependencies_v2, (CUgraphNode node, CUgraphNode *out,
					     CUgraphEdgeData *edges, size_t *count),
	     ((void)edges, list_node(node, out, count, false)));
DRIVER_PLAIN(cuGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode *out, size_t *count),
	     list_node(node, out, count, true));
DRIVER_PLAIN(cuGraphNodeGetDependentNodes_v2, (CUgraphNode node, CUgraphNode *out,
					       CUgraphEdgeData *edges, size_t *count),
	     ((void)edges, list_node(node, out, count, true)));
