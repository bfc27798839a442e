// SPDX-License-Identifier: BSD-2-Clause
// The metrics page of models built by hand: both forms to the letter, what
// promtool says of it, and that no kernel's counter ever goes back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <inttypes.h>
#include <sys/wait.h>

#include "model_builder.h"
#include "output/metrics.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static struct metrics *new_metrics(unsigned int kernels)
{
	struct metrics_options options = {.kernels = kernels, .version = "0.1.0"};
	struct metrics *metrics = metrics__new(&options);

	assert_non_null(metrics);
	return metrics;
}

static char *render(struct metrics *metrics, const struct model *model, enum exposition form)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(metrics__render(metrics, out, model, NULL, form), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *render_once(const struct model *model, enum exposition form)
{
	struct metrics *metrics = new_metrics(100);
	char *text = render(metrics, model, form);

	metrics__free(metrics);
	return text;
}

/* One process that has done something in every section. */
struct busy {
	struct kernel kernels[2];
	struct failure failures[4];
	struct gpu gpus[2];
	struct process_gpu of[3];
	struct process process;
	struct device_totals devices[2];
	struct model model;
};

static void fill_busy(struct busy *b)
{
	*b = (struct busy){
		.kernels = {
			KERNEL(0x10, "void a::k<int>(int*)", "k", 20, 0),
			KERNEL(0x20, NULL, NULL, 3, 1),
		},
		.failures = {
			FAILURE("cudaMalloc", "cudaErrorMemoryAllocation", 2, LAYER_RUNTIME, 4, false),
			FAILURE("cuLaunchKernel", "CUDA_ERROR_INVALID_HANDLE", 400, LAYER_DRIVER, 2, true),
			FAILURE("cuLaunchKernel", "CUDA_ERROR_INVALID_HANDLE", 400, LAYER_DRIVER, 1, false),
			FAILURE("cuMemFree_v2", NULL, 4711, LAYER_DRIVER, 1, false),
		},
		.gpus = {
			{
				.index = 3,
				.mig = GPU_NONE,
				.uuid = "GPU-a",
				.name = "H200",
				.total_bytes = 100,
				.used_bytes = 60,
			},
			{
				.index = 4,
				.mig = 1,
				.uuid = "MIG-b",
				.total_bytes = 10,
				.used_bytes = GPU_UNKNOWN_BYTES,
			},
		},
		.of = {
			{.ordinal = 0, .gpu = 0, .used_bytes = 50, .untracked_bytes = 20},
			{
				.ordinal = 1,
				.gpu = 1,
				.used_bytes = GPU_UNKNOWN_BYTES,
				.untracked_bytes = GPU_UNKNOWN_BYTES,
			},
			/* Which GPU it is, is not known. */
			{.ordinal = 2, .gpu = GPU_NONE, .used_bytes = 1, .untracked_bytes = 1},
		},
		.devices = {
			{
				.device = 0,
				.live_bytes = 3000,
				.launches = 20,
				.copies = 5,
				.copy_bytes = 77,
				.waits[WAIT_STREAM] = {3, 2500000000},
				.copy_waits = {2, 5253241},
				.free_waits = {2, 60},
				.objects[OBJECT_STREAM] = 2,
				.objects[OBJECT_MODULE] = 4,
			},
			{
				.device = DEVICE_UNKNOWN,
				.launches = 3,
				.waits[WAIT_CONTEXT] = {1, 40},
				.had_objects[OBJECT_STREAM] = true,
			},
		},
		.process = {
			.pid = 42,
			.comm = "train",
			.identified = true,
			.parent = 7,
			.user = "ann",
			.cgroup_known = true,
			.container = "c0ffee",
			.gpu_count = 3,
			.memory[MEMORY_DEVICE] = {
				.allocations = 5,
				.allocation_failures = 4,
				.allocation_ns = 1500000000,
				.frees = 2,
				.free_failures = 1,
				.live_bytes = 3000,
				.live_count = 3,
			},
			.memory[MEMORY_HOST] = {
				.allocations = 1,
				.allocation_ns = 7,
				.live_bytes = 4096,
				.live_count = 1,
			},
			.memory[MEMORY_UNKNOWN] = {.frees = 6, .unknown_frees = 6},
			.kernel_count = 2,
			.launches = 23,
			.graph_launches = 9,
			.copies[COPY_H2D] = {
				{.calls = 2, .bytes = 100, .ns = 5253241},
				{.calls = 1, .bytes = 50, .ns = 1000000000},
			},
			.inflight[COPY_H2D] = {1, 50, 30000000},
			.objects[OBJECT_STREAM] = {.created = 5, .destroyed = 3, .live = 2},
			.objects[OBJECT_MODULE] = {.created = 4, .ns = 250000000, .live = 4},
			.device_count = 2,
			.queries[WAIT_STREAM] = {7, 5},
			.queries[WAIT_EVENT] = {2, 0},
			.failure_count = 4,
		},
		.model = {
			.sections = SECTION_ALL,
			.launch_sample = 64,
			.process_count = 1,
			.gpu_count = 2,
			.sites_attached = {12, 34},
			.live_at_exit_bytes = 77,
		},
	};
	b->process.kernels = b->kernels;
	b->process.failures = b->failures;
	b->process.devices = b->devices;
	b->process.gpus = b->of;
	b->model.gpus = b->gpus;
	b->model.processes = &b->process;
	b->model.lost[LOSS_RING_FULL] = 8;
}

/* The page up to gpuprobe's own numbers, which are other ones each time. */
static void cut_own(char *page)
{
	char *own = strstr(page, "# TYPE process_cpu_seconds");

	assert_non_null(own);
	*own = '\0';
}

/* Labels of the process on its device 0, and on one that is not known. */
#define ON_GPU_3 "pid=\"42\",comm=\"train\",device=\"0\",gpu=\"3\",uuid=\"GPU-a\""
#define ON_UNKNOWN "pid=\"42\",comm=\"train\",device=\"unknown\",gpu=\"unknown\",uuid=\"\""

static const char busy_prometheus[] =
	"# TYPE gpuprobe_process_info gauge\n"
	"# HELP gpuprobe_process_info Who a process is: parent, user, container and pod, and the"
	" pid in its own namespace.\n"
	"gpuprobe_process_info{pid=\"42\",comm=\"train\",ppid=\"7\",user=\"ann\","
	"container=\"c0ffee\",pod=\"\",ns_pid=\"unknown\"}"
	" 1\n"
	"# TYPE gpuprobe_gpu_memory_used_bytes gauge\n"
	"# HELP gpuprobe_gpu_memory_used_bytes Memory of a GPU in use by all processes, by NVML.\n"
	"gpuprobe_gpu_memory_used_bytes{gpu=\"3\",uuid=\"GPU-a\",name=\"H200\"} 60\n"
	"# TYPE gpuprobe_gpu_memory_total_bytes gauge\n"
	"# HELP gpuprobe_gpu_memory_total_bytes Memory of a GPU, by NVML.\n"
	"gpuprobe_gpu_memory_total_bytes{gpu=\"3\",uuid=\"GPU-a\",name=\"H200\"} 100\n"
	"gpuprobe_gpu_memory_total_bytes{gpu=\"4:1\",uuid=\"MIG-b\",name=\"\"} 10\n"
	"# TYPE gpuprobe_process_gpu_memory_bytes gauge\n"
	"# HELP gpuprobe_process_gpu_memory_bytes Memory of a GPU in use by a process, by NVML.\n"
	"gpuprobe_process_gpu_memory_bytes{pid=\"42\",comm=\"train\",gpu=\"3\",uuid=\"GPU-a\"} 50\n"
	"# TYPE gpuprobe_device_memory_untracked_bytes gauge\n"
	"# HELP gpuprobe_device_memory_untracked_bytes Memory of a GPU that NVML counts for a"
	" process and no allocation seen accounts for: context, code, libraries.\n"
	"gpuprobe_device_memory_untracked_bytes{pid=\"42\",comm=\"train\",gpu=\"3\",uuid=\"GPU-a\"}"
	" 20\n"
	"# TYPE gpuprobe_memory_live_bytes gauge\n"
	"# HELP gpuprobe_memory_live_bytes Bytes allocated and not freed, by kind of memory.\n"
	"gpuprobe_memory_live_bytes{pid=\"42\",comm=\"train\",kind=\"device\"} 3000\n"
	"gpuprobe_memory_live_bytes{pid=\"42\",comm=\"train\",kind=\"host\"} 4096\n"
	"# TYPE gpuprobe_memory_live_allocations gauge\n"
	"# HELP gpuprobe_memory_live_allocations Allocations not freed, by kind of memory.\n"
	"gpuprobe_memory_live_allocations{pid=\"42\",comm=\"train\",kind=\"device\"} 3\n"
	"gpuprobe_memory_live_allocations{pid=\"42\",comm=\"train\",kind=\"host\"} 1\n"
	"# TYPE gpuprobe_allocations_total counter\n"
	"# HELP gpuprobe_allocations_total Successful allocation calls for memory of every kind,"
	" host memory included; address ranges are no memory.\n"
	"gpuprobe_allocations_total{pid=\"42\",comm=\"train\"} 6\n"
	"# TYPE gpuprobe_allocation_failures_total counter\n"
	"# HELP gpuprobe_allocation_failures_total Failed allocation calls for memory of every"
	" kind, host memory included.\n"
	"gpuprobe_allocation_failures_total{pid=\"42\",comm=\"train\"} 4\n"
	"# TYPE gpuprobe_frees_total counter\n"
	"# HELP gpuprobe_frees_total Successful free calls for memory of every kind, host memory"
	" included.\n"
	"gpuprobe_frees_total{pid=\"42\",comm=\"train\"} 8\n"
	"# TYPE gpuprobe_free_failures_total counter\n"
	"# HELP gpuprobe_free_failures_total Failed free calls for memory of every kind, host"
	" memory included.\n"
	"gpuprobe_free_failures_total{pid=\"42\",comm=\"train\"} 1\n"
	"# TYPE gpuprobe_allocation_seconds_total counter\n"
	"# HELP gpuprobe_allocation_seconds_total Time inside successful allocation calls, in"
	" seconds.\n"
	"gpuprobe_allocation_seconds_total{pid=\"42\",comm=\"train\"} 1.500000007\n"
	"# TYPE gpuprobe_live_at_exit_bytes_total counter\n"
	"# HELP gpuprobe_live_at_exit_bytes_total Bytes of memory on devices that ended processes"
	" had not freed.\n"
	"gpuprobe_live_at_exit_bytes_total 77\n"
	"# TYPE gpuprobe_virtual_reserved_bytes gauge\n"
	"# HELP gpuprobe_virtual_reserved_bytes Bytes of address ranges reserved for virtual"
	" memory management; no memory by themselves.\n"
	"# TYPE gpuprobe_virtual_mapped_bytes gauge\n"
	"# HELP gpuprobe_virtual_mapped_bytes Bytes of reserved address ranges that have memory"
	" mapped behind them.\n"
	"# TYPE gpuprobe_pool_used_bytes gauge\n"
	"# HELP gpuprobe_pool_used_bytes Bytes that live allocations have of the memory pools of"
	" a device.\n"
	"# TYPE gpuprobe_pool_reserved_bytes gauge\n"
	"# HELP gpuprobe_pool_reserved_bytes Bytes that the memory pools of a device hold;"
	" reckoned unless the program asked the driver.\n"
	"# TYPE gpuprobe_allocations_ended_with_context_total counter\n"
	"# HELP gpuprobe_allocations_ended_with_context_total Allocations that ended with their"
	" context and not by a free, by kind of memory.\n"
	"# TYPE gpuprobe_double_frees_total counter\n"
	"# HELP gpuprobe_double_frees_total Free calls for what had been freed before, failed or"
	" not.\n"
	"gpuprobe_double_frees_total{pid=\"42\",comm=\"train\"} 0\n"
	"# TYPE gpuprobe_kernel_launches_total counter\n"
	"# HELP gpuprobe_kernel_launches_total Kernel launch calls by kernel; kernels without a"
	" name or beyond --metrics-kernels are counted as other.\n"
	"gpuprobe_kernel_launches_total{pid=\"42\",comm=\"train\",kernel=\"void"
	" a::k<int>(int*)\"} 20\n"
	"gpuprobe_kernel_launches_total{pid=\"42\",comm=\"train\",kernel=\"other\"} 3\n"
	"# TYPE gpuprobe_graph_launches_total counter\n"
	"# HELP gpuprobe_graph_launches_total Graph launch calls.\n"
	"gpuprobe_graph_launches_total{pid=\"42\",comm=\"train\"} 9\n"
	"# TYPE gpuprobe_graph_kernels_total counter\n"
	"# HELP gpuprobe_graph_kernels_total Kernels executed by launches of graphs that were"
	" captured or built while watched.\n"
	"gpuprobe_graph_kernels_total{pid=\"42\",comm=\"train\"} 0\n"
	"# TYPE gpuprobe_graph_launches_unsized_total counter\n"
	"# HELP gpuprobe_graph_launches_unsized_total Graph launches that executed an unknown"
	" number of kernels.\n"
	"gpuprobe_graph_launches_unsized_total{pid=\"42\",comm=\"train\"} 0\n"
	"# TYPE gpuprobe_captured_launches_total counter\n"
	"# HELP gpuprobe_captured_launches_total Kernel launch calls that were put into a graph,"
	" not executed.\n"
	"gpuprobe_captured_launches_total{pid=\"42\",comm=\"train\"} 0\n"
	"# TYPE gpuprobe_host_functions_total counter\n"
	"# HELP gpuprobe_host_functions_total Host functions put on streams.\n"
	"gpuprobe_host_functions_total{pid=\"42\",comm=\"train\"} 0\n"
	"# TYPE gpuprobe_first_launches_total counter\n"
	"# HELP gpuprobe_first_launches_total First launches of kernels that succeeded.\n"
	"gpuprobe_first_launches_total{pid=\"42\",comm=\"train\"} 0\n"
	"# TYPE gpuprobe_first_launch_seconds_total counter\n"
	"# HELP gpuprobe_first_launch_seconds_total Time inside the first launch of each kernel,"
	" which may load it, in seconds.\n"
	"gpuprobe_first_launch_seconds_total{pid=\"42\",comm=\"train\"} 0\n"
	"# TYPE gpuprobe_copies_total counter\n"
	"# HELP gpuprobe_copies_total Successful copy and set calls by kind and mode.\n"
	"gpuprobe_copies_total{pid=\"42\",comm=\"train\",kind=\"H2D\",mode=\"sync\"} 2\n"
	"gpuprobe_copies_total{pid=\"42\",comm=\"train\",kind=\"H2D\",mode=\"async\"} 1\n"
	"# TYPE gpuprobe_copy_bytes_total counter\n"
	"# HELP gpuprobe_copy_bytes_total Bytes of successful copy and set calls by kind and"
	" mode.\n"
	"gpuprobe_copy_bytes_total{pid=\"42\",comm=\"train\",kind=\"H2D\",mode=\"sync\"} 100\n"
	"gpuprobe_copy_bytes_total{pid=\"42\",comm=\"train\",kind=\"H2D\",mode=\"async\"} 50\n"
	"# TYPE gpuprobe_copy_seconds_total counter\n"
	"# HELP gpuprobe_copy_seconds_total Time inside successful copy and set calls in seconds;"
	" of async ones the time to enqueue, not to copy.\n"
	"gpuprobe_copy_seconds_total{pid=\"42\",comm=\"train\",kind=\"H2D\",mode=\"sync\"}"
	" 0.005253241\n"
	"gpuprobe_copy_seconds_total{pid=\"42\",comm=\"train\",kind=\"H2D\",mode=\"async\"} 1\n"
	"# TYPE gpuprobe_copies_inflight gauge\n"
	"# HELP gpuprobe_copies_inflight Asynchronous copies that no wait has covered yet.\n"
	"gpuprobe_copies_inflight{pid=\"42\",comm=\"train\",kind=\"H2D\"} 1\n"
	"# TYPE gpuprobe_copies_inflight_bytes gauge\n"
	"# HELP gpuprobe_copies_inflight_bytes Bytes of asynchronous copies that no wait has"
	" covered yet.\n"
	"gpuprobe_copies_inflight_bytes{pid=\"42\",comm=\"train\",kind=\"H2D\"} 50\n"
	"# TYPE gpuprobe_copies_inflight_oldest_seconds gauge\n"
	"# HELP gpuprobe_copies_inflight_oldest_seconds Age of the oldest asynchronous copy that"
	" no wait has covered yet, in seconds.\n"
	"gpuprobe_copies_inflight_oldest_seconds{pid=\"42\",comm=\"train\",kind=\"H2D\"} 0.03\n"
	"# TYPE gpuprobe_waits_total counter\n"
	"# HELP gpuprobe_waits_total Successful calls that block until the GPU is done, by what"
	" they wait for: stream, event, device; synchronous copies and frees beside them.\n"
	"gpuprobe_waits_total{" ON_GPU_3 ",kind=\"stream\"} 3\n"
	"gpuprobe_waits_total{" ON_GPU_3 ",kind=\"copy\"} 2\n"
	"gpuprobe_waits_total{" ON_GPU_3 ",kind=\"free\"} 2\n"
	"gpuprobe_waits_total{" ON_UNKNOWN ",kind=\"device\"} 1\n"
	"# TYPE gpuprobe_wait_seconds_total counter\n"
	"# HELP gpuprobe_wait_seconds_total Time inside calls that block until the GPU is done,"
	" in seconds.\n"
	"gpuprobe_wait_seconds_total{" ON_GPU_3 ",kind=\"stream\"} 2.5\n"
	"gpuprobe_wait_seconds_total{" ON_GPU_3 ",kind=\"copy\"} 0.005253241\n"
	"gpuprobe_wait_seconds_total{" ON_GPU_3 ",kind=\"free\"} 0.00000006\n"
	"gpuprobe_wait_seconds_total{" ON_UNKNOWN ",kind=\"device\"} 0.00000004\n"
	"# TYPE gpuprobe_queries_total counter\n"
	"# HELP gpuprobe_queries_total Stream and event queries by their answer.\n"
	"gpuprobe_queries_total{pid=\"42\",comm=\"train\",kind=\"stream\",answer=\"done\"} 2\n"
	"gpuprobe_queries_total{pid=\"42\",comm=\"train\",kind=\"stream\",answer=\"not_ready\"} 5\n"
	"gpuprobe_queries_total{pid=\"42\",comm=\"train\",kind=\"event\",answer=\"done\"} 2\n"
	"# TYPE gpuprobe_streams_live gauge\n"
	"# HELP gpuprobe_streams_live Streams made and not destroyed.\n"
	"gpuprobe_streams_live{" ON_GPU_3 "} 2\n"
	"gpuprobe_streams_live{" ON_UNKNOWN "} 0\n"
	"# TYPE gpuprobe_events_live gauge\n"
	"# HELP gpuprobe_events_live Events made and not destroyed.\n"
	"# TYPE gpuprobe_contexts_live gauge\n"
	"# HELP gpuprobe_contexts_live Contexts made, or primary ones retained, and not destroyed"
	" or released.\n"
	"# TYPE gpuprobe_modules_live gauge\n"
	"# HELP gpuprobe_modules_live Modules loaded and not unloaded.\n"
	"gpuprobe_modules_live{" ON_GPU_3 "} 4\n"
	"# TYPE gpuprobe_libraries_live gauge\n"
	"# HELP gpuprobe_libraries_live Libraries loaded and not unloaded.\n"
	"# TYPE gpuprobe_module_loads_total counter\n"
	"# HELP gpuprobe_module_loads_total Successful loads of modules and libraries.\n"
	"gpuprobe_module_loads_total{pid=\"42\",comm=\"train\",kind=\"module\"} 4\n"
	"# TYPE gpuprobe_module_load_seconds_total counter\n"
	"# HELP gpuprobe_module_load_seconds_total Time inside successful loads of modules and"
	" libraries, in seconds.\n"
	"gpuprobe_module_load_seconds_total{pid=\"42\",comm=\"train\",kind=\"module\"} 0.25\n"
	"# TYPE gpuprobe_device_memory_live_bytes gauge\n"
	"# HELP gpuprobe_device_memory_live_bytes Live bytes of memory that is on the device, of all kinds together.\n"
	"gpuprobe_device_memory_live_bytes{" ON_GPU_3 "} 3000\n"
	"gpuprobe_device_memory_live_bytes{" ON_UNKNOWN "} 0\n"
	"# TYPE gpuprobe_device_launches_total counter\n"
	"# HELP gpuprobe_device_launches_total Kernel launches on the device, those into graphs left out.\n"
	"gpuprobe_device_launches_total{" ON_GPU_3 "} 20\n"
	"gpuprobe_device_launches_total{" ON_UNKNOWN "} 3\n"
	"# TYPE gpuprobe_device_copies_total counter\n"
	"# HELP gpuprobe_device_copies_total Successful copies and sets on the device.\n"
	"gpuprobe_device_copies_total{" ON_GPU_3 "} 5\n"
	"gpuprobe_device_copies_total{" ON_UNKNOWN "} 0\n"
	"# TYPE gpuprobe_device_copy_bytes_total counter\n"
	"# HELP gpuprobe_device_copy_bytes_total Bytes of these copies and sets.\n"
	"gpuprobe_device_copy_bytes_total{" ON_GPU_3 "} 77\n"
	"gpuprobe_device_copy_bytes_total{" ON_UNKNOWN "} 0\n"
	"# TYPE gpuprobe_errors_total counter\n"
	"# HELP gpuprobe_errors_total Failed calls by function and error; of launches only a"
	" sample is checked unless --check-launches is given.\n"
	"gpuprobe_errors_total{pid=\"42\",comm=\"train\",function=\"cudaMalloc\","
	"error=\"cudaErrorMemoryAllocation\"}"
	" 4\n"
	"gpuprobe_errors_total{pid=\"42\",comm=\"train\",function=\"cuLaunchKernel\","
	"error=\"CUDA_ERROR_INVALID_HANDLE\"}"
	" 3\n"
	"gpuprobe_errors_total{pid=\"42\",comm=\"train\",function=\"cuMemFree_v2\",error=\"4711\"}"
	" 1\n"
	"# TYPE gpuprobe_events_lost_total counter\n"
	"# HELP gpuprobe_events_lost_total Calls and records that gpuprobe missed, by reason.\n"
#define LOSS_SAMPLE(id, name, text) "gpuprobe_events_lost_total{reason=\"" name "\"} @" name "@\n"
	LOSSES(LOSS_SAMPLE) "# TYPE gpuprobe_probes_attached gauge\n"
			    "# HELP gpuprobe_probes_attached Probe sites attached, by layer.\n"
			    "gpuprobe_probes_attached{layer=\"runtime\"} 12\n"
			    "gpuprobe_probes_attached{layer=\"driver\"} 34\n"
			    "# TYPE gpuprobe_build_info gauge\n"
			    "# HELP gpuprobe_build_info The gpuprobe that serves this page.\n"
			    "gpuprobe_build_info{version=\"0.1.0\"} 1\n";

/* The expected page with the counts of losses in their places: 8 of ring_full, else 0. */
static char *fill_losses(const char *page)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);
	const char *at, *end;

	assert_non_null(out);
	while ((at = strchr(page, '@'))) {
		end = strchr(at + 1, '@');
		fwrite(page, 1, (size_t)(at - page), out);
		fputc(strncmp(at, "@ring_full@", 11) ? '0' : '8', out);
		page = end + 1;
	}
	fputs(page, out);
	fclose(out);
	return text;
}

