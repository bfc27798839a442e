// SPDX-License-Identifier: BSD-2-Clause
// The one table of findings: what each is called, how bad it is, above which thresholds it is one, and what helps.
#include <string.h>

#include "finding/rules.h"

const struct finding_kind finding_kinds[] = {
	{
		.id = "alloc-churn",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the same memory is allocated and freed again and again",
		.advice = "",
		.cost = "allocations and frees of sizes that come again",
		.thresholds = {
			{"share", 0.02, UNIT_SHARE, "least share of the watched time"},
			{"pairs", 10, UNIT_COUNT, "least allocations of one size that were freed"},
		},
		.draw = alloc_churn__draw,
	},
	{
		.id = "leak-growing",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "live memory of a call site only grows",
		.advice = "",
		.thresholds = {
			{"bytes", 1048576, UNIT_BYTES, "least growth"},
		},
		.draw = leak_growing__draw,
	},
	{
		.id = "leak-at-exit",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "a call site that freed most of its memory kept some to the end",
		.advice = "",
		.thresholds = {
			{"bytes", 1048576, UNIT_BYTES, "least that was live at exit"},
			{"freed", 0.5, UNIT_SHARE, "least share of its allocations that were freed"},
		},
		.draw = leak_at_exit__draw,
	},
	{
		.id = "launch-bound",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "many short launches back to back: the CPU cannot feed the GPU",
		.advice = "A launch costs the CPU a few microseconds, whatever the kernel does; with kernels that "
			  "take no longer the GPU is done before the next one comes. Record the repeating sequence "
			  "once as a CUDA graph and launch that (cudaStreamBeginCapture and cudaGraphLaunch; in "
			  "PyTorch torch.cuda.graph or torch.compile(mode=\"reduce-overhead\")), or fuse kernels, "
			  "or give each more to do (a larger batch). How long kernels run cannot be seen from "
			  "calls: a profiler of the GPU tells.",
		.cost = "launches back to back",
		.thresholds = {
			{"share", 0.5, UNIT_SHARE, "least share of the thread's time spent launching, gaps included"},
			{"rate", 10000, UNIT_PER_SECOND, "least launches"},
			{"wait", 0.2, UNIT_SHARE, "most of the thread's time in waits: above it the GPU has work enough"},
		},
		.draw = launch_bound__draw,
	},
	{
		.id = "sync-after-every-launch",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the program waits after each launch",
		.advice = "After each launch the thread waits until the GPU is done, which then idles until the "
			  "next launch has come all the way. Work of one stream runs in order without any wait. "
			  "Wait only where the host reads a result (and then for an event or the stream, not the "
			  "device), or once in many launches. In PyTorch look for .item(), .cpu(), print of a "
			  "tensor, or torch.cuda.synchronize() in the loop.",
		.cost = "waits that followed exactly one launch",
		.thresholds = {
			{"share", 0.1, UNIT_SHARE, "least share of the thread's time"},
			{"calls", 100, UNIT_COUNT, "least such waits"},
			{"mean", 1e6, UNIT_NS, "most time of one on average: above it the GPU is busy"},
		},
		.draw = sync_after_every_launch__draw,
	},
	{
		.id = "sync-stall",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the program spends its time in many short waits",
		.advice = "Each wait lets the GPU's queue run empty, and the GPU idles until the thread has "
			  "launched anew. Wait less often; let the thread prepare and launch the next work first "
			  "and wait for the work before it by an event (two or more buffers in turn); leave out "
			  "waits that came after nothing was launched. Few long waits are no fault, the GPU is busy "
			  "then.",
		.cost = "waits that did not follow exactly one launch",
		.thresholds = {
			{"share", 0.2, UNIT_SHARE, "least share of the thread's time"},
			{"calls", 100, UNIT_COUNT, "least such waits"},
			{"mean", 1e6, UNIT_NS, "most time of one on average: above it the GPU is busy"},
		},
		.draw = sync_stall__draw,
	},
	{
		.id = "implicit-sync",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "calls that block in the middle of launches",
		.advice = "Some calls wait for the GPU without being asked to: synchronous copies (use "
			  "cudaMemcpyAsync with pinned memory), cudaMemset of pinned or managed memory "
			  "(cudaMemsetAsync), cudaFree and cudaFreeHost (allocate once and keep it, or use "
			  "cudaMallocAsync and cudaFreeAsync), and modules that load when a kernel is first "
			  "launched (launch each once before the loop, or set CUDA_MODULE_LOADING=EAGER).",
		.cost = "calls that blocked between launches",
		.thresholds = {
			{"share", 0.05, UNIT_SHARE, "least share of the thread's time"},
			{"calls", 10, UNIT_COUNT, "least such calls"},
		},
		.draw = implicit_sync__draw,
	},
	{
		.id = "small-copies",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "many small copies",
		.advice = "Each copy costs microseconds, however few bytes it has. Put what belongs together into "
			  "one buffer and copy that once; keep small values on the device, or pass them as kernel "
			  "parameters (up to 32,764 bytes since CUDA 12.1, 4,096 before); cudaMemcpyBatchAsync, of "
			  "CUDA 12.8, takes many copies in one call.",
		.cost = "copies of less than 64 KiB",
		.thresholds = {
			{"share", 0.05, UNIT_SHARE, "least share of the watched time"},
			{"calls", 1000, UNIT_COUNT, "least copies of less than 64 KiB"},
		},
		.draw = small_copies__draw,
	},
	{
		.id = "pageable-copies",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "copies from or to host memory that is not pinned",
		.advice = "From memory that is not pinned the driver copies through a buffer of its own, at a "
			  "fraction of the link's rate, and the call does not return before it has read the memory: "
			  "little overlaps, even in asynchronous copies. Allocate buffers for copies by "
			  "cudaMallocHost, or pin what is there by cudaHostRegister, once and not per copy; in "
			  "PyTorch pin_memory=True in the DataLoader and .to(device, non_blocking=True). Pinned "
			  "memory cannot be swapped out: pin the buffers, not the data set.",
		.cost = "copies of host memory that is not pinned",
		.thresholds = {
			{"share", 0.05, UNIT_SHARE, "least share of the watched time"},
			{"bytes", 67108864, UNIT_BYTES, "least that was copied so"},
		},
		.draw = pageable_copies__draw,
	},
	{
		.id = "redundant-copies",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the same range is copied again for nothing",
		.advice = "The same range is copied again although nothing on the device has used it (to the "
			  "device), or changed it (to the host), since the last time. Copy once, before the loop or "
			  "when the data has changed, and keep the copy. Whether the host changed its side "
			  "meanwhile cannot be seen from calls: a copy to the device that nothing used before the "
			  "next one was for nothing all the same.",
		.cost = "copies of what had not changed or not been used since the last time",
		.thresholds = {
			{"share", 0.02, UNIT_SHARE, "least share of the watched time"},
			{"calls", 10, UNIT_COUNT, "least such copies"},
		},
		.draw = redundant_copies__draw,
	},
	{
		.id = "unchecked-errors",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT | NEEDS_ASKS,
		.title = "a call failed, and the program went on without asking",
		.advice = "A call failed, and the program launched more work without asking for the error. Results "
			  "of later work may then be wrong, without a word. Check the result of each call, and "
			  "cudaGetLastError() after each launch, at least in debug builds. That a program looked at "
			  "the result itself cannot be seen from calls: what shows is that it went on.",
		.thresholds = {
			{"calls", 1, UNIT_COUNT, "least failed calls"},
		},
		.draw = unchecked_errors__draw,
	},
	{
		.id = "sticky-error",
		.severity = SEVERITY_CRITICAL,
		.needs = 0,
		.title = "everything fails after this call",
		.advice = "After this error the context is lost: each later call returns it or another, whatever it "
			  "does, and only a new process helps. It is reported by a call after the one that caused "
			  "it, for it is a kernel that failed, most often by an access out of bounds. Run under "
			  "compute-sanitizer, or with CUDA_LAUNCH_BLOCKING=1 so that the launch itself reports it, "
			  "and let the program end where it meets it.",
		.thresholds = {
			{"calls", 1, UNIT_COUNT, "least calls that failed so"},
		},
		.draw = sticky_error__draw,
	},
	{
		.id = "error-storm",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "calls fail all the time",
		.advice = "Calls fail again and again, and each costs time. Look at the first of them: a feature "
			  "that the device does not have, an argument that is always wrong, a retry without end. "
			  "Ask once whether something is supported, and remember the answer.",
		.thresholds = {
			{"rate", 10, UNIT_PER_SECOND, "least failures"},
			{"calls", 100, UNIT_COUNT, "least failures"},
		},
		.draw = error_storm__draw,
	},
	{
		.id = "oom-near",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "the memory of a device is nearly used up",
		.advice = "",
		.thresholds = {
			{"free", 0.05, UNIT_SHARE, "most of the memory that is free"},
			{"growth", 0.01, UNIT_SHARE, "least of the memory that was taken lately"},
		},
		.draw_all = oom_near__draw,
	},
	{
		.id = "oom",
		.severity = SEVERITY_CRITICAL,
		.needs = 0,
		.title = "an allocation failed for want of memory",
		.advice = "",
		.thresholds = {
			{"calls", 1, UNIT_COUNT, "least failed allocations"},
		},
		.draw = oom__draw,
	},
	{
		.id = "fragmentation",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "memory is reserved and not used",
		.advice = "",
		.thresholds = {
			{"share", 0.5, UNIT_SHARE, "least of the reserved memory that is not used"},
			{"bytes", 268435456, UNIT_BYTES, "least that is reserved and not used"},
		},
		.draw = fragmentation__draw,
	},
	{
		.id = "graph-recapture",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "graphs are made again and again instead of launched again",
		.advice = "",
		.cost = "captures and instantiations",
		.thresholds = {
			{"graphs", 10, UNIT_COUNT, "least instantiations"},
			{"launches", 4, UNIT_RATIO, "most launches of a graph on average"},
		},
		.draw = graph_recapture__draw,
	},
	{
		.id = "idle-gaps",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the GPU has nothing to do",
		.advice = "The GPU had nothing to do, for the thread came back with work long after it had waited "
			  "for the last. Where the time is spent outside of CUDA calls, input does not keep up: "
			  "load and prepare the next batch in other threads or processes while the GPU works (more "
			  "workers and prefetching in a data loader), move preparation to the GPU, write "
			  "checkpoints and logs beside the loop. Idle is counted only where a wait shows that the "
			  "queue was empty: it may be more.",
		.cost = "times with nothing queued of more than 100 ms each",
		.thresholds = {
			{"share", 0.1, UNIT_SHARE, "least share of the thread's time"},
			{"gaps", 3, UNIT_COUNT, "least gaps"},
		},
		.draw = idle_gaps__draw,
	},
	{
		.id = "default-stream",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "the legacy default stream makes work wait that could run side by side",
		.advice = "The legacy default stream waits for all other streams and they for it, also across "
			  "threads, so that what could run side by side runs in turn. Give each thread or task a "
			  "stream of its own, made with cudaStreamNonBlocking, or compile with --default-stream "
			  "per-thread (CUDA_API_PER_THREAD_DEFAULT_STREAM), and order what depends on one another "
			  "by events.",
		.cost = "waits for the legacy default stream",
		.thresholds = {
			{"share", 0.1, UNIT_SHARE, "least of the launches that met others there"},
			{"calls", 100, UNIT_COUNT, "least such launches"},
		},
		.draw = default_stream__draw,
	},
	{
		.id = "chatty-getters",
		.severity = SEVERITY_INFO,
		.needs = NEEDS_ACCOUNT | NEEDS_GETTERS,
		.title = "the program asks the same questions all the time",
		.advice = "The program asks the same things over and over: the current device, attributes, whether "
			  "a stream captures. Each call is short, but so many add up, and they hold locks of the "
			  "driver. Ask once and keep the answer; set the device when a thread begins, not at each "
			  "call.",
		.cost = "calls that only ask",
		.thresholds = {
			{"rate", 100000, UNIT_PER_SECOND, "least such calls"},
		},
		.draw = chatty_getters__draw,
	},
	{
		.id = "device-imbalance",
		.severity = SEVERITY_WARNING,
		.needs = 0,
		.title = "devices or ranks of one job do unequal work",
		.advice = "",
		.thresholds = {
			{"ratio", 1.2, UNIT_RATIO, "least ratio of the rates"},
			{"launches", 1000, UNIT_COUNT, "least launches of each"},
		},
		.draw_all = device_imbalance__draw,
	},
	{
		.id = "missing-sync",
		.severity = SEVERITY_WARNING,
		.needs = NEEDS_ACCOUNT,
		.title = "results may be used before they are there",
		.advice = "Work that was still under way lost what it was for, or was relied on without a wait. "
			  "Wait for the copy (its stream or an event recorded after it) before its host memory is "
			  "freed or read and before the process ends; record an event before it is waited for, as "
			  "one that was never recorded counts as done; wait for a stream before it is destroyed if "
			  "its results matter. Whether a wrong result was used cannot be seen from calls.",
		.thresholds = {
			{"calls", 1, UNIT_COUNT, "least such calls"},
		},
		.draw = missing_sync__draw,
	},
};

const size_t finding_kind_count = sizeof(finding_kinds) / sizeof(*finding_kinds);

const struct finding_kind *finding_kind__find(const char *id)
{
	for (size_t i = 0; i < finding_kind_count; i++)
		if (!strcmp(finding_kinds[i].id, id))
			return &finding_kinds[i];
	return NULL;
}
