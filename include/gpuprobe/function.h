/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a BPF program knows of one function of the CUDA API: one row of api/.
 *
 * A probe site carries the row's number as its cookie. The row says what the
 * call does (operation), to what (kind) and where each argument that matters
 * is found at function entry (place, indexed by role), so that one program
 * serves every function of a family.
 */
#ifndef GPUPROBE_FUNCTION_H
#define GPUPROBE_FUNCTION_H

#include <linux/types.h>

/* Upper bound of rows; the generator checks that the table fits. */
#define MAX_FUNCTIONS 1536

enum layer {
	LAYER_RUNTIME = 0, /* cuda*, libcudart */
	LAYER_DRIVER = 1,  /* cu*, libcuda */
	LAYER_COUNT,
};

/* What a call does. Calls of one operation nested in one another are one act. */
enum operation {
	OP_NONE = 0, /* nothing watched yet */
	OP_ALLOC,    /* memory comes to be */
	OP_FREE,     /* memory ceases to be */
	OP_COPY,     /* bytes are moved */
	OP_SET,	     /* bytes are filled */
	OP_LAUNCH,   /* a kernel is put on a stream */
	OP_GRAPH_LAUNCH,
	OP_WAIT,	  /* the thread blocks until earlier work is done */
	OP_QUERY,	  /* asks whether earlier work is done; success proves it */
	OP_EVENT_RECORD,  /* marks a point in a stream */
	OP_CREATE,	  /* an object comes to be (ROLE_OUT), see enum object_kind */
	OP_DESTROY,	  /* an object ceases to be (ROLE_HANDLE): its handle may come back */
	OP_CONTEXT,	  /* changes the thread's current context, see enum context_change */
	OP_DEVICE,	  /* tells of a device, see enum device_fact */
	OP_GET_KERNEL,	  /* hands out a kernel handle for a name */
	OP_VIRTUAL,	  /* address ranges and physical memory, see enum virtual_change */
	OP_POOL,	  /* changes a memory pool, see enum pool_change */
	OP_CAPTURE,	  /* a stream's work goes into a graph, see enum capture_change */
	OP_GRAPH,	  /* a graph is built, see enum graph_change */
	OP_HOST_FUNCTION, /* a function of the program's own is put on a stream */
	OP_LAUNCH_LIST,	  /* ROLE_ELEMENTS launches, in the list ROLE_PARAMS */
	OP_ASK,		  /* changes nothing that is watched, see enum ask_kind; probed only where that is asked for */
	OP_COUNT,
};

enum memory_kind {
	MEMORY_DEVICE = 0,
	MEMORY_MANAGED,
	MEMORY_POOL,
	MEMORY_HOST,	   /* pinned */
	MEMORY_REGISTERED, /* host memory of the program's own, pinned for a while */
	MEMORY_ARRAY,	   /* arrays and mipmapped arrays, by their handle */
	MEMORY_PHYSICAL,   /* of virtual memory management, by its handle */
	MEMORY_IMPORTED,   /* another process's, opened here: no new memory */
	MEMORY_RESERVED,   /* an address range: no memory */
	MEMORY_MAPPED,	   /* the part of address ranges that has memory behind it */
	MEMORY_UNKNOWN,
	MEMORY_KINDS,
};

/* What has a life of its own beside memory; most die with their context. */
enum object_kind {
	OBJECT_STREAM = 0,
	OBJECT_EVENT,
	OBJECT_CONTEXT,
	OBJECT_MODULE,
	OBJECT_LIBRARY,
	OBJECT_GRAPH,
	OBJECT_GRAPH_EXEC,
	OBJECT_POOL,
	OBJECT_KINDS,
};

/* The first five are cudaMemcpyKind; do not reorder. */
enum copy_kind {
	COPY_H2H = 0,
	COPY_H2D,
	COPY_D2H,
	COPY_D2D,
	COPY_DEFAULT, /* the direction follows from the addresses */
	COPY_P2P,
	COPY_SET, /* a memset */
	COPY_KINDS,
	COPY_BY_PARAMS = 0xfe,	 /* it follows from the parameter structure */
	COPY_BY_ARGUMENT = 0xff, /* the kind is an argument (ROLE_KIND) */
};