static void writes_prometheus_text(void **state)
{
	struct busy b;
	char *page, *expected = fill_losses(busy_prometheus);

	(void)state;
	fill_busy(&b);
	page = render_once(&b.model, EXPOSITION_PROMETHEUS);
	assert_null(strstr(page, "# EOF"));
	assert_null(strstr(page, "# UNIT"));
	assert_non_null(strstr(page, "\n# TYPE process_cpu_seconds_total counter\n"));
	cut_own(page);
	assert_string_equal(page, expected);
	free(page);
	free(expected);
}

static const struct {
	const char *family;
	const char *unit;
} counter_families[] = {
	{"gpuprobe_allocations", NULL},
	{"gpuprobe_allocation_failures", NULL},
	{"gpuprobe_frees", NULL},
	{"gpuprobe_free_failures", NULL},
	{"gpuprobe_allocation_seconds", "seconds"},
	{"gpuprobe_live_at_exit_bytes", "bytes"},
	{"gpuprobe_kernel_launches", NULL},
	{"gpuprobe_graph_launches", NULL},
	{"gpuprobe_copies", NULL},
	{"gpuprobe_copy_bytes", "bytes"},
	{"gpuprobe_copy_seconds", "seconds"},
	{"gpuprobe_waits", NULL},
	{"gpuprobe_wait_seconds", "seconds"},
	{"gpuprobe_queries", NULL},
	{"gpuprobe_errors", NULL},
	{"gpuprobe_events_lost", NULL},
	{"process_cpu_seconds", "seconds"},
};

