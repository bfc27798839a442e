/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What BPF programs know about one function of the CUDA API: one row of api/.
 *
 * A probe site's cookie is the row's number. The row says what the call does (operation), what it
 * acts on (kind), and where each relevant argument is at function entry (location, by role), so
 * one program serves all functions of a family.
 */
#ifndef GPUPROBE_FUNCTION_H
#define GPUPROBE_FUNCTION_H

#include <linux/types.h>

/* Upper bound of rows; the generator checks that the table fits. */
#define MAX_FUNCTIONS 1536

enum layer {
	LAYER_RUNTIME = 0, /* cuda*, libcudart */
	LAYER_DRIVER = 1,  /* cu*, libcuda */
	LAYER_LIBRARY = 2, /* of libraries above CUDA, such as cuBLAS and NCCL: not CUDA's calls */
	LAYER_COUNT,
};

/* What a call does. Nested calls of the same operation count as one act. */
enum operation {
	OP_NONE = 0, /* not watched yet */
	OP_ALLOC,    /* allocates memory */
	OP_FREE,     /* frees memory */
	OP_COPY,     /* copies bytes */
	OP_SET,	     /* fills bytes */
	OP_LAUNCH,   /* puts a kernel on a stream */
	OP_GRAPH_LAUNCH,
	OP_WAIT,	  /* the thread blocks until earlier work is done */
	OP_QUERY,	  /* asks whether earlier work is done; success proves that it is */
	OP_EVENT_RECORD,  /* marks a point in a stream */
	OP_CREATE,	  /* creates an object (ROLE_OUT), see enum object_kind */
	OP_DESTROY,	  /* destroys an object (ROLE_HANDLE), whose handle may be reused */
	OP_CONTEXT,	  /* changes the thread's current context, see enum context_change */
	OP_DEVICE,	  /* reveals something about a device, see enum device_fact */
	OP_GET_KERNEL,	  /* returns a kernel handle for a name */
	OP_VIRTUAL,	  /* address ranges and physical memory, see enum virtual_change */
	OP_POOL,	  /* changes a memory pool, see enum pool_change */
	OP_CAPTURE,	  /* captures a stream's work into a graph, see enum capture_change */
	OP_GRAPH,	  /* builds a graph, see enum graph_change */
	OP_HOST_FUNCTION, /* puts a host function on a stream */
	OP_LAUNCH_LIST,	  /* makes ROLE_ELEMENTS launches, listed in ROLE_PARAMS */
	OP_ASK,		  /* only reads state, see enum ask_kind; probed on request only */
	OP_COUNT,
};

enum memory_kind {
	MEMORY_DEVICE = 0,
	MEMORY_MANAGED,
	MEMORY_POOL,
	MEMORY_HOST,	   /* pinned */
	MEMORY_REGISTERED, /* the program's own host memory, pinned temporarily */
	MEMORY_ARRAY,	   /* arrays and mipmapped arrays, by handle */
	MEMORY_PHYSICAL,   /* of virtual memory management, by handle */
	MEMORY_IMPORTED,   /* another process's memory, opened here: not new memory */
	MEMORY_RESERVED,   /* an address range without memory */
	MEMORY_MAPPED,	   /* the part of address ranges that is backed by memory */
	MEMORY_UNKNOWN,
	MEMORY_KINDS,
};

/*
 * Objects other than memory; most end with their context. Handles of libraries come last, by the
 * library that makes them. Recordings have these numbers: new ones go to the end.
 */
enum object_kind {
	OBJECT_STREAM = 0,
	OBJECT_EVENT,
	OBJECT_CONTEXT,
	OBJECT_MODULE,
	OBJECT_LIBRARY,
	OBJECT_GRAPH,
	OBJECT_GRAPH_EXEC,
	OBJECT_POOL,
	OBJECT_CUBLAS,
	OBJECT_CUBLASLT,
	OBJECT_CUDNN,
	OBJECT_CUSPARSE,
	OBJECT_CUSOLVER,
	OBJECT_CUFFT,
	OBJECT_CURAND,
	OBJECT_NCCL,
	OBJECT_KINDS,
};