/* What ROLE_PARAMS of a copy or an allocation points to, by the names of the API. */
enum copy_params {
	PARAMS_NONE = 0,
	PARAMS_MEMCPY2D,       /* CUDA_MEMCPY2D */
	PARAMS_MEMCPY3D,       /* CUDA_MEMCPY3D */
	PARAMS_MEMCPY3D_PEER,  /* CUDA_MEMCPY3D_PEER */
	PARAMS_MEMCPY2D_V1,    /* CUDA_MEMCPY2D_v1: numbers of 32 bits */
	PARAMS_MEMCPY3D_V1,    /* CUDA_MEMCPY3D_v1 */
	PARAMS_3D,	       /* cudaMemcpy3DParms */
	PARAMS_3D_PEER,	       /* cudaMemcpy3DPeerParms */
	PARAMS_SIZES,	       /* ROLE_ELEMENTS sizes, size_t */
	PARAMS_3D_BATCH,       /* ROLE_ELEMENTS operations, cudaMemcpy3DBatchOp */
	PARAMS_EXTENT,	       /* none: a cudaExtent by value, ROLE_EXTENT */
	PARAMS_ARRAY,	       /* CUDA_ARRAY_DESCRIPTOR */
	PARAMS_ARRAY_V1,       /* the same with numbers of 32 bits */
	PARAMS_ARRAY3D,	       /* CUDA_ARRAY3D_DESCRIPTOR */
	PARAMS_ARRAY3D_V1,     /* the same with numbers of 32 bits */
	PARAMS_CHANNELS,       /* cudaChannelFormatDesc; the shape is in ROLE_EXTENT, or WIDTH and HEIGHT */
	PARAMS_PITCHED,	       /* none: ROLE_OUT is a cudaPitchedPtr, of ROLE_EXTENT */
	PARAMS_BUFFER,	       /* CUDA_EXTERNAL_MEMORY_BUFFER_DESC */
	PARAMS_EXTERNAL_ARRAY, /* none: an imported mipmapped array, of a size not told */
	PARAMS_PHYSICAL,       /* CUmemAllocationProp */
};

/* What an OP_CONTEXT call does to the calling thread's current context. */
enum context_change {
	CONTEXT_SET = 0, /* ROLE_CTX is the new current context */
	CONTEXT_PUSH,
	CONTEXT_POP,
	CONTEXT_CREATE,	 /* *ROLE_CTX is made and pushed */
	CONTEXT_DESTROY, /* ROLE_CTX goes, with all that lives in it */
	CONTEXT_RESET,	 /* the primary context of ROLE_DEVICE goes with all that lives in it */
	CONTEXT_RETAIN,	 /* *ROLE_CTX is the primary context of ROLE_DEVICE, with one more reference */
	CONTEXT_RELEASE, /* one reference to the primary context of ROLE_DEVICE goes, and it with the last */
	CONTEXT_GREEN,	 /* *ROLE_OUT is a green context made on ROLE_DEVICE, current nowhere */
	CONTEXT_DERIVE,	 /* *ROLE_OUT is the context of the green context ROLE_CTX */
	CONTEXT_ATTACH,	 /* *ROLE_CTX is the current context, with one more reference */
	CONTEXT_DETACH,	 /* one reference to ROLE_CTX goes, and it with the last, as by CONTEXT_DESTROY */
};

/* What an OP_DEVICE call tells. */
enum device_fact {
	DEVICE_UUID = 0, /* *ROLE_OUT are the 16 bytes of ROLE_DEVICE's UUID */
	DEVICE_CURRENT,	 /* ROLE_DEVICE is the calling thread's device from now on */
};

/* What an OP_VIRTUAL call does. */
enum virtual_change {
	VIRTUAL_MAP = 0,   /* ROLE_SIZE bytes of ROLE_HANDLE's memory are behind ROLE_PTR */
	VIRTUAL_UNMAP,	   /* nothing is behind the ROLE_SIZE bytes at ROLE_PTR any more */
	VIRTUAL_RETAIN,	   /* *ROLE_OUT is a handle, with one more reference, of the memory at ROLE_PTR */
	VIRTUAL_IMPORT,	   /* *ROLE_OUT is a handle of another process's memory */
	VIRTUAL_MULTICAST, /* *ROLE_OUT is a handle without memory of its own */
};

/* What an OP_POOL call does to ROLE_POOL. The device may be a CUmemLocation, ROLE_PARAMS. */
enum pool_change {
	POOL_TRIM = 0, /* down to ROLE_SIZE bytes, or what is in use */
	POOL_SET,      /* the attribute ROLE_KIND becomes *ROLE_PARAMS */
	POOL_GET,      /* *ROLE_OUT is the attribute ROLE_KIND */
	POOL_CURRENT,  /* it is now what ROLE_DEVICE allocates from */
	POOL_TOLD,     /* *ROLE_OUT is the pool that ROLE_DEVICE allocates from */
	POOL_DEFAULT,  /* *ROLE_OUT is the pool that ROLE_DEVICE allocates from at first */
};

