// SPDX-License-Identifier: BSD-2-Clause
/* Whole graphs: creates, copies, instantiates and launches them, and keeps their data. */
#include "cudart/runtime.h"

RUNTIME_PLAIN(cudaGraphCreate, (cudaGraph_t *out, unsigned int flags),
	      (int)D.cuGraphCreate(out, flags));
RUNTIME_PLAIN(cudaGraphDestroy, (cudaGraph_t graph), (int)D.cuGraphDestroy(graph));
RUNTIME_PLAIN(cudaGraphClone, (cudaGraph_t *out, cudaGraph_t graph),
	      (int)D.cuGraphClone(out, graph));
RUNTIME_PLAIN(cudaGraphDestroyNode, (cudaGraphNode_t node), (int)D.cuGraphDestroyNode(node));
RUNTIME_PLAIN(cudaGraphNodeFindInClone, (cudaGraphNode_t *out, cudaGraphNode_t original,
					 cudaGraph_t graph),
	      (int)D.cuGraphNodeFindInClone(out, original, graph));
RUNTIME_PLAIN(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *out, size_t *count),
	      (int)D.cuGraphGetNodes(graph, out, count));
RUNTIME_PLAIN(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *out, size_t *count),
	      (int)D.cuGraphGetRootNodes(graph, out, count));
RUNTIME_PLAIN(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned int flags),
	      (int)D.cuGraphDebugDotPrint(graph, path, flags));

RUNTIME(cudaGraphInstantiate, SIM_OTHER, (cudaGraphExec_t *out, cudaGraph_t graph,
					  unsigned long long flags), 0,
	(int)D.cuGraphInstantiateWithFlags(out, graph, flags));
RUNTIME(cudaGraphInstantiateWithFlags, SIM_OTHER, (cudaGraphExec_t *out, cudaGraph_t graph,
						   unsigned long long flags), 0,
	(int)D.cuGraphInstantiateWithFlags(out, graph, flags));
RUNTIME_PTSZ(cudaGraphInstantiateWithParams, SIM_OTHER, (cudaGraphExec_t *out, cudaGraph_t graph,
							 cudaGraphInstantiateParams *params), 0,
	     (int)D_PTSZ(cuGraphInstantiateWithParams)(
		     out, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)params));
RUNTIME_PLAIN(cudaGraphExecDestroy, (cudaGraphExec_t exec), (int)D.cuGraphExecDestroy(exec));
RUNTIME_PLAIN(cudaGraphExecGetFlags, (cudaGraphExec_t exec, unsigned long long *out),
	      (int)D.cuGraphExecGetFlags(exec, (cuuint64_t *)out));
RUNTIME(cudaGraphExecUpdate, SIM_OTHER, (cudaGraphExec_t exec, cudaGraph_t graph,
					 cudaGraphExecUpdateResultInfo *info), 0,
	(int)D.cuGraphExecUpdate_v2(exec, graph, (CUgraphExecUpdateResultInfo *)info));
RUNTIME_PTSZ(cudaGraphUpload, SIM_OTHER, (cudaGraphExec_t exec, cudaStream_t stream), 0,
	     (int)D_PTSZ(cuGraphUpload)(exec, stream));
RUNTIME_PTSZ(cudaGraphLaunch, SIM_LAUNCH, (cudaGraphExec_t exec, cudaStream_t stream), 0,
	     (int)D_PTSZ(cuGraphLaunch)(exec, stream));

RUNTIME_PLAIN(cudaUserObjectCreate, (cudaUserObject_t *out, void *argument, cudaHostFn_t destroy,
				     unsigned int count, unsigned int flags),
	      (int)D.cuUserObjectCreate(out, argument, destroy, count, flags));
RUNTIME_PLAIN(cudaUserObjectRetain, (cudaUserObject_t object, unsigned int count),
	      (int)D.cuUserObjectRetain(object, count));
RUNTIME_PLAIN(cudaUserObjectRelease, (cudaUserObject_t object, unsigned int count),
	      (int)D.cuUserObjectRelease(object, count));
RUNTIME_PLAIN(cudaGraphRetainUserObject, (cudaGraph_t graph, cudaUserObject_t object,
					  unsigned int count, unsigned int flags),
	      (int)D.cuGraphRetainUserObject(graph, object, count, flags));
RUNTIME_PLAIN(cudaGraphReleaseUserObject, (cudaGraph_t graph, cudaUserObject_t object,
					   unsigned int count),
	      (int)D.cuGraphReleaseUserObject(graph, object, count));