static void assert_has(const char *page, const char *format, const char *name, const char *unit)
{
	char line[256];

	snprintf(line, sizeof(line), format, name, unit);
	if (!strstr(page, line))
		fail_msg("the page has no '%s'", line);
}

static void assert_has_not(const char *page, const char *format, const char *name)
{
	char line[256];

	snprintf(line, sizeof(line), format, name);
	if (strstr(page, line))
		fail_msg("the page has '%s'", line);
}

static void names_openmetrics_families(void **state)
{
	struct busy b;
	char *page;
	size_t i;

	(void)state;
	fill_busy(&b);
	page = render_once(&b.model, EXPOSITION_OPENMETRICS);
	for (i = 0; i < COUNT(counter_families); i++) {
		const char *family = counter_families[i].family;

		assert_has(page, "# TYPE %s counter\n", family, NULL);
		assert_has(page, "# HELP %s ", family, NULL);
		assert_has(page, "\n%s_total", family, NULL);
		assert_has_not(page, "# TYPE %s_total", family);
		if (counter_families[i].unit)
			assert_has(page, "# UNIT %s %s\n", family, counter_families[i].unit);
		else
			assert_has_not(page, "# UNIT %s ", family);
	}
	assert_has(page, "# UNIT gpuprobe_memory_live_bytes bytes\n", NULL, NULL);
	assert_has(page, "# UNIT process_start_time_seconds seconds\n", NULL, NULL);
	assert_has(page, "# TYPE gpuprobe_build info\n", NULL, NULL);
	assert_has(page, "\ngpuprobe_build_info{version=\"0.1.0\"} 1\n", NULL, NULL);
	free(page);
}