/* What an OP_CAPTURE call does to ROLE_STREAM. */
enum capture_change {
	CAPTURE_BEGIN = 0,
	CAPTURE_BEGIN_TO, /* into the graph ROLE_GRAPH */
	CAPTURE_END,	  /* *ROLE_OUT is the graph, if the capture was valid */
	/* *ROLE_OUT tells whether it captures, *ROLE_HANDLE the capture's number, *ROLE_GRAPH its graph */
	CAPTURE_TOLD,
	CAPTURE_JOIN,	/* it waits for ROLE_EVENT: a captured one takes it into its capture */
	CAPTURE_END_TO, /* of no row: the end of a capture into a graph that was there before */
	CAPTURE_CHANGES,
};

/* What an OP_GRAPH call does. Where a node is added, *ROLE_OUT is the node. */
enum graph_change {
	GRAPH_ADD_KERNEL = 0, /* a kernel node for ROLE_GRAPH */
	GRAPH_ADD_CHILD,      /* a node for ROLE_GRAPH that holds the graph ROLE_CHILD */
	GRAPH_ADD_NODE,	      /* a node of the kind in ROLE_PARAMS for ROLE_GRAPH */
	GRAPH_CLONE,	      /* *ROLE_OUT is a copy of ROLE_GRAPH */
	GRAPH_INSTANTIATE,    /* *ROLE_OUT is an executable graph of ROLE_GRAPH */
	GRAPH_UPDATE,	      /* ROLE_GRAPHEXEC is as ROLE_GRAPH now */
	GRAPH_REMOVE_NODE,    /* ROLE_HANDLE leaves its graph */
	GRAPH_ENABLE_NODE,    /* ROLE_HANDLE runs in ROLE_GRAPHEXEC or not, by ROLE_FLAGS */
	GRAPH_CREATE,	      /* *ROLE_OUT is an empty graph */
	GRAPH_DESTROY,	      /* ROLE_GRAPH goes, with its nodes */
	GRAPH_DESTROY_EXEC,   /* ROLE_GRAPHEXEC goes */
	GRAPH_ADD_OTHER,      /* a node for ROLE_GRAPH that runs no kernel */
	GRAPH_EMBEDDED,	      /* *ROLE_OUT is the graph within the child graph node ROLE_HANDLE */
	GRAPH_CHANGES,
};

/* What an OP_ASK call asks for. */
enum ask_kind {
	ASK_ERROR = 0, /* whether an earlier call failed, or what a result means: its entry alone is seen */
	ASK_GETTER,
	ASK_COUNT, /* a getter that fails where CUDA cannot be used: how many devices there are */
	ASK_START, /* what a program begins with, and maybe ends with where CUDA cannot be used */
};

/* The kinds of OP_GRAPH_LAUNCH, in tallies: whether the number of its kernels is known. */
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

/* The meaning of an argument. `api/` spells them in lower case without ROLE_. */
enum role {
	ROLE_OUT = 0,  /* pointer to where the result (address, handle) is written */
	ROLE_SIZE,     /* bytes, or elements of `unit` bytes */
	ROLE_WIDTH,    /* bytes of a row, or elements of `unit` bytes */
	ROLE_HEIGHT,   /* rows */
	ROLE_PITCHOUT, /* pointer to where the pitch in bytes is written */
	ROLE_PTR,      /* address that is freed, set, … */
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
	ROLE_ELEMENTS, /* how many there are in that array */
	ROLE_EXTENT,   /* cudaExtent by value: width, height, depth in three stack slots */
	ROLE_OFFSET,   /* into physical memory, in bytes */
	ROLE_COUNT,
};

/*
 * Where an argument is at function entry on x86-64: 0 to 5 are rdi, rsi, rdx,
 * rcx, r8, r9; 6 + n is the n-th eight-byte stack slot above the return
 * address (6 is rsp + 8). PLACE_32 marks an argument of 32 bits, whose upper
 * half is garbage.
 */
#define PLACE_STACK 6
#define PLACE_32 0x40
#define PLACE_MASK 0x3f
#define PLACE_NONE 0xff

#define FUNCTION_ASYNC 0x01	 /* returns before the work is done */
#define FUNCTION_PER_THREAD 0x02 /* _ptds/_ptsz: stream 0 is the thread's own */
#define FUNCTION_OUT_32 0x04	 /* what ROLE_OUT and ROLE_PITCHOUT point to has 32 bits */

struct function_desc {
	__u8 layer;		/* enum layer */
	__u8 operation;		/* enum operation */
	__u8 kind;		/* enum memory_kind, copy_kind, context_change or wait_scope, by operation */
	__u8 flags;		/* FUNCTION_* */
	__u8 unit;		/* bytes an element of ROLE_SIZE or ROLE_WIDTH has; 1 where they are bytes */
	__u8 params;		/* enum copy_params */
	__u8 place[ROLE_COUNT]; /* PLACE_*, by enum role */
};

#endif
