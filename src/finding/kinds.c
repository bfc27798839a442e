// SPDX-License-Identifier: BSD-2-Clause
// The only table of findings: name, severity, thresholds and remedy of each. It stays one file, so
// that each finding is in one place. kind_name.c finds a kind by its id.
#include "finding/rules.h"

#define EVERY_LAUNCH (1 << RATE_LAUNCH)
#define EVERY_COPY (1 << RATE_COPY)
#define EVERY_WAIT (1 << RATE_WAIT)
#define EVERY_CALL (EVERY_LAUNCH | EVERY_COPY | EVERY_WAIT)

const struct finding_kind finding_kinds[] = {
	{
		.id = "cuda-unavailable",
		.severity = SEVERITY_CRITICAL,
		.needs = 0,
		.title = "CUDA cannot be used here: no call succeeds",
		.advice = "None of the process's calls succeeded, and the first error says that "
			  "there is no usable "
			  "driver or device. The evidence names the likely cause and what to do. "
			  "nvidia-smi shows "
			  "whether the driver works, and gpuprobe check which libraries and GPUs "
			  "there are. A "
			  "program that only asked whether there is a GPU, and runs without one, "
			  "has no fault. Other "
			  "findings of such a process could only come from failed calls, so they "
			  "are left out.",
		.thresholds =
			{
				{"calls", 1, UNIT_COUNT, "minimum failed calls"},
			},
		.detect = cuda_unavailable__detect,
		.stands_alone = cuda_unavailable__holds,
	},
	{
		.id = "alloc-churn",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.steady = true,
		.title = "the same memory is allocated and freed again and again",
		.advice = "Allocate the buffer once, before the loop, at the largest size needed, "
			  "and use it in "
			  "every step; or keep freed buffers in a list by size and reuse them. "
			  "cudaMalloc and "
			  "cudaFree go to the driver each time, cudaFree waits for the device, and "
			  "cudaMallocHost "
			  "and cudaHostRegister pin pages, which takes longer for larger buffers. "
			  "If sizes vary, "
			  "cudaMallocAsync and cudaFreeAsync take memory from a pool in stream "
			  "order; set "
			  "cudaMemPoolAttrReleaseThreshold (to UINT64_MAX, say), since by default "
			  "the pool returns "
			  "its memory at each synchronisation, and then churns as well. In PyTorch "
			  "the caching "
			  "allocator does all this: look for PYTORCH_NO_CUDA_MEMORY_CACHING, for "
			  "torch.cuda.empty_cache() within the loop, and for extensions that call "
			  "cudaMalloc "
			  "themselves. None of this helps if the buffers of one step must be freed "
			  "to make room for "
			  "those of another.",
		.cost = "allocations and frees of recurring sizes",
		.thresholds =
			{
				{"share", 0.02, UNIT_SHARE, "minimum share of the watched time"},
				{"pairs", 10, UNIT_COUNT,
				 "minimum frees of one size, for each live at a time"},
			},
		.detect = alloc_churn__detect,
	},
	{
		.id = "leak-growing",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "live memory only grows",
		.advice = "Something is allocated here again and again and never freed. Look at "
			  "what holds the "
			  "memory: a list or cache that only grows, an error path that returns "
			  "before its cudaFree, "
			  "a buffer that is reallocated when it is too small without freeing the "
			  "old one. gpuprobe "
			  "memleak -p PID lists the live allocations of each call site with their "
			  "ages. In PyTorch "
			  "memory grows when tensors are kept with their graph: sum up loss.item() "
			  "or loss.detach() "
			  "rather than loss, and clear lists of outputs. "
			  "torch.cuda.memory._record_memory_history() "
			  "shows which tensors they are; the calls only show the caching "
			  "allocator's segments. A "
			  "cache with a limit looks the same until it is full.",
		.thresholds =
			{
				{"bytes", 1048576, UNIT_BYTES, "minimum growth"},
			},
		.detect = leak_growing__detect,
	},
	{
		.id = "leak-at-exit",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "memory stayed live where most was freed, or grew until the exit",
		.advice = "Memory that is live at exit costs nothing any more. But in a program "
			  "that runs longer, or "
			  "code that is called more often, it is lost each time. Look for paths "
			  "without a free: an "
			  "error path, an early return, an exception, a buffer that is replaced by "
			  "another. Tie the "
			  "free to the allocation: a C++ object whose destructor calls cudaFree, "
			  "thrust::device_vector, rmm::device_buffer. Memory that is kept on "
			  "purpose, such as "
			  "weights or the segments of PyTorch's caching allocator, is not "
			  "reported, since hardly any "
			  "of it is freed before the end. If the process was killed, gpuprobe "
			  "allows for the latest "
			  "allocations, which had no time to be freed.",
		.thresholds =
			{
				{"bytes", 1048576, UNIT_BYTES, "minimum memory live at exit"},
				{"freed", 0.5, UNIT_SHARE,
				 "minimum share of its allocations that were freed"},
			},
		.detect = leak_at_exit__detect,
	},
	{
		.id = "object-leak",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "objects other than memory are made and never destroyed",
		.advice = "Objects take device memory that no allocation shows. Make them once and "
			  "reuse them. An executable graph for each request or shape: keep it by "
			  "shape and launch it again, update it with cudaGraphExecUpdate, or call "
			  "cudaGraphExecDestroy; in PyTorch look for torch.cuda.CUDAGraph() and "
			  "torch.compile with ever new shapes. A module or library that is loaded "
			  "for each request: load it at startup, or unload it with cuModuleUnload "
			  "or cuLibraryUnload; generated kernels belong into a cache with a limit. "
			  "Events and streams: take them from a pool, or destroy them on each "
			  "path, error paths too (cudaEventDestroy, cudaStreamDestroy). Handles of "
			  "libraries, such as cublasCreate, make streams, events and memory: make "
			  "one for each thread, not for each call. The driver keeps the memory of "
			  "destroyed objects for later ones, so a peak costs until the process "
			  "ends. Bytes each are estimated from NVML's figure of the process, from "
			  "50 objects on. A cache with a limit looks the same until it is full.",
		.thresholds =
			{
				{"objects", 4096, UNIT_COUNT, "minimum live objects, or"},
				{"bytes", 67108864, UNIT_BYTES, "minimum estimated memory in them"},
			},
		.detect = object_leak__detect,
	},
	{
		.id = "launch-bound",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.steady = true,
		.host_limits = true,
		.every = EVERY_COPY | EVERY_WAIT,
		.title = "many short launches back to back: the CPU cannot feed the GPU",
		.advice =
			"A launch costs the CPU a few microseconds, whatever the kernel does. If "
			"kernels take no "
			"longer than that, the GPU is done before the next one arrives. Record the "
			"repeating "
			"sequence once as a CUDA graph and launch that (cudaStreamBeginCapture and "
			"cudaGraphLaunch; in PyTorch torch.cuda.graph or "
			"torch.compile(mode=\"reduce-overhead\")), "
			"or fuse kernels, or give each more work (a larger batch). Calls do not "
			"show how long "
			"kernels run: use a GPU profiler for that.",
		.cost = "launches back to back",
		.thresholds =
			{
				{"share", 0.5, UNIT_SHARE,
				 "minimum share of the thread's time spent launching, gaps "
				 "included"},
				{"rate", 10000, UNIT_PER_SECOND, "minimum launches"},
				{"wait", 0.2, UNIT_SHARE,
				 "maximum share of the thread's time in waits; above it the GPU "
				 "has "
				 "enough work"},
			},
		.detect = launch_bound__detect,
	},
	{
		.id = "sync-after-every-launch",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.steady = true,
		.every = EVERY_COPY | EVERY_WAIT,
		.title = "the program waits after each launch",
		.advice = "After each launch the thread waits until the GPU is done, and the GPU "
			  "then idles until "
			  "the next launch arrives. Work in one stream runs in order without any "
			  "wait. Wait only "
			  "where the host reads a result (and then for an event or the stream, not "
			  "the device), or "
			  "once in many launches. In PyTorch look for .item(), .cpu(), print of a "
			  "tensor, or "
			  "torch.cuda.synchronize() in the loop.",
		.cost = "waits that followed exactly one launch",
		.thresholds =
			{
				{"share", 0.1, UNIT_SHARE, "minimum share of the thread's time"},
				{"calls", 100, UNIT_COUNT, "minimum such waits"},
				{"mean", 1e6, UNIT_NS,
				 "maximum mean time of one; above it the GPU is busy"},
			},
		.detect = sync_after_every_launch__detect,
	},
	{
		.id = "sync-stall",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.steady = true,
		.every = EVERY_COPY | EVERY_WAIT,
		.title = "the program spends its time in many short waits",
		.advice = "Each wait lets the GPU's queue run empty, and the GPU idles until the "
			  "thread launches "
			  "again. Wait less often; let the thread prepare and launch the next work "
			  "first and then "
			  "wait for the earlier work by an event (two or more buffers in turn); "
			  "leave out waits when "
			  "nothing was launched. A few long waits are no fault: the GPU is busy "
			  "then.",
		.cost = "waits that did not follow exactly one launch",
		.thresholds =
			{
				{"share", 0.2, UNIT_SHARE, "minimum share of the thread's time"},
				{"calls", 100, UNIT_COUNT, "minimum such waits"},
				{"mean", 1e6, UNIT_NS,
				 "maximum mean time of one; above it the GPU is busy"},
				{"launches", 16, UNIT_RATIO,
				 "maximum mean launches per wait; above it waits are few"},
			},
		.detect = sync_stall__detect,
	},
	{
		.id = "implicit-sync",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.steady = true,
		.every = EVERY_COPY | EVERY_WAIT,
		.title = "calls that block in the middle of launches",
		.advice = "Some calls wait for the GPU without being asked to: synchronous copies "
			  "(use "
			  "cudaMemcpyAsync with pinned memory), cudaMemset of pinned or managed "
			  "memory "
			  "(cudaMemsetAsync), cudaFree and cudaFreeHost (allocate once and keep "
			  "it, or use "
			  "cudaMallocAsync and cudaFreeAsync), and loads of modules. A kernel's "
			  "first launch is slow "
			  "if it loads the kernel's module, by a visible call or inside the "
			  "driver: launch each "
			  "kernel once before the loop, or set CUDA_MODULE_LOADING=EAGER.",
		.cost = "calls that blocked between launches",
		.thresholds =
			{
				{"share", 0.05, UNIT_SHARE, "minimum share of the thread's time"},
				{"calls", 10, UNIT_COUNT, "minimum such calls"},
			},
		.detect = implicit_sync__detect,
	},
	{
		.id = "small-copies",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.steady = true,
		.every = EVERY_COPY,
		.title = "many small copies",
		.advice = "Each copy costs microseconds, however small it is. Put data that "
			  "belongs together into "
			  "one buffer and copy that once; keep small values on the device, or pass "
			  "them as kernel "
			  "parameters (up to 32,764 bytes since CUDA 12.1, 4,096 before); "
			  "cudaMemcpyBatchAsync, of "
			  "CUDA 12.8, takes many copies in one call.",
		.cost = "copies of less than 64 KiB",
		.thresholds =
			{
				{"share", 0.05, UNIT_SHARE, "minimum share of the watched time"},
				{"calls", 1000, UNIT_COUNT, "minimum copies of less than 64 KiB"},
			},
		.detect = small_copies__detect,
	},
	{
		.id = "pageable-copies",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.steady = true,
		.every = EVERY_COPY,
		.title = "copies from or to host memory that is not pinned",
		.advice = "The driver copies unpinned memory through a buffer of its own, at a "
			  "fraction of the "
			  "link's rate, and the call does not return before it has read the "
			  "memory: little overlaps, "
			  "even with asynchronous copies. Allocate buffers for copies with "
			  "cudaMallocHost, or pin "
			  "existing ones with cudaHostRegister, once and not per copy; in PyTorch "
			  "use "
			  "pin_memory=True in the DataLoader and .to(device, non_blocking=True). "
			  "Pinned memory "
			  "cannot be swapped out: pin the buffers, not the data set.",
		.cost = "copies of host memory that is not pinned",
		.thresholds =
			{
				{"share", 0.05, UNIT_SHARE, "minimum share of the watched time"},
				{"bytes", 67108864, UNIT_BYTES, "minimum bytes copied that way"},
			},
		.detect = pageable_copies__detect,
	},
	{
		.id = "redundant-copies",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.steady = true,
		.every = EVERY_CALL,
		.title = "the same range is copied again needlessly",
		.advice = "The same range is copied again although nothing on the device has used "
			  "it (to the "
			  "device), or changed it (to the host), since the last time. Copy once, "
			  "before the loop or "
			  "when the data has changed, and keep the copy. Calls do not show whether "
			  "the host changed "
			  "its side meanwhile, but a copy to the device that nothing used before "
			  "the next one was "
			  "needless all the same.",
		.cost = "copies of data that was unchanged or unused since the last copy",
		.thresholds =
			{
				{"share", 0.02, UNIT_SHARE, "minimum share of the watched time"},
				{"calls", 10, UNIT_COUNT, "minimum such copies"},
			},
		.detect = redundant_copies__detect,
	},
	{
		.id = "unchecked-errors",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE | NEEDS_ASKS,
		.every = EVERY_COPY | EVERY_WAIT,
		.title = "a call returned an error, launches followed, and no call asked for the "
			 "error",
		.advice =
			"A call returned an error, and its thread went on to launch work. Before "
			"that it made no "
			"call that asks for the error (cudaGetLastError, cudaPeekAtLastError, "
			"cudaGetErrorName, "
			"cuGetErrorString and the like), and none that usually responds to one: "
			"the same call with "
			"success, a free, the end of its context. From outside gpuprobe cannot see "
			"whether the "
			"program checked the return value. If it did, and can safely continue, "
			"this is no fault. "
			"If it did not, results of later work may be silently wrong: check the "
			"result of each "
			"call, and cudaGetLastError() after each launch, at least in debug builds.",
		.thresholds =
			{
				{"calls", 1, UNIT_COUNT, "minimum failed calls"},
			},
		.detect = unchecked_errors__detect,
	},
	{
		.id = "sticky-error",
		.severity = SEVERITY_CRITICAL,
		.needs = 0,
		.title = "everything fails after this call",
		.advice =
			"After this error the context is lost: every later call fails, and only a "
			"new process "
			"helps. A kernel failed, most often by an access out of bounds, and a "
			"later call reports "
			"it. Run the program under compute-sanitizer, or with "
			"CUDA_LAUNCH_BLOCKING=1 so that the "
			"launch itself reports the error, and let the program end when it gets it.",
		.thresholds =
			{
				{"calls", 1, UNIT_COUNT, "minimum calls that failed with it"},
			},
		.detect = sticky_error__detect,
	},
	{
		.id = "error-storm",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "calls fail all the time",
		.advice = "Calls fail again and again, and each costs time. Look at the first of "
			  "them: a feature "
			  "that the device lacks, an argument that is always wrong, an endless "
			  "retry. Ask once "
			  "whether something is supported, and remember the answer.",
		.thresholds =
			{
				{"rate", 10, UNIT_PER_SECOND, "minimum failures"},
				{"calls", 100, UNIT_COUNT, "minimum failures"},
			},
		.detect = error_storm__detect,
	},
	{
		.id = "oom-near",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "the memory of a device is nearly used up",
		.advice = "Find out which process takes more: the finding names the largest "
			  "holders. leak-growing, "
			  "if it is found too, names the call site, and gpuprobe memleak its "
			  "allocations. If the "
			  "growth is intended, stop it before the device is full: a smaller batch, "
			  "activation "
			  "checkpointing, a limit on the cache. In PyTorch "
			  "torch.cuda.set_per_process_memory_fraction() makes one process fail "
			  "before the others do, "
			  "and PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True leaves less unused "
			  "between its "
			  "blocks. In inference servers lower the share for the key-value cache. "
			  "If other processes "
			  "hold the memory, move them, or this one, to another device.",
		.thresholds =
			{
				{"free", 0.05, UNIT_SHARE, "maximum share of memory that is free"},
				{"growth", 0.01, UNIT_SHARE,
				 "minimum share of memory that was taken recently"},
			},
		.detect_all = oom_near__detect,
	},
	{
		.id = "oom",
		.severity = SEVERITY_CRITICAL,
		.needs = 0,
		.title = "an allocation failed for want of memory",
		.advice = "First see which processes hold the memory: the evidence names the "
			  "largest, and the out-of-memory report on standard error (--oom-dir DIR "
			  "keeps it in a file) the call sites, what grew, and the likely cause. "
			  "If it is other "
			  "processes, end or move them; a process that is missing from "
			  "nvidia-smi's list may still "
			  "run in another container. If it is this one: use a smaller batch, free "
			  "before allocating "
			  "rather than after, and look for leak-growing and fragmentation among "
			  "the findings. In "
			  "PyTorch: gradient accumulation, activation checkpointing, "
			  "torch.no_grad() for inference, "
			  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True if much is reserved "
			  "and not allocated. "
			  "When cudaMalloc fails, PyTorch's caching allocator frees its unused "
			  "blocks and tries "
			  "again: if the program continued, that is what happened, and each time "
			  "costs a "
			  "synchronisation. Pinned host memory (cudaMallocHost, cudaHostRegister) "
			  "is limited by the "
			  "machine's memory, or that of the container (ulimit -l, cgroup).",
		.thresholds =
			{
				{"calls", 1, UNIT_COUNT, "minimum failed allocations"},
			},
		.detect = oom__detect,
	},
	{
		.id = "fragmentation",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "memory is reserved and not used",
		.advice = "The process holds this memory and does not use it. For a pool of "
			  "cudaMallocAsync, lower "
			  "cudaMemPoolAttrReleaseThreshold, or call cudaMemPoolTrimTo() after a "
			  "phase that needs "
			  "much; do not if the next phase needs it again, since it would have to "
			  "be allocated again. "
			  "Physical memory of cuMemCreate that is mapped nowhere is released by "
			  "cuMemRelease once it "
			  "is unmapped. Calls do not show what is unused inside the segments of a "
			  "caching allocator: "
			  "in PyTorch compare torch.cuda.memory_reserved() with "
			  "torch.cuda.memory_allocated(); "
			  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or max_split_size_mb, "
			  "and "
			  "torch.cuda.empty_cache() between phases reduce the difference.",
		.thresholds =
			{
				{"share", 0.5, UNIT_SHARE,
				 "minimum share of the reserved memory that is not used"},
				{"bytes", 268435456, UNIT_BYTES,
				 "minimum memory that is reserved and not used"},
			},
		.detect = fragmentation__detect,
	},
	{
		.id = "graph-recapture",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.every = EVERY_LAUNCH,
		.title = "graphs are made again and again instead of launched again",
		.advice = "Capture and instantiate once, and launch the executable graph each "
			  "time. Put values that "
			  "change between launches into buffers at fixed addresses that are filled "
			  "before the "
			  "launch, or set them with cudaGraphExecKernelNodeSetParams(). If most "
			  "nodes get new "
			  "arguments, capture again and call cudaGraphExecUpdate(), which costs a "
			  "fraction of an "
			  "instantiation. If shapes vary, keep an executable graph for each of a "
			  "few sizes and pad "
			  "to the next one. In PyTorch make the torch.cuda.CUDAGraph once and call "
			  "replay(), after "
			  "copying the inputs into its static tensors; with "
			  "torch.compile(mode=\"reduce-overhead\") "
			  "mark what varies as dynamic, or the graph is captured again for each "
			  "shape. If a graph is "
			  "only launched a few times, launch its kernels without one.",
		.cost = "captures, instantiations and destroys of graphs",
		.thresholds =
			{
				{"graphs", 10, UNIT_COUNT,
				 "minimum instantiations while graphs are launched"},
				{"launches", 4, UNIT_RATIO, "maximum mean launches of a graph"},
				{"share", 0.01, UNIT_SHARE, "minimum share of the watched time"},
			},
		.detect = graph_recapture__detect,
	},
	{
		.id = "idle-gaps",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.steady = true,
		.every = EVERY_CALL,
		.title = "the GPU has nothing to do",
		.advice = "The GPU had nothing to do: the thread submitted work only long after it "
			  "had waited for "
			  "the last. If that time is spent outside CUDA calls, the input does not "
			  "keep up: load and "
			  "prepare the next batch in other threads or processes while the GPU "
			  "works (more workers "
			  "and prefetching in a data loader), move preparation to the GPU, write "
			  "checkpoints and "
			  "logs outside the loop. Idle time is counted only if a wait shows that "
			  "the queue was "
			  "empty, so there may be more.",
		.cost = "gaps of more than 100 ms in which nothing was queued",
		.thresholds =
			{
				{"share", 0.1, UNIT_SHARE, "minimum share of the thread's time"},
				{"gaps", 3, UNIT_COUNT, "minimum gaps"},
			},
		.detect = idle_gaps__detect,
	},
	{
		.id = "host-bound",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.steady = true,
		.whole = true,
		.every = EVERY_COPY | EVERY_WAIT,
		.title = "the GPU waits for the program",
		.advice = "The program gives the GPU less work than it could do: the program has "
			  "to become faster, "
			  "not the GPU. The reasons show where its threads spend their time. On "
			  "the CPU: prepare the "
			  "next batch beside the loop (workers of a data loader, a thread), or on "
			  "the GPU. A queue: "
			  "the threads that fill it do not keep up; add workers, or look at what "
			  "they do. A lock or "
			  "Python's GIL: shorten what its holder does, or move that to another "
			  "process. Launches and "
			  "the framework between them: CUDA graphs, torch.compile, larger batches. "
			  "Copies: pinned "
			  "memory and asynchronous copies. Allocation: a caching allocator. Waits "
			  "in each step "
			  "(loss.item(), printing): wait only now and then. Preempted: more CPUs, "
			  "or a higher limit "
			  "of the cgroup.",
		.cost = "times in which the GPU had, or must have had, nothing to do",
		.thresholds =
			{
				{"share", 0.3, UNIT_SHARE,
				 "minimum share of the steady time that the GPU waits"},
				{"window", 5e9, UNIT_NS, "minimum steady time to judge"},
			},
		.detect = host_bound__detect,
	},
	{
		.id = "cold-start",
		.severity = SEVERITY_INFO,
		.needs = NEEDS_PROFILE,
		.title = "the program takes long to start",
		.advice = "If loads of modules or first launches take long, code is compiled for "
			  "the GPU at each "
			  "start (PTX): build for its architecture (-gencode, "
			  "TORCH_CUDA_ARCH_LIST), keep the "
			  "compiled code (a CUDA_CACHE_PATH that outlives the container, "
			  "CUDA_CACHE_MAXSIZE; "
			  "TRITON_CACHE_DIR and TORCHINDUCTOR_CACHE_DIR; "
			  "jax_compilation_cache_dir), and leave "
			  "CUDA_MODULE_LOADING at LAZY. Contexts are created faster in persistence "
			  "mode (nvidia-smi "
			  "-pm 1) and with only the GPUs that are used in CUDA_VISIBLE_DEVICES. "
			  "Copy weights from "
			  "pinned memory, in large pieces, and read files ahead. Capture graphs "
			  "for fewer sizes. "
			  "Time before the first CUDA call is the program's own: python3 -X "
			  "importtime shows which "
			  "imports take it.",
		.cost = "the part of the start that stands out, or all of it",
		.thresholds =
			{
				{"part", 5e9, UNIT_NS,
				 "minimum time of one part, other than imports, to stand out"},
				{"start", 60e9, UNIT_NS,
				 "minimum time to the first steady step, if no part stands out"},
			},
		.detect = cold_start__detect,
	},
	{
		.id = "mapped-file-copies",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.title = "slow copies straight from mapped files",
		.advice = "A copy from a mapped file waits for each of its pages. Have the file "
			  "read ahead "
			  "(posix_fadvise with POSIX_FADV_WILLNEED, madvise with "
			  "MADV_POPULATE_READ, vmtouch), or read it in large "
			  "pieces, in several threads, into pinned memory and copy from there "
			  "while the next piece is read; "
			  "GPUDirect Storage (cuFile, kvikio) reads into the GPU's memory. In "
			  "PyTorch: "
			  "torch.load without mmap=True, or the files on a local disk.",
		.cost = "copies from mapped files",
		.thresholds =
			{
				{"time", 2e9, UNIT_NS,
				 "minimum time in such copies of 1 MiB and more"},
				{"rate", 2147483648, UNIT_BYTES_PER_SECOND,
				 "maximum bytes per second; above it the files "
				 "are in memory"},
			},
		.detect = mapped_file_copies__detect,
	},
	{
		.id = "default-stream",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.steady = true,
		.every = EVERY_COPY | EVERY_WAIT,
		.title = "the legacy default stream makes work wait that could run in parallel",
		.advice = "The legacy default stream waits for all other streams and they for it, "
			  "even across "
			  "threads, so that work that could run in parallel runs in turn. Give "
			  "each thread or task "
			  "its own stream, created with cudaStreamNonBlocking, or compile with "
			  "--default-stream "
			  "per-thread (CUDA_API_PER_THREAD_DEFAULT_STREAM), and order dependent "
			  "work by events.",
		.cost = "waits for the legacy default stream",
		.thresholds =
			{
				{"share", 0.1, UNIT_SHARE,
				 "minimum share of launches that met others there"},
				{"calls", 100, UNIT_COUNT, "minimum such launches"},
			},
		.detect = default_stream__detect,
	},
	{
		.id = "driver-contention",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.every = EVERY_CALL,
		.title = "threads hold one another up inside the driver",
		.advice = "The driver has locks. A launch waits while another thread loads a "
			  "module, allocates, "
			  "frees or waits for the whole device. Load modules before the loop: call "
			  "each kernel once, "
			  "set CUDA_MODULE_LOADING=EAGER, or prepare plugins and JIT-compiled code "
			  "before work "
			  "begins. Allocate once, or with a caching allocator or "
			  "cudaMallocAsync(). Wait for a "
			  "stream or an event instead of the device.",
		.cost = "launches and copies that another thread's call held up",
		.thresholds =
			{
				{"share", 0.02, UNIT_SHARE, "minimum share of the watched time"},
				{"calls", 3, UNIT_COUNT, "minimum calls that were held up"},
			},
		.detect = driver_contention__detect,
	},
	{
		.id = "no-overlap",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_GPU_TIMES,
		.title = "copies never run beside kernels",
		.advice = "Let copies of the next step run while the kernels of this one do: put "
			  "copies in a stream of their own, made with cudaStreamNonBlocking, copy "
			  "pinned memory by cudaMemcpyAsync, use two buffers in turn, and order "
			  "both streams by events. In PyTorch use pin_memory=True, "
			  ".to(device, non_blocking=True) and a prefetch of the next batch in a "
			  "torch.cuda.Stream. A copy whose kernel is the next work of all cannot "
			  "overlap: nothing else is left to run meanwhile.",
		.cost = "copies while no kernel ran",
		.thresholds =
			{
				{"share", 0.1, UNIT_SHARE,
				 "minimum share of the time in which copies run alone"},
				{"calls", 100, UNIT_COUNT, "minimum copies"},
				{"overlap", 0.1, UNIT_SHARE,
				 "maximum share of the copies' time beside kernels"},
				{"kernels", 0.1, UNIT_SHARE,
				 "minimum share of the time in which kernels run"},
			},
		.detect = no_overlap__detect,
	},
	{
		.id = "small-kernels",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_GPU_TIMES,
		.title = "kernels are too small for the GPU",
		.advice = "The GPU is done with a kernel before the program has launched the next "
			  "one. Give each kernel more work (a larger batch, several items in one "
			  "launch), fuse kernels (torch.compile, a library's fused operation), or "
			  "launch many at once as a CUDA graph.",
		.thresholds =
			{
				{"share", 0.5, UNIT_SHARE, "minimum share of the kernels"},
				{"time", 10e3, UNIT_NS, "mean time below which a kernel is small"},
				{"kernels", 1000, UNIT_COUNT, "minimum of them"},
				{"idle", 0.3, UNIT_SHARE, "minimum share of the time without work"},
			},
		.detect = small_kernels__detect,
	},
	{
		.id = "launch-latency",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_GPU_TIMES,
		.title = "the idle GPU begins called work late",
		.advice =
			"The GPU has nothing to do, and yet work starts some time after its call. "
			"That is what a launch takes until it reaches the GPU, or a wait for an "
			"event of another stream. Call further ahead: wait less often, so that "
			"the next work is queued before the GPU is done, or launch CUDA graphs.",
		.cost = "idle times of the GPU between a call and the start of its work",
		.thresholds =
			{
				{"share", 0.1, UNIT_SHARE, "minimum share of the time"},
				{"gaps", 100, UNIT_COUNT, "minimum idle times"},
				{"mean", 30e3, UNIT_NS, "minimum mean time of one"},
				{"known", 0.9, UNIT_SHARE,
				 "minimum share of the work whose call is known"},
			},
		.detect = launch_latency__detect,
	},
	{
		.id = "chatty-getters",
		.severity = SEVERITY_INFO,
		.needs = NEEDS_PROFILE | NEEDS_GETTERS,
		.steady = true,
		.title = "the program asks the same questions all the time",
		.advice = "The program asks for the same things over and over: the current device, "
			  "attributes, "
			  "whether a stream captures. Each call is short, but they add up, and "
			  "they hold locks of "
			  "the driver. Ask once and keep the answer; set the device when a thread "
			  "starts, not at "
			  "each call.",
		.cost = "getter calls",
		.thresholds =
			{
				{"rate", 50000, UNIT_PER_SECOND, "minimum such calls"},
			},
		.detect = chatty_getters__detect,
	},
	{
		.id = "device-imbalance",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.every = EVERY_CALL,
		.title = "devices or ranks of one job do unequal work",
		.advice = "In a job whose ranks wait for each other at each step, all run at the "
			  "pace of the "
			  "slowest, so give each the same work: the same number of samples "
			  "(torch.utils.data.DistributedSampler, drop_last), sequences of about "
			  "the same length in "
			  "each batch (sorted or bucketed by length), experts or table shards of "
			  "the same size. "
			  "Check whether one rank does more than its share: evaluation, logging, "
			  "checkpoints, data "
			  "for the others. If the launches are equal and one rank is late all the "
			  "same, its GPU may "
			  "be slower (nvidia-smi -q -d PERFORMANCE: clocks, power, heat), or its "
			  "CPU may be shared "
			  "or on the other NUMA node. Pipeline stages, and processes that do "
			  "different things on "
			  "purpose, have different rates without harm: raise the threshold.",
		.thresholds =
			{
				{"ratio", 1.2, UNIT_RATIO, "minimum ratio of the rates",
				 .least = 1},
				{"launches", 1000, UNIT_COUNT, "minimum launches of each"},
				{"bytes", 268435456, UNIT_BYTES,
				 "minimum bytes copied by each, if these are compared"},
			},
		.detect_all = device_imbalance__detect,
	},
	{
		.id = "missing-sync",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_PROFILE,
		.every = EVERY_CALL,
		.title = "results may be used before they are ready",
		.advice = "The memory of work in flight was freed, or its results were used "
			  "without a wait. Wait for "
			  "a copy (its stream or an event recorded after it) before its host "
			  "memory is freed or "
			  "read, and before the process ends. Record an event before waiting for "
			  "it: one that was "
			  "never recorded counts as done. Wait for a stream before destroying it "
			  "if its results "
			  "matter. Calls do not show whether a wrong result was used.",
		.thresholds =
			{
				{"calls", 1, UNIT_COUNT, "minimum such calls"},
			},
		.detect = missing_sync__detect,
	},
	{
		.id = "nccl-hang",
		.severity = SEVERITY_CRITICAL,
		.needs = NEEDS_NCCL,
		.title = "ranks of an NCCL communicator wait and do not go on",
		.advice = "Look at the rank that is named first: it has not come to the collective "
			  "that the others "
			  "are in. The evidence says where it is instead and what it waits for; "
			  "gpuprobe dump -p PID "
			  "shows all its threads. A rank whose process has ended has failed: read "
			  "its output. If all "
			  "ranks of this machine have come, the missing one is on another node, or "
			  "the network or a GPU "
			  "does not answer: run gpuprobe nccl --json on each node and bring the "
			  "files together with "
			  "--join, or ask NCCL itself with --ras.",
		.thresholds =
			{
				{"time", 10e9, UNIT_NS, "minimum time that the ranks have waited",
				 .least = 1e8},
			},
		.detect_all = nccl__detect,
	},
	{
		.id = "nccl-mismatch",
		.severity = SEVERITY_CRITICAL,
		.needs = NEEDS_NCCL,
		.title = "ranks of an NCCL communicator call different things",
		.advice = "All ranks must call the same collectives in the same order, with the "
			  "same size, type, "
			  "reduction and root, and a receive must be as long as its send. Look for "
			  "a branch that only "
			  "some ranks take (a test of the rank, of the data, or of the time), for "
			  "batches whose last one "
			  "is shorter, for parameters that a rank does not use, and for two "
			  "threads that share a "
			  "communicator. The collectives after the first different one pair "
			  "wrongly: they may hang, "
			  "or give wrong results.",
		.thresholds =
			{
				{"calls", 1, UNIT_COUNT, "minimum collectives or messages"},
			},
		.detect_all = nccl__detect,
	},
	{
		.id = "nccl-straggler",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_NCCL,
		.title = "a rank comes late to NCCL's collectives while others wait",
		.advice = "The others can only go on when the late rank has come. gpuprobe "
			  "diagnose shows what its "
			  "threads do before they come. Usual causes: more or longer data for that "
			  "rank, a data loader "
			  "that is short of CPUs, a GPU that is throttled or used by others, work "
			  "that only rank 0 does "
			  "(logging, checkpoints, evaluation), and garbage collection of Python.",
		.thresholds =
			{
				{"share", 0.1, UNIT_SHARE,
				 "minimum share of the collectives that it is late to",
				 .least = 0.1},
			},
		.detect_all = nccl__detect,
	},
	{
		.id = "nccl-imbalance",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_NCCL,
		.title = "ranks wait for each other in turn, or receive unequal amounts",
		.advice = "No rank is the late one: each has some steps that take longer than the "
			  "others'. Give the "
			  "ranks equal work in each step, for example by sorting samples into "
			  "batches by their length. "
			  "If one rank receives far more than the others, as with experts that get "
			  "more tokens, limit "
			  "or balance what goes to it.",
		.thresholds =
			{
				{"share", 0.25, UNIT_SHARE,
				 "minimum share of the time, or excess over the average bytes",
				 .least = 0.25},
			},
		.detect_all = nccl__detect,
	},
	{
		.id = "nccl-error",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_NCCL,
		.title = "calls of NCCL fail",
		.advice =
			"The communicator is of no more use in that rank: ncclCommAbort ends it "
			"in the other ranks, "
			"which otherwise wait. NCCL's own messages have the cause: set "
			"NCCL_DEBUG=WARN. "
			"ncclRemoteError and ncclSystemError point to a process that has ended or "
			"to the network, "
			"ncclUnhandledCudaError to a CUDA error before the call, "
			"ncclInvalidArgument and "
			"ncclInvalidUsage to the call itself.",
		.thresholds =
			{
				{"ranks", 1, UNIT_COUNT, "minimum ranks whose calls fail"},
			},
		.detect_all = nccl__detect,
	},
	{
		.id = "stuck",
		.severity = SEVERITY_INFO,
		.needs = 0,
		.title = "a call does not return: a hang, or long work on the GPU",
		.advice = "Calls do not show whether the GPU still works: nvidia-smi shows its use "
			  "and power, "
			  "cuda-gdb -p PID the running kernels. A wait that lasts as long as the "
			  "work queued before "
			  "it is fine. A wait that does not end waits for a kernel that loops "
			  "(often one block that "
			  "waits for another that has no room to start), for a stream that waits "
			  "for an event or for "
			  "a memory word that nothing writes, or in a collective for a rank that "
			  "has failed or has "
			  "called a different one: compare the ranks, and set NCCL_DEBUG=INFO. "
			  "Other calls wait for "
			  "locks: of the driver, held by a thread in a long call, or of the "
			  "loader. gdb -p PID and "
			  "`thread apply all bt` show what waits for what.",
		.thresholds =
			{
				{"time", 60e9, UNIT_NS,
				 "minimum time that a call has been in progress"},
				{"silence", 600e9, UNIT_NS,
				 "when it is a warning, if the process makes no other call"},
			},
		.detect = stuck__detect,
	},
	{
		.id = "xid",
		/* each number has its own */
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_XIDS,
		.title = "the driver reports an error of a GPU (Xid)",
		.advice = "The evidence says what the number means, who may have caused it, and "
			  "what helps. The "
			  "driver's report in the kernel's log names the process for most errors; "
			  "--kernel-log makes gpuprobe read it. Otherwise the candidates are the "
			  "processes on the GPU whose "
			  "calls began to fail for good at that time, or else all that use the "
			  "GPU. An error that comes with one program wherever it runs is a fault "
			  "of the program; "
			  "one that comes on one GPU with every program is a fault of the GPU or "
			  "its machine. "
			  "NVIDIA's catalogue of Xid errors describes each number.",
		.thresholds =
			{
				{"age", 3600e9, UNIT_NS,
				 "how long it is shown after the latest report"},
			},
		.detect_all = xid__detect,
	},
};

const size_t finding_kind_count = sizeof(finding_kinds) / sizeof(*finding_kinds);