/* The first five are cudaMemcpyKind; do not reorder. */
enum copy_kind {
	COPY_H2H = 0,
	COPY_H2D,
	COPY_D2H,
	COPY_D2D,
	COPY_DEFAULT, /* the addresses determine the direction */
	COPY_P2P,
	COPY_SET, /* a memset */
	COPY_KINDS,
	COPY_BY_PARAMS = 0xfe,	 /* the parameter structure determines the kind */
	COPY_BY_ARGUMENT = 0xff, /* the kind is an argument (ROLE_KIND) */
};

/* The structure that ROLE_PARAMS of a copy or allocation points to, by its name in the API. */
enum copy_params {
	PARAMS_NONE = 0,
	PARAMS_MEMCPY2D,      /* CUDA_MEMCPY2D */
	PARAMS_MEMCPY3D,      /* CUDA_MEMCPY3D */
	PARAMS_MEMCPY3D_PEER, /* CUDA_MEMCPY3D_PEER */
	PARAMS_MEMCPY2D_V1,   /* CUDA_MEMCPY2D_v1: 32-bit numbers */
	PARAMS_MEMCPY3D_V1,   /* CUDA_MEMCPY3D_v1 */
	PARAMS_3D,	      /* cudaMemcpy3DParms */
	PARAMS_3D_PEER,	      /* cudaMemcpy3DPeerParms */
	PARAMS_SIZES,	      /* ROLE_ELEMENTS sizes, size_t */
	PARAMS_3D_BATCH,      /* ROLE_ELEMENTS operations, cudaMemcpy3DBatchOp */
	PARAMS_EXTENT,	      /* none: a cudaExtent by value, ROLE_EXTENT */
	PARAMS_ARRAY,	      /* CUDA_ARRAY_DESCRIPTOR */
	PARAMS_ARRAY_V1,      /* the same with 32-bit numbers */
	PARAMS_ARRAY3D,	      /* CUDA_ARRAY3D_DESCRIPTOR */
	PARAMS_ARRAY3D_V1,    /* the same with 32-bit numbers */
	/* cudaChannelFormatDesc; the shape is in ROLE_EXTENT, or WIDTH and HEIGHT */
	PARAMS_CHANNELS,
	PARAMS_PITCHED,	       /* none: ROLE_OUT is a cudaPitchedPtr, of ROLE_EXTENT */
	PARAMS_BUFFER,	       /* CUDA_EXTERNAL_MEMORY_BUFFER_DESC */
	PARAMS_EXTERNAL_ARRAY, /* none: an imported mipmapped array of unknown size */
	PARAMS_PHYSICAL,       /* CUmemAllocationProp */
};

/* What an OP_CONTEXT call does to the calling thread's current context. */
enum context_change {
	CONTEXT_SET = 0, /* ROLE_CTX is the new current context */
	CONTEXT_PUSH,
	CONTEXT_POP,
	CONTEXT_CREATE,	 /* *ROLE_CTX is created and pushed */
	CONTEXT_DESTROY, /* ROLE_CTX ends, with everything in it */
	CONTEXT_RESET,	 /* the primary context of ROLE_DEVICE ends, with everything in it */
	/* *ROLE_CTX is the primary context of ROLE_DEVICE, with one more reference */
	CONTEXT_RETAIN,
	/* drops a reference to the primary context of ROLE_DEVICE; the last one ends it */
	CONTEXT_RELEASE,
	/* *ROLE_OUT is a new green context on ROLE_DEVICE; the current context is unchanged */
	CONTEXT_GREEN,
	CONTEXT_DERIVE, /* *ROLE_OUT is the context of the green context ROLE_CTX */
	CONTEXT_ATTACH, /* *ROLE_CTX is the current context, with one more reference */
	/* drops a reference to ROLE_CTX; the last one ends it, as CONTEXT_DESTROY does */
	CONTEXT_DETACH,
};