/* The family of the sample that begins at `line`. */
static void family_of(const char *line, char *family, size_t size)
{
	size_t n = strcspn(line, "{ ");

	if (n > 6 && !memcmp(line + n - 6, "_total", 6))
		n -= 6;
	else if (n > 5 && !memcmp(line + n - 5, "_info", 5))
		n -= 5;
	assert_true(n < size);
	memcpy(family, line, n);
	family[n] = '\0';
}

/* Every line in turn: metadata opens a family that was not there before, samples belong to it. */
static void keeps_families_together(void **state)
{
	char seen[64][64], family[64] = "";
	size_t families = 0, i;
	struct busy b;
	char *page, *line, *next;

	(void)state;
	fill_busy(&b);
	page = render_once(&b.model, EXPOSITION_OPENMETRICS);
	for (line = page; *line; line = next) {
		next = strchr(line, '\n');
		assert_non_null(next);
		*next++ = '\0';
		assert_true(*line);
		if (!strcmp(line, "# EOF")) {
			assert_int_equal(*next, 0);
			continue;
		}
		if (!strncmp(line, "# TYPE ", 7)) {
			assert_int_equal(sscanf(line, "# TYPE %63s", seen[families]), 1);
			for (i = 0; i < families; i++)
				assert_string_not_equal(seen[i], seen[families]);
			assert_true(++families < COUNT(seen));
			continue;
		}
		if (*line == '#')
			assert_int_equal(sscanf(line, "# %*s %63s", family), 1);
		else
			family_of(line, family, sizeof(family));
		assert_string_equal(family, seen[families - 1]);
	}
	assert_string_equal(page + (line - page) - 6, "# EOF");
	free(page);
}

