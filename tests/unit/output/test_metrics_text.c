// SPDX-License-Identifier: BSD-2-Clause
// The metrics page of a process with something in every section, to the letter.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "metrics_scene.h"
#include "output/metrics/metrics.h"

static const char busy_prometheus[] =
	"# TYPE gpuprobe_process_info gauge\n"
	"# HELP gpuprobe_process_info Who a process is: parent, user, pod, container, unit"
	" and job, and the pid in its own namespace.\n"
	"gpuprobe_process_info{pid=\"42\",comm=\"train\",ppid=\"7\",user=\"ann\","
	"namespace=\"\",pod=\"\",container=\"\",pod_uid=\"\",container_id=\"c0ffee\","
	"unit=\"\",slurm_job_id=\"\",slurm_step=\"\",slurm_sluid=\"\",pbs_job_id=\"\","
	"ns_pid=\"unknown\"} 1\n"
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
	"# TYPE gpuprobe_process_since_attach gauge\n"
	"# HELP gpuprobe_process_since_attach Processes that were there before gpuprobe, 1 of "
	"each: what they did, allocated and made"
	" until then is in none of their series.\n"
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
	"# TYPE gpuprobe_out_of_memory_total counter\n"
	"# HELP gpuprobe_out_of_memory_total Allocations of device memory that failed for good; at "
	"most one a second of a thread.\n"
	"gpuprobe_out_of_memory_total{pid=\"42\",comm=\"train\"} 0\n"
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
	"# TYPE gpuprobe_step_seconds gauge\n"
	"# HELP gpuprobe_step_seconds How long the steps last that the process repeats, of all "
	"that were seen: the median and the"
	" 99th percentile. A step is what it submits to the GPU over and over.\n"
	"# TYPE gpuprobe_step_launches gauge\n"
	"# HELP gpuprobe_step_launches Launches of kernels and graphs in a step, on average.\n"
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
	" in seconds, with the time so far in those in progress.\n"
	"gpuprobe_wait_seconds_total{" ON_GPU_3 ",kind=\"stream\"} 2.5\n"
	"gpuprobe_wait_seconds_total{" ON_GPU_3 ",kind=\"copy\"} 0.005253241\n"
	"gpuprobe_wait_seconds_total{" ON_GPU_3 ",kind=\"free\"} 0.00000006\n"
	"gpuprobe_wait_seconds_total{" ON_UNKNOWN ",kind=\"device\"} 0.00000004\n"
	"# TYPE gpuprobe_queries_total counter\n"
	"# HELP gpuprobe_queries_total Stream and event queries by their answer.\n"
	"gpuprobe_queries_total{pid=\"42\",comm=\"train\",kind=\"stream\",answer=\"done\"} 2\n"
	"gpuprobe_queries_total{pid=\"42\",comm=\"train\",kind=\"stream\",answer=\"not_ready\"} 5\n"
	"gpuprobe_queries_total{pid=\"42\",comm=\"train\",kind=\"event\",answer=\"done\"} 2\n"
	"# TYPE gpuprobe_calls_in_progress gauge\n"
	"# HELP gpuprobe_calls_in_progress Calls in progress for 100 ms and more by function, of "
	"the 64 longest of a process.\n"
	"# TYPE gpuprobe_longest_call_in_progress_seconds gauge\n"
	"# HELP gpuprobe_longest_call_in_progress_seconds For how long the longest of these calls "
	"has been in progress, in seconds.\n"
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
	"# TYPE gpuprobe_objects_live gauge\n"
	"# HELP gpuprobe_objects_live Objects other than memory made and not destroyed, by kind.\n"
	"gpuprobe_objects_live{pid=\"42\",comm=\"train\",kind=\"stream\"} 2\n"
	"gpuprobe_objects_live{pid=\"42\",comm=\"train\",kind=\"module\"} 4\n"
	"# TYPE gpuprobe_module_loads_total counter\n"
	"# HELP gpuprobe_module_loads_total Successful loads of modules and libraries.\n"
	"gpuprobe_module_loads_total{pid=\"42\",comm=\"train\",kind=\"module\"} 4\n"
	"# TYPE gpuprobe_module_load_seconds_total counter\n"
	"# HELP gpuprobe_module_load_seconds_total Time inside successful loads of modules and"
	" libraries, in seconds.\n"
	"gpuprobe_module_load_seconds_total{pid=\"42\",comm=\"train\",kind=\"module\"} 0.25\n"
	"# TYPE gpuprobe_device_memory_live_bytes gauge\n"
	"# HELP gpuprobe_device_memory_live_bytes Live bytes of memory that is on the device, of "
	"all kinds together.\n"
	"gpuprobe_device_memory_live_bytes{" ON_GPU_3 "} 3000\n"
	"gpuprobe_device_memory_live_bytes{" ON_UNKNOWN "} 0\n"
	"# TYPE gpuprobe_device_launches_total counter\n"
	"# HELP gpuprobe_device_launches_total Kernel launches on the device, those into graphs "
	"left out.\n"
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
	/* Its time begins with the first page. */
	"# TYPE gpuprobe_account_gpu_seconds_total counter\n"
	"# HELP gpuprobe_account_gpu_seconds_total GPU time held by a job, or by a user's "
	"processes outside of jobs; a GPU that several of its processes hold counts once.\n"
	"# TYPE gpuprobe_account_idle_proved_seconds_total counter\n"
	"# HELP gpuprobe_account_idle_proved_seconds_total Part of this GPU time in which the GPU "
	"is proved to have had no work of the job.\n"
	"# TYPE gpuprobe_account_memory_byte_seconds_total counter\n"
	"# HELP gpuprobe_account_memory_byte_seconds_total Device memory of the job, added up over "
	"time.\n"
	"# TYPE gpuprobe_account_gpus gauge\n"
	"# HELP gpuprobe_account_gpus GPUs that the job holds now.\n"
	"# TYPE gpuprobe_account_idle_gpus gauge\n"
	"# HELP gpuprobe_account_idle_gpus Part of these on which it has made no CUDA call for 10 "
	"minutes.\n"
	"# TYPE gpuprobe_account_last_call_timestamp_seconds gauge\n"
	"# HELP gpuprobe_account_last_call_timestamp_seconds When the job made its latest CUDA "
	"call, Unix time; no sample if none was seen.\n"
	"# TYPE gpuprobe_events_lost_total counter\n"
	"# HELP gpuprobe_events_lost_total Calls and records that gpuprobe missed, by reason.\n"
#define LOSS_SAMPLE(id, name, text) "gpuprobe_events_lost_total{reason=\"" name "\"} @" name "@\n"
	LOSSES(LOSS_SAMPLE) "# TYPE gpuprobe_probes_attached gauge\n"
			    "# HELP gpuprobe_probes_attached Probe sites attached, by layer.\n"
			    "gpuprobe_probes_attached{layer=\"runtime\"} 12\n"
			    "gpuprobe_probes_attached{layer=\"driver\"} 34\n"
			    "gpuprobe_probes_attached{layer=\"library\"} 0\n"
			    "# TYPE gpuprobe_build_info gauge\n"
			    "# HELP gpuprobe_build_info The gpuprobe that serves this page.\n"
			    "gpuprobe_build_info{version=\"0.1.0\"} 1\n";

/* The expected page with the loss counts inserted: 8 for ring_full, otherwise 0. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_prometheus_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