/* What an OP_DEVICE call reveals. */
enum device_fact {
	DEVICE_UUID = 0, /* *ROLE_OUT is the 16-byte UUID of ROLE_DEVICE */
	DEVICE_CURRENT,	 /* ROLE_DEVICE becomes the calling thread's device */
};

/* What an OP_VIRTUAL call does. */
enum virtual_change {
	VIRTUAL_MAP = 0, /* maps ROLE_SIZE bytes of ROLE_HANDLE's memory at ROLE_PTR */
	VIRTUAL_UNMAP,	 /* unmaps ROLE_SIZE bytes at ROLE_PTR */
	/* *ROLE_OUT is a handle, with one more reference, of the memory at ROLE_PTR */
	VIRTUAL_RETAIN,
	VIRTUAL_IMPORT,	   /* *ROLE_OUT is a handle of another process's memory */
	VIRTUAL_MULTICAST, /* *ROLE_OUT is a handle without memory of its own */
};

/*
 * What an OP_POOL call does to ROLE_POOL. A CUmemLocation in ROLE_PARAMS may stand for the device.
 */
enum pool_change {
	POOL_TRIM = 0, /* trims to ROLE_SIZE bytes, or to what is in use */
	POOL_SET,      /* sets the attribute ROLE_KIND to *ROLE_PARAMS */
	POOL_GET,      /* reads the attribute ROLE_KIND into *ROLE_OUT */
	POOL_CURRENT,  /* ROLE_DEVICE allocates from this pool from now on */
	POOL_TOLD,     /* *ROLE_OUT is the pool that ROLE_DEVICE currently allocates from */
	POOL_DEFAULT,  /* *ROLE_OUT is ROLE_DEVICE's default pool */
};

/* What an OP_CAPTURE call does to ROLE_STREAM. */
enum capture_change {
	CAPTURE_BEGIN = 0,
	CAPTURE_BEGIN_TO, /* into the graph ROLE_GRAPH */
	CAPTURE_END,	  /* *ROLE_OUT is the graph, if the capture is valid */
	/*
	 * *ROLE_OUT says whether the stream is capturing, *ROLE_HANDLE is the capture's number,
	 * *ROLE_GRAPH its graph
	 */
	CAPTURE_TOLD,
	/* waits for ROLE_EVENT; if that is captured, the stream joins its capture */
	CAPTURE_JOIN,
	CAPTURE_END_TO, /* not in any row: the end of a capture into an existing graph */
	CAPTURE_CHANGES,
};

/* What an OP_GRAPH call does. If it adds a node, *ROLE_OUT is the node. */
enum graph_change {
	GRAPH_ADD_KERNEL = 0, /* adds a kernel node to ROLE_GRAPH */
	GRAPH_ADD_CHILD,      /* adds a node to ROLE_GRAPH that contains the graph ROLE_CHILD */
	GRAPH_ADD_NODE,	      /* adds a node to ROLE_GRAPH, of the kind in ROLE_PARAMS */
	GRAPH_CLONE,	      /* *ROLE_OUT is a copy of ROLE_GRAPH */
	GRAPH_INSTANTIATE,    /* *ROLE_OUT is an executable graph of ROLE_GRAPH */
	GRAPH_UPDATE,	      /* makes ROLE_GRAPHEXEC match ROLE_GRAPH */
	GRAPH_REMOVE_NODE,    /* removes ROLE_HANDLE from its graph */
	GRAPH_ENABLE_NODE,    /* enables or disables ROLE_HANDLE in ROLE_GRAPHEXEC, by ROLE_FLAGS */
	GRAPH_CREATE,	      /* *ROLE_OUT is an empty graph */
	GRAPH_DESTROY,	      /* destroys ROLE_GRAPH and its nodes */
	GRAPH_DESTROY_EXEC,   /* destroys ROLE_GRAPHEXEC */
	GRAPH_ADD_OTHER,      /* adds a node to ROLE_GRAPH that runs no kernel */
	GRAPH_EMBEDDED,	      /* *ROLE_OUT is the graph inside the child graph node ROLE_HANDLE */
	GRAPH_CHANGES,
};