static void exports_chosen_sections_only(void **state)
{
	static const struct {
		unsigned int section;
		const char *family;
	} cases[] = {
		{SECTION_MEMORY, "gpuprobe_memory_live_bytes"},
		{SECTION_MEMORY, "gpuprobe_allocations"},
		{SECTION_MEMORY, "gpuprobe_live_at_exit_bytes"},
		{SECTION_LAUNCH, "gpuprobe_kernel_launches"},
		{SECTION_LAUNCH, "gpuprobe_graph_launches"},
		{SECTION_COPY, "gpuprobe_copies"},
		{SECTION_COPY, "gpuprobe_copy_seconds"},
		{SECTION_COPY, "gpuprobe_waits"},
		{SECTION_COPY, "gpuprobe_wait_seconds"},
		{SECTION_COPY, "gpuprobe_queries"},
	};
	unsigned int section;
	struct busy b;
	char *page;
	size_t i;

	(void)state;
	fill_busy(&b);
	for (section = SECTION_MEMORY; section <= SECTION_COPY; section <<= 1) {
		b.model.sections = section;
		page = render_once(&b.model, EXPOSITION_PROMETHEUS);
		for (i = 0; i < COUNT(cases); i++) {
			if (cases[i].section == section)
				assert_has(page, "%s", cases[i].family, NULL);
			else
				assert_has_not(page, "%s", cases[i].family);
		}
		assert_has(page, "gpuprobe_errors_total{", NULL, NULL);
		assert_has(page, "gpuprobe_events_lost_total{", NULL, NULL);
		free(page);
	}
}

static void escapes_labels(void **state)
{
	struct busy b;
	char *page;

	(void)state;
	fill_busy(&b);
	memcpy(b.process.comm, "a\"b\\c\nd\xff\xc3", 10);
	b.kernels[0].name = "k<\"\\x\">(gr\xc3\xbc\xc3\x9f)";
	page = render_once(&b.model, EXPOSITION_PROMETHEUS);
	assert_has(page,
		   "gpuprobe_graph_launches_total{pid=\"42\",comm=\"a\\\"b\\\\c\\nd\xef\xbf\xbd"
		   "\xef\xbf\xbd\"} 9\n",
		   NULL, NULL);
	assert_has(page, "kernel=\"k<\\\"\\\\x\\\">(gr\xc3\xbc\xc3\x9f)\"} 20\n", NULL, NULL);
	free(page);
}