/* What an OP_ASK call queries. */
enum ask_kind {
	/* whether an earlier call failed, or what an error code means: only its entry is probed */
	ASK_ERROR = 0,
	ASK_GETTER,
	ASK_COUNT, /* a getter that fails if CUDA is unusable: the number of devices */
	ASK_START, /* a program's first CUDA call, and maybe its last if CUDA is unusable */
};

/* Kinds of OP_GRAPH_LAUNCH in tallies: whether the graph's number of kernels is known. */
enum graph_size {
	GRAPH_SIZE_KNOWN = 0,
	GRAPH_SIZE_UNKNOWN,
};

/* What an OP_WAIT or OP_QUERY covers. */
enum wait_scope {
	WAIT_STREAM = 0,
	WAIT_EVENT,
	WAIT_CONTEXT, /* the current context, or ROLE_CTX */
	WAIT_SCOPES,
};

/* The meaning of an argument. `api/` spells the roles in lower case without ROLE_. */
enum role {
	ROLE_OUT = 0,  /* pointer to the result (address or handle) */
	ROLE_SIZE,     /* bytes, or elements of `unit` bytes */
	ROLE_WIDTH,    /* bytes of a row, or elements of `unit` bytes */
	ROLE_HEIGHT,   /* rows */
	ROLE_PITCHOUT, /* pointer to the resulting pitch in bytes */
	ROLE_PTR,      /* the address that is freed, set, … */
	ROLE_DST,
	ROLE_SRC,
	ROLE_KIND, /* cudaMemcpyKind */
	ROLE_STREAM,
	ROLE_EVENT,
	ROLE_CTX,
	ROLE_DEVICE,
	ROLE_FUNC,   /* kernel handle or host stub */
	ROLE_CONFIG, /* pointer to a launch configuration */
	ROLE_GRIDX,
	ROLE_GRIDY,
	ROLE_GRIDZ,
	ROLE_BLOCKX,
	ROLE_BLOCKY,
	ROLE_BLOCKZ,
	ROLE_SHMEM,
	ROLE_ARGS,
	ROLE_GRAPHEXEC,
	ROLE_MODULE, /* module or library */
	ROLE_NAME,   /* pointer to a NUL-terminated name */
	ROLE_POOL,
	ROLE_GRAPH,
	ROLE_CHILD, /* a graph within a graph */
	ROLE_FLAGS,
	ROLE_HANDLE,   /* memory handle (virtual memory management, IPC) */
	ROLE_PARAMS,   /* pointer to a parameter structure, or to an array of them */
	ROLE_ELEMENTS, /* number of elements in that array */
	ROLE_EXTENT,   /* cudaExtent by value: width, height, depth in three stack slots */
	ROLE_OFFSET,   /* offset into physical memory, in bytes */
	ROLE_COUNT,
};

/*
 * Where an argument is at function entry on x86-64: 0 to 5 are rdi, rsi, rdx, rcx, r8, r9; 6 + n is
 * the n-th eight-byte stack slot above the return address (6 is rsp + 8). LOCATION_32: a 32-bit
 * argument, whose upper half is garbage.
 */
#define LOCATION_STACK 6
#define LOCATION_32 0x40
#define LOCATION_MASK 0x3f
#define LOCATION_NONE 0xff

#define FUNCTION_ASYNC 0x01	 /* returns before the work is done */
#define FUNCTION_PER_THREAD 0x02 /* _ptds/_ptsz: stream 0 is the thread's own */
#define FUNCTION_OUT_32 0x04	 /* ROLE_OUT and ROLE_PITCHOUT point to 32-bit values */

struct function_desc {
	__u8 layer;	/* enum layer */
	__u8 operation; /* enum operation */
	/* enum memory_kind, copy_kind, context_change or wait_scope, depending on the operation */
	__u8 kind;
	__u8 flags; /* FUNCTION_* */
	/* bytes per element of ROLE_SIZE or ROLE_WIDTH; 1 if they are bytes */
	__u8 unit;
	__u8 params;		   /* enum copy_params */
	__u8 location[ROLE_COUNT]; /* LOCATION_*, by enum role */
};

#endif