static void takes_the_newest_of_a_pid(void **state)
{
	struct process p[] = {
		{.pid = 8, .comm = "old", .ended = true, .graph_launches = 1, .start_ns = 1},
		{.pid = 3, .comm = "other", .graph_launches = 2, .start_ns = 2},
		{.pid = 8, .comm = "new", .graph_launches = 3, .start_ns = 3},
		{.pid = 4, .comm = "gone", .graph_launches = 4, .ended = true, .reported_end = true},
	};
	struct model model = {
		.sections = SECTION_LAUNCH,
		.processes = p,
		.process_count = COUNT(p),
	};
	char *page = render_once(&model, EXPOSITION_PROMETHEUS);

	(void)state;
	assert_has(page,
		   "gpuprobe_graph_launches_total{pid=\"3\",comm=\"other\"} 2\n"
		   "gpuprobe_graph_launches_total{pid=\"8\",comm=\"new\"} 3\n"
		   "gpuprobe_graph_launches_total{pid=\"4\",comm=\"gone\"} 4\n#",
		   NULL, NULL);
	assert_has_not(page, "old", NULL);
	free(page);
}

/* A process that never waited has no series of waits, and queries are told by answer. */
static void waits_have_series_once_there_are_any(void **state)
{
	struct busy b;
	char *page;

	(void)state;
	fill_busy(&b);
	memset(b.devices, 0, sizeof(b.devices));
	memset(b.process.queries, 0, sizeof(b.process.queries));
	b.process.device_count = 1;
	b.devices[0].waits[WAIT_EVENT] = (struct wait_totals){9, 0};
	b.process.queries[WAIT_EVENT] = (struct query_totals){4, 4};
	page = render_once(&b.model, EXPOSITION_PROMETHEUS);
	assert_has(page,
		   "\ngpuprobe_waits_total{" ON_GPU_3 ",kind=\"event\"} 9\n#", NULL, NULL);
	assert_has(page,
		   "\ngpuprobe_wait_seconds_total{" ON_GPU_3 ",kind=\"event\"} 0\n#", NULL, NULL);
	assert_has(page,
		   "\ngpuprobe_queries_total{pid=\"42\",comm=\"train\",kind=\"event\","
		   "answer=\"not_ready\"} 4\n#",
		   NULL, NULL);
	assert_has_not(page, "answer=\"done\"", NULL);
	free(page);
}

static void renders_an_empty_model(void **state)
{
	struct model model = {.sections = SECTION_ALL};
	char *page = render_once(&model, EXPOSITION_OPENMETRICS);

	(void)state;
	assert_has(page, "gpuprobe_live_at_exit_bytes_total 0\n", NULL, NULL);
	assert_has_not(page, "pid=", NULL);
	free(page);
}

static void tells_a_failed_write(void **state)
{
	struct model model = {.sections = SECTION_ALL};
	struct metrics *metrics = new_metrics(1);
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	assert_true(metrics__render(metrics, full, &model, NULL, EXPOSITION_PROMETHEUS) < 0);
	fclose(full);
	metrics__free(metrics);
	metrics__free(NULL);
}

/* The launches that a page tells of a kernel of pid 1; -1 where it has no such series. */
static int64_t told(const char *page, const char *kernel)
{
	char start[512];
	const char *at;

	snprintf(start, sizeof(start),
		 "gpuprobe_kernel_launches_total{pid=\"1\",comm=\"p\",kernel=\"%s\"} ", kernel);
	at = strstr(page, start);
	return at ? strtoll(at + strlen(start), NULL, 10) : -1;
}

/* A process with kernels, and the metrics that watch it. */
struct launches {
	struct metrics *metrics;
	struct kernel kernels[16];
	struct process process;
	struct device_totals devices[2];
	struct model model;
	char *page;
};

static void start_launches(struct launches *l, unsigned int limit, size_t count)
{
	memset(l, 0, sizeof(*l));
	l->metrics = new_metrics(limit);
	l->process.pid = 1;
	strcpy(l->process.comm, "p");
	l->process.kernels = l->kernels;
	l->process.kernel_count = count;
	l->model.sections = SECTION_LAUNCH;
	l->model.processes = &l->process;
	l->model.process_count = 1;
}

/* Renders; the total is what the kernels add up to, as the model has it. */
static void scrape(struct launches *l)
{
	size_t i;

	l->process.launches = 0;
	for (i = 0; i < l->process.kernel_count; i++)
		l->process.launches += l->kernels[i].launches;
	free(l->page);
	l->page = render(l->metrics, &l->model, EXPOSITION_PROMETHEUS);
}

static void end_launches(struct launches *l)
{
	free(l->page);
	metrics__free(l->metrics);
}

static void the_first_kernels_keep_their_series(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 2, 3);
	/* The model's order is by launches; that of first sight decides. */
	l.kernels[0] = (struct kernel)KERNEL(3, "c", "c", 900, 2);
	l.kernels[1] = (struct kernel)KERNEL(1, "a", "a", 10, 0);
	l.kernels[2] = (struct kernel)KERNEL(2, "b", "b", 5, 1);
	scrape(&l);
	assert_int_equal(told(l.page, "a"), 10);
	assert_int_equal(told(l.page, "b"), 5);
	assert_int_equal(told(l.page, "c"), -1);
	assert_int_equal(told(l.page, "other"), 900);
	l.kernels[3] = (struct kernel)KERNEL(4, "d", "d", 7, 3);
	l.kernels[0].launches = 1000;
	l.process.kernel_count = 4;
	scrape(&l);
	assert_int_equal(told(l.page, "a"), 10);
	assert_int_equal(told(l.page, "b"), 5);
	assert_int_equal(told(l.page, "d"), -1);
	assert_int_equal(told(l.page, "other"), 1007);
	end_launches(&l);
}

static void no_limit_of_0_but_all_other(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 0, 1);
	l.kernels[0] = (struct kernel)KERNEL(3, "c", "c", 9, 0);
	scrape(&l);
	assert_int_equal(told(l.page, "c"), -1);
	assert_int_equal(told(l.page, "other"), 9);
	end_launches(&l);
}

static void a_late_name_leaves_other_where_it_was(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 2);
	l.kernels[0] = (struct kernel)KERNEL(1, "busy", "busy", 1000, 0);
	l.kernels[1] = (struct kernel)KERNEL(2, NULL, NULL, 90, 1);
	scrape(&l);
	assert_int_equal(told(l.page, "busy"), 1000);
	assert_int_equal(told(l.page, "other"), 90);
	l.kernels[0].launches = 5000;
	l.kernels[1] = (struct kernel)KERNEL(2, "late", "late", 100, 1);
	scrape(&l);
	assert_int_equal(told(l.page, "busy"), 5000);
	assert_int_equal(told(l.page, "late"), 10);
	assert_int_equal(told(l.page, "other"), 90);
	l.kernels[1].launches = 101;
	scrape(&l);
	assert_int_equal(told(l.page, "busy"), 5000);
	assert_int_equal(told(l.page, "late"), 11);
	assert_int_equal(told(l.page, "other"), 90);
	end_launches(&l);
}

/* Named, and by the next scrape it has a newer handle already. */
static void a_late_name_with_another_handle(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 2);
	l.kernels[0] = (struct kernel)KERNEL(1, "busy", "busy", 1000, 0);
	l.kernels[1] = (struct kernel)KERNEL(2, NULL, NULL, 90, 1);
	scrape(&l);
	l.kernels[0].launches = 5000;
	l.kernels[1] = (struct kernel)KERNEL(3, "late", "late", 100, 1);
	scrape(&l);
	assert_int_equal(told(l.page, "busy"), 5000);
	assert_int_equal(told(l.page, "late"), 10);
	assert_int_equal(told(l.page, "other"), 90);
	end_launches(&l);
}

static void a_name_before_the_first_scrape_is_whole(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 1);
	l.kernels[0] = (struct kernel)KERNEL(2, NULL, NULL, 0, 0);
	scrape(&l);
	assert_int_equal(told(l.page, "other"), -1);
	l.kernels[0] = (struct kernel)KERNEL(2, "k", "k", 100, 0);
	scrape(&l);
	assert_int_equal(told(l.page, "k"), 100);
	assert_int_equal(told(l.page, "other"), -1);
	end_launches(&l);
}

/* A reloaded module: the handle without a name turns out to be one of a kernel known already. */
static void joined_handles_leave_other_where_it_was(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 3);
	l.kernels[0] = (struct kernel)KERNEL(0x1, "busy", "busy", 1000, 0);
	l.kernels[1] = (struct kernel)KERNEL(0x2, "again", "again", 50, 1);
	l.kernels[2] = (struct kernel)KERNEL(0x3, NULL, NULL, 90, 2);
	scrape(&l);
	assert_int_equal(told(l.page, "other"), 90);
	/* The busy one rises by more than is to be accounted for, but has another handle. */
	l.kernels[0].launches = 3000;
	l.kernels[1] = (struct kernel)KERNEL(0x3, "again", "again", 50 + 90 + 5, 1);
	l.process.kernel_count = 2;
	scrape(&l);
	assert_int_equal(told(l.page, "busy"), 3000);
	assert_int_equal(told(l.page, "again"), 55);
	assert_int_equal(told(l.page, "other"), 90);
	end_launches(&l);
}

static void several_joined_at_once_still_add_up(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 3);
	l.kernels[0] = (struct kernel)KERNEL(0x1, "k", "k", 50, 0);
	l.kernels[1] = (struct kernel)KERNEL(0x3, NULL, NULL, 90, 1);
	l.kernels[2] = (struct kernel)KERNEL(0x4, NULL, NULL, 7, 2);
	scrape(&l);
	l.kernels[0] = (struct kernel)KERNEL(0x4, "k", "k", 50 + 90 + 7 + 1, 0);
	l.process.kernel_count = 1;
	scrape(&l);
	assert_int_equal(told(l.page, "k"), 51);
	assert_int_equal(told(l.page, "other"), 97);
	end_launches(&l);
}

static void joined_beyond_the_limit_stays_other(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 1, 3);
	l.kernels[0] = (struct kernel)KERNEL(0x1, "a", "a", 50, 0);
	l.kernels[1] = (struct kernel)KERNEL(0x2, "b", "b", 10, 1);
	l.kernels[2] = (struct kernel)KERNEL(0x3, NULL, NULL, 90, 2);
	scrape(&l);
	assert_int_equal(told(l.page, "other"), 100);
	l.kernels[0].launches = 400;
	l.kernels[1] = (struct kernel)KERNEL(0x3, "b", "b", 101, 1);
	l.process.kernel_count = 2;
	scrape(&l);
	assert_int_equal(told(l.page, "a"), 400);
	assert_int_equal(told(l.page, "other"), 101);
	end_launches(&l);
}

static void labels_that_are_equal_are_one_series(void **state)
{
	char x[400], y[400];
	struct launches l;

	(void)state;
	memset(x, 'n', sizeof(x));
	x[399] = '\0';
	memcpy(y, x, sizeof(y));
	start_launches(&l, 10, 4);
	l.kernels[0] = (struct kernel)KERNEL(1, x, "x", 100, 0);
	l.kernels[1] = (struct kernel)KERNEL(2, y, "y", 10, 1);
	/* Names that would pass for the rest, or for no label. */
	l.kernels[2] = (struct kernel)KERNEL(3, "other", "other", 5, 2);
	l.kernels[3] = (struct kernel)KERNEL(4, "", "", 2, 3);
	scrape(&l);
	assert_non_null(strstr(l.page, "\"} 110\n"));
	assert_int_equal(told(l.page, "other"), 7);
	assert_null(strstr(l.page, "kernel=\"\""));
	/* Cut: 200 bytes of label. */
	assert_int_equal(strcspn(strstr(l.page, "kernel=\"n") + 8, "\""), 200);
	end_launches(&l);
}

static void a_new_process_starts_anew(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 1);
	l.kernels[0] = (struct kernel)KERNEL(2, NULL, NULL, 90, 0);
	scrape(&l);
	assert_int_equal(told(l.page, "other"), 90);
	l.process.slot = 1;
	l.process.start_ns = 5;
	l.kernels[0] = (struct kernel)KERNEL(2, "k", "k", 3, 0);
	scrape(&l);
	assert_int_equal(told(l.page, "k"), 3);
	assert_int_equal(told(l.page, "other"), -1);
	/* Dropped by the model and back: nothing of it was kept. */
	l.model.process_count = 0;
	scrape(&l);
	l.model.process_count = 1;
	l.kernels[0].launches = 1;
	scrape(&l);
	assert_int_equal(told(l.page, "k"), 1);
	end_launches(&l);
}

static void launches_without_a_kernel_are_other(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 1);
	l.kernels[0] = (struct kernel)KERNEL(2, "k", "k", 3, 0);
	l.process.launches = 10;
	l.page = render(l.metrics, &l.model, EXPOSITION_PROMETHEUS);
	assert_int_equal(told(l.page, "k"), 3);
	assert_int_equal(told(l.page, "other"), 7);
	end_launches(&l);
}

#define RANDOM_NAMES 6

/* A kernel as the model keeps it while handles come, are named, are joined. */
struct random_process {
	struct launches l;
	uint64_t serial;
	uint64_t handle;
	int64_t last[RANDOM_NAMES + 1];
};

static void random_step(struct random_process *r)
{
	static char *const names[RANDOM_NAMES] = {"a", "b", "c", "d", "e", "f"};
	size_t *count = &r->l.process.kernel_count, i, k;
	struct kernel *kernels = r->l.kernels;

	for (i = 0; i < *count; i++)
		kernels[i].launches += (uint64_t)(rand() % 50);
	if (*count < COUNT(r->l.kernels) && rand() % 2)
		kernels[(*count)++] = (struct kernel)KERNEL(
			++r->handle, NULL, NULL, (uint64_t)(rand() % 100), r->serial++);
	for (i = 0; i < *count; i++) {
		char *name = names[rand() % RANDOM_NAMES];

		if (kernels[i].name || rand() % 4)
			continue;
		for (k = 0; k < *count && (!kernels[k].name || kernels[k].name != name); k++)
			;
		if (k == *count) {
			kernels[i].name = kernels[i].short_name = name;
			continue;
		}
		kernels[k].launches += kernels[i].launches;
		kernels[k].handle = kernels[i].handle;
		kernels[i--] = kernels[--(*count)];
	}
}

static void never_goes_back(void **state)
{
	static const char *const labels[] = {"a", "b", "c", "d", "e", "f", "other"};
	struct random_process r;
	unsigned int limit;
	int step;
	size_t i;

	(void)state;
	srand(1);
	for (limit = 0; limit <= 6; limit++) {
		memset(&r, 0, sizeof(r));
		start_launches(&r.l, limit, 0);
		for (step = 0; step < 300; step++) {
			int64_t sum = 0;

			random_step(&r);
			scrape(&r.l);
			for (i = 0; i < COUNT(labels); i++) {
				int64_t now = told(r.l.page, labels[i]);

				now = now < 0 ? 0 : now;
				assert_true(now >= r.last[i]);
				r.last[i] = now;
				sum += now;
			}
			assert_int_equal(sum, r.l.process.launches);
		}
		end_launches(&r.l);
	}
}

static void own_numbers_are_plausible(void **state)
{
	static const char *const gauges[] = {
		"\nprocess_resident_memory_bytes ",
		"\nprocess_virtual_memory_bytes ",
		"\nprocess_open_fds ",
		"\nprocess_max_fds ",
		"\nprocess_start_time_seconds ",
	};
	struct model model = {.sections = SECTION_ALL};
	char *page = render_once(&model, EXPOSITION_PROMETHEUS), *at;
	double start, now = (double)time(NULL);
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(gauges); i++) {
		at = strstr(page, gauges[i]);
		assert_non_null(at);
		assert_true(strtod(at + strlen(gauges[i]), NULL) > 0);
	}
	assert_non_null(strstr(page, "\nprocess_cpu_seconds_total "));
	start = strtod(strstr(page, gauges[4]) + strlen(gauges[4]), NULL);
	/* The kernel tells the boot time in whole seconds, and a slow machine may be slow. */
	assert_true(start > now - 600 && start < now + 2);
	free(page);
}

static void promtool_accepts_it(void **state)
{
	struct busy b;
	FILE *promtool;
	char *page;
	int status;

	(void)state;
	if (system("command -v promtool >/dev/null 2>&1"))
		skip();
	fill_busy(&b);
	memcpy(b.process.comm, "a\"b\\c\nd\xff", 9);
	page = render_once(&b.model, EXPOSITION_PROMETHEUS);
	promtool = popen("promtool check metrics >&2", "w");
	assert_non_null(promtool);
	fputs(page, promtool);
	free(page);
	status = pclose(promtool);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_prometheus_text),
		cmocka_unit_test(names_openmetrics_families),
		cmocka_unit_test(keeps_families_together),
		cmocka_unit_test(exports_chosen_sections_only),
		cmocka_unit_test(escapes_labels),
		cmocka_unit_test(takes_the_newest_of_a_pid),
		cmocka_unit_test(waits_have_series_once_there_are_any),
		cmocka_unit_test(renders_an_empty_model),
		cmocka_unit_test(tells_a_failed_write),
		cmocka_unit_test(the_first_kernels_keep_their_series),
		cmocka_unit_test(no_limit_of_0_but_all_other),
		cmocka_unit_test(a_late_name_leaves_other_where_it_was),
		cmocka_unit_test(a_late_name_with_another_handle),
		cmocka_unit_test(a_name_before_the_first_scrape_is_whole),
		cmocka_unit_test(joined_handles_leave_other_where_it_was),
		cmocka_unit_test(several_joined_at_once_still_add_up),
		cmocka_unit_test(joined_beyond_the_limit_stays_other),
		cmocka_unit_test(labels_that_are_equal_are_one_series),
		cmocka_unit_test(a_new_process_starts_anew),
		cmocka_unit_test(launches_without_a_kernel_are_other),
		cmocka_unit_test(never_goes_back),
		cmocka_unit_test(own_numbers_are_plausible),
		cmocka_unit_test(promtool_accepts_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
