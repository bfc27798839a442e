// SPDX-License-Identifier: BSD-2-Clause
// Findings about devices: too little memory, unequal work, graphs made anew; and similar healthy
// cases.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "finding_run.h"
#include "model/oom.h"

/* Two GPUs of 80 GiB, two processes; each has GPU 0 as its device 0 and GPU 1 as its device 1. */
struct machine {
	struct run run;
	struct gpu gpus[2];
	struct process processes[2];
	struct process_gpu process_gpus[2][2];
	struct device_totals devices[2][2];
	struct kernel kernels[2][2];
	struct failure failures[2][2];
};

static void machine__begin(struct machine *m, size_t processes)
{
	*m = (struct machine){0};
	for (unsigned int i = 0; i < 2; i++) {
		m->gpus[i] = (struct gpu){
			.index = i, .mig = GPU_NONE, .total_bytes = 80 * GIB, .used_bytes = GIB};
		snprintf(m->gpus[i].uuid, sizeof(m->gpus[i].uuid), "GPU-%u", i);
		m->processes[i] = (struct process){
			.pid = 12 + (int)i,
			.comm = "train",
			.start_ns = RUN_BEGAN,
			.identified = true,
			.parent = 10,
			.gpus = m->process_gpus[i],
			.gpu_count = 2,
			.devices = m->devices[i],
			.device_count = 2,
			.kernels = m->kernels[i],
			.kernel_count = 2,
			.failures = m->failures[i],
		};
		for (int k = 0; k < 2; k++) {
			m->process_gpus[i][k] = (struct process_gpu){.ordinal = k, .gpu = k};
			m->devices[i][k].device = (uint8_t)k;
		}
		m->kernels[i][0] = (struct kernel){.name = (char *)"gemm", .launches = 900};
		m->kernels[i][1] =
			(struct kernel){.name = (char *)(i ? "other" : "one"), .launches = 100};
	}
	run__begin(&m->run, m->processes, processes);
	m->run.model.gpus = m->gpus;
	m->run.model.gpu_count = 2;
}

/* --- oom --- */

static struct failure no_memory(const char *function, uint64_t count)
{
	return (struct failure){.function = function,
				.error = "cudaErrorMemoryAllocation",
				.code = 2,
				.count = count};
}

static void test_oom(void **state)
{
	struct machine m;
	const struct finding *finding;

	(void)state;
	machine__begin(&m, 2);
	m.gpus[0].used_bytes = 79 * GIB;
	m.process_gpus[0][0].used_bytes = 70 * GIB;
	m.process_gpus[1][0].used_bytes = 6 * GIB;
	m.processes[0].memory[MEMORY_DEVICE].live_bytes = 69 * GIB;
	run__sample(&m.run, 1);
	run__finds_nothing(&m.run);
	m.failures[0][0] = no_memory("cudaMalloc", 3);
	m.failures[0][1] = no_memory("cuModuleLoadData", 1);
	m.processes[0].failure_count = 2;
	finding = run__only(&m.run, "oom");
	assert_int_equal(m.run.list.count, 1);
	assert_int_equal(finding->severity, SEVERITY_CRITICAL);
	assert_int_equal(finding->pid, 12);
	assert_string_equal(finding->subject, "cudaMalloc");
	assert_string_equal(finding->evidence,
			    "4 calls failed for want of memory, 3 of them cudaMalloc "
			    "(cudaErrorMemoryAllocation); the process "
			    "has 69.0 GiB allocated on devices; when the device was fullest, of "
			    "the 80.0 GiB of GPU 0, "
			    "79.0 GiB were in use: 70.0 GiB by this process, 6.0 GiB by process 13 "
			    "(train), 3.0 GiB by "
			    "others");
	assert_true(number_of(finding, "by_process") == 70.0 * GIB);
	/* The device is empty once the process has ended: what counts is when it was full. */
	m.gpus[0].used_bytes = 9 * GIB;
	m.processes[0].ended = true;
	m.processes[0].ended_ns = RUN_BEGAN + 2 * NS_PER_S;
	m.processes[0].live_at_exit_bytes = 68 * GIB;
	run__sample(&m.run, 2);
	finding = run__only(&m.run, "oom");
	assert_non_null(
		strstr(finding->evidence,
		       "has 68.0 GiB allocated on devices at its end; when the device was "
		       "fullest, of the 80.0 GiB of GPU 0, 79.0 GiB were in use: 70.0 GiB"));
	run__end(&m.run);
}

/* The finding names the report, and stands alone on it if no call of CUDA failed. */
static void test_oom_with_a_report(void **state)
{
	struct oom ooms[] = {{.pid = 12, .start_ns = RUN_BEGAN, .bytes = GIB, .cause = OOM_LEAK},
			     {.pid = 12,
			      .start_ns = RUN_BEGAN,
			      .bytes = 2 * GIB,
			      .line = "load (train.py:12)",
			      .cause = OOM_LIMIT},
			     {.pid = 12, .start_ns = 1, .bytes = 3 * GIB}};
	struct machine m;
	const struct finding *finding;

	(void)state;
	machine__begin(&m, 1);
	run__sample(&m.run, 1);
	m.run.model.ooms = ooms;
	m.run.model.oom_count = 3;
	m.processes[0].out_of_memory = 2;
	finding = run__only(&m.run, "oom");
	assert_int_equal(finding->severity, SEVERITY_CRITICAL);
	assert_string_equal(finding->evidence,
			    "PyTorch failed to allocate, and no call of CUDA did; the "
			    "out-of-memory report: 2.0 GiB asked for at load (train.py:12), likely "
			    "cause: a limit inside PyTorch");
	assert_true(number_of(finding, "requested") == 2.0 * GIB);
	m.run.model.oom_count = 1;
	m.failures[0][0] = no_memory("cuMemAlloc_v2", 1);
	m.processes[0].failure_count = 1;
	finding = run__only(&m.run, "oom");
	assert_non_null(strstr(finding->evidence,
			       "0 bytes allocated on devices; the out-of-memory report: 1.0 GiB "
			       "asked for, likely cause: a leak"));
	run__end(&m.run);
}

/*
 * Without data from NVML, or if the device was not full at its reading, no process is named as the
 * holder.
 */
static void test_oom_without_holders(void **state)
{
	struct machine m;
	const struct finding *finding;

	(void)state;
	machine__begin(&m, 1);
	m.failures[0][0] = no_memory("cuMemAlloc_v2", 1);
	m.processes[0].failure_count = 1;
	run__sample(&m.run, 1);
	finding = run__only(&m.run, "oom");
	assert_string_equal(
		finding->evidence,
		"1 call failed for want of memory, cuMemAlloc_v2 "
		"(cudaErrorMemoryAllocation); the process has 0 bytes allocated on devices");
	/* Host memory. */
	m.failures[0][0] = no_memory("cudaMallocHost", 1);
	m.gpus[0].used_bytes = 79 * GIB;
	run__sample(&m.run, 2);
	finding = run__only(&m.run, "oom");
	assert_null(strstr(finding->evidence, "device"));
	/* Other errors are other findings. */
	m.failures[0][0].code = 1;
	run__detect(&m.run);
	assert_int_equal(run__count(&m.run, "oom"), 0);
	run__end(&m.run);
}

/* --- oom-near --- */

/* NVML's values at this second: the memory on GPU 0 of the first process, and of all processes. */
static void use_memory(struct machine *m, double seconds, uint64_t own, uint64_t all)
{
	m->process_gpus[0][0].used_bytes = own;
	m->devices[0][0].live_bytes = own;
	m->gpus[0].used_bytes = all;
	run__sample(&m->run, seconds);
}

static void test_oom_near(void **state)
{
	struct machine m;
	const struct finding *finding;

	(void)state;
	machine__begin(&m, 1);
	for (int t = 0; t <= 100; t++) {
		use_memory(&m, t, (60 * GIB) + (uint64_t)t * 128 * MIB,
			   65 * GIB + (uint64_t)t * 128 * MIB);
		if (t == 80)
			run__finds_nothing(&m.run);
	}
	finding = run__only(&m.run, "oom-near");
	assert_int_equal(m.run.list.count, 1);
	assert_int_equal(finding->pid, 12);
	assert_string_equal(finding->subject, "GPU 0");
	assert_non_null(strstr(finding->evidence,
			       "of the 80.0 GiB of GPU 0, 77.5 GiB were in use: 72.5 GiB by this "
			       "process, 5.0 GiB by others; "
			       "2.5 GiB (3.1 %) are left, and this process took 6."));
	assert_true(number_of(finding, "growth") > 6.0 * GIB &&
		    number_of(finding, "growth") < 7.5 * GIB);
	assert_true(fabs(number_of(finding, "growth") / number_of(finding, "growth_time") * 1e9 -
			 128.0 * MIB) < 4 * MIB);
	/* It grew by less than this. */
	run__set(&m.run, "oom-near.growth=50%");
	run__finds_nothing(&m.run);
	run__set(&m.run, "oom-near.growth=1%");
	run__set(&m.run, "oom-near=3%");
	run__finds_nothing(&m.run);
	run__set(&m.run, "oom-near=5%");
	/* Another process takes it. */
	for (int t = 101; t <= 200; t++)
		use_memory(&m, t, 60 * GIB, 75 * GIB + (uint64_t)(t - 100) * 40 * MIB);
	finding = run__only(&m.run, "oom-near");
	assert_int_equal(finding->pid, 0);
	assert_non_null(strstr(finding->evidence, "and other processes took "));
	/* Its instances would be reported instead. */
	m.gpus[0].divided = true;
	run__finds_nothing(&m.run);
	run__end(&m.run);
}

/*
 * It grows step by step as the program goes on. Then it stays constant, which changes nothing until
 * the window has passed.
 */
static void test_oom_near_by_and_by(void **state)
{
	struct machine m;
	const struct finding *finding;

	(void)state;
	machine__begin(&m, 1);
	for (int t = 0; t <= 40; t++) {
		m.processes[0].launches = (uint64_t)t * 1000;
		/* In twenty of the steps, one GiB each. */
		use_memory(&m, t, 58 * GIB + (uint64_t)(t < 20 ? t : 20) * GIB,
			   59 * GIB + (uint64_t)(t < 20 ? t : 20) * GIB);
	}
	finding = run__only(&m.run, "oom-near");
	assert_int_equal(m.run.list.count, 1);
	assert_non_null(
		strstr(finding->evidence,
		       "1.0 GiB (1.2 %) are left, and this process took 20.0 GiB more within "
		       "40.0 s"));
	/* It has ended, and the device is empty. */
	m.processes[0].ended = true;
	m.processes[0].ended_ns = m.run.model.now_ns;
	m.gpus[0].used_bytes = 0;
	finding = run__only(&m.run, "oom-near");
	assert_non_null(
		strstr(finding->evidence,
		       "when the device was fullest, of the 80.0 GiB of GPU 0, 79.0 GiB were in "
		       "use: 78.0 GiB by this process, 1.0 GiB by others; 1.0 GiB (1.2 %) were "
		       "left, and this process took 20.0 GiB more within 40.0 s before its end"));
	m.processes[0].ended = false;
	for (int t = 41; t <= 100; t++)
		use_memory(&m, t, 78 * GIB, 79 * GIB);
	run__finds_nothing(&m.run);
	run__end(&m.run);
}

/*
 * The first steps of a training allocate what all steps need; other memory comes and goes within
 * them.
 */
static void test_first_steps(void **state)
{
	struct machine m;

	(void)state;
	machine__begin(&m, 1);
	for (int t = 0; t <= 100; t++) {
		uint64_t own = t < 8 ? (uint64_t)t * 8 * GIB : (t % 2 ? 77 * GIB : 78 * GIB);

		m.processes[0].launches = (uint64_t)t * 1000;
		use_memory(&m, t, own, own + GIB);
		run__finds_nothing(&m.run);
	}
	run__end(&m.run);
}

/* A server takes nearly everything at its start, at once or gradually, and then stays constant. */
static void test_server_holds_still(void **state)
{
	struct machine m;

	(void)state;
	machine__begin(&m, 1);
	/* Even with a threshold of 0 %: it took nothing lately. */
	run__set(&m.run, "oom-near.growth=0%");
	for (int t = 0; t <= 100; t++) {
		use_memory(&m, t, 76 * GIB, 78 * GIB);
		run__finds_nothing(&m.run);
	}
	run__end(&m.run);
	machine__begin(&m, 1);
	for (int t = 0; t <= 150; t++) {
		/* The last part is taken before the growth has lasted long enough to be known. */
		uint64_t own = t < 40 ? (uint64_t)t * 2 * GIB : 78 * GIB;

		use_memory(&m, t, own, own + GIB);
		run__finds_nothing(&m.run);
	}
	run__end(&m.run);
}

/* --- device-imbalance --- */

static void work(struct device_totals *device, uint64_t launches, uint64_t bytes)
{
	device->launches = launches;
	device->copy_bytes = bytes;
}

static void test_unequal_devices(void **state)
{
	struct machine m;
	const struct finding *finding;

	(void)state;
	machine__begin(&m, 1);
	m.run.model.now_ns = RUN_BEGAN + 10 * NS_PER_S;
	work(&m.devices[0][0], 15000, 0);
	work(&m.devices[0][1], 10000, 0);
	finding = run__only(&m.run, "device-imbalance");
	assert_int_equal(m.run.list.count, 1);
	assert_int_equal(finding->pid, 12);
	assert_string_equal(finding->subject, "2 devices of the process");
	assert_string_equal(finding->evidence,
			    "GPU 0 made launches at 1,500/s, GPU 1 1,000/s: 1.50 times as many; 2 "
			    "that do the same work were compared");
	assert_true(number_of(finding, "ratio") == 1.5);
	assert_true(number_of(finding, "most_device") == 0 &&
		    number_of(finding, "least_device") == 1);
	run__set(&m.run, "device-imbalance=1.6");
	run__finds_nothing(&m.run);
	run__set(&m.run, "device-imbalance=1.2");
	/* About equal. */
	work(&m.devices[0][0], 11900, GIB);
	run__finds_nothing(&m.run);
	work(&m.devices[0][0], 10000, GIB);
	work(&m.devices[0][1], 11999, GIB + GIB / 10);
	run__finds_nothing(&m.run);
	/* The device is used for something else. */
	work(&m.devices[0][0], 100000, 0);
	work(&m.devices[0][1], 10000, 0);
	run__finds_nothing(&m.run);
	/* Too few to judge. */
	work(&m.devices[0][0], 999, 0);
	work(&m.devices[0][1], 500, 0);
	run__finds_nothing(&m.run);
	/* Equal launches, unequal bytes; small amounts do not matter. */
	work(&m.devices[0][0], 10000, 3 * GIB);
	work(&m.devices[0][1], 10000, 2 * GIB);
	finding = run__only(&m.run, "device-imbalance");
	assert_non_null(strstr(finding->evidence,
			       "GPU 0 copied 322 MB/s, GPU 1 215 MB/s: 1.50 times as much"));
	work(&m.devices[0][0], 10000, 300 * MIB);
	work(&m.devices[0][1], 10000, 200 * MIB);
	run__finds_nothing(&m.run);
	/* One device. */
	work(&m.devices[0][0], 10000, 3 * GIB);
	work(&m.devices[0][1], 0, GIB);
	run__finds_nothing(&m.run);
	run__end(&m.run);
}

/* Two ranks with one device each; the second makes fewer launches. */
static void begin_ranks(struct machine *m)
{
	machine__begin(m, 2);
	m->run.model.now_ns = RUN_BEGAN + 10 * NS_PER_S;
	work(&m->devices[0][0], 15000, 0);
	work(&m->devices[1][1], 10000, 0);
}

static void test_unequal_ranks(void **state)
{
	struct machine m;
	const struct finding *finding;

	(void)state;
	begin_ranks(&m);
	finding = run__only(&m.run, "device-imbalance");
	assert_int_equal(m.run.list.count, 1);
	assert_int_equal(finding->pid, 0);
	assert_string_equal(finding->subject, "2 processes called train");
	assert_string_equal(
		finding->evidence,
		"process 12 made launches at 1,500/s, process 13 1,000/s: 1.50 times as "
		"many; 2 that do the same work were compared");
	assert_true(number_of(finding, "least_pid") == 13);
	/* A rank that ended a little earlier made as many per second. */
	m.processes[1].ended = true;
	m.processes[1].ended_ns = RUN_BEGAN + 7 * NS_PER_S;
	run__finds_nothing(&m.run);
	/* In a container of their own, with the same parent or not. */
	m.processes[1].ended = false;
	m.processes[1].parent = 11;
	run__finds_nothing(&m.run);
	strcpy(m.processes[0].container, "c1");
	strcpy(m.processes[1].container, "c1");
	assert_int_equal(run__count(&m.run, "device-imbalance"), 1);
	strcpy(m.processes[1].container, "c2");
	run__finds_nothing(&m.run);
	run__end(&m.run);
	/* Each sees one GPU, as its device 0. */
	begin_ranks(&m);
	m.process_gpus[1][0].gpu = 1;
	m.process_gpus[1][1].gpu = 0;
	m.devices[1][0] = m.devices[1][1];
	m.devices[1][0].device = 0;
	work(&m.devices[1][1], 0, 0);
	assert_int_equal(run__count(&m.run, "device-imbalance"), 1);
	/* Whether it is the same GPU is unknown. */
	m.run.model.gpu_count = 0;
	run__finds_nothing(&m.run);
	run__end(&m.run);
}

static void test_no_ranks(void **state)
{
	struct machine m;

	(void)state;
	begin_ranks(&m);
	/* Another program. */
	strcpy(m.processes[1].comm, "serve");
	run__finds_nothing(&m.run);
	strcpy(m.processes[1].comm, "train");
	assert_int_equal(run__count(&m.run, "device-imbalance"), 1);
	/* Another program of the same name. */
	m.kernels[1][0].name = (char *)"conv";
	run__finds_nothing(&m.run);
	m.kernels[1][0].name = (char *)"gemm";
	assert_int_equal(run__count(&m.run, "device-imbalance"), 1);
	/* One after the other. */
	m.processes[1].start_ns = RUN_BEGAN + 9 * NS_PER_S;
	run__finds_nothing(&m.run);
	m.processes[1].start_ns = RUN_BEGAN;
	/* Started by init. */
	m.processes[0].parent = m.processes[1].parent = 1;
	run__finds_nothing(&m.run);
	m.processes[0].parent = m.processes[1].parent = 10;
	/* On one device. */
	m.devices[1][0] = m.devices[1][1];
	m.devices[1][0].device = 0;
	work(&m.devices[1][1], 0, 0);
	run__finds_nothing(&m.run);
	run__end(&m.run);
}

/* --- graph-recapture --- */

static void make_graphs(struct process *process, uint64_t graphs, uint64_t launches)
{
	struct function_totals *functions = process->functions;

	functions[0] = (struct function_totals){.row = row_of("cuStreamBeginCapture_v2"),
						.kind = CAPTURE_BEGIN,
						.calls = graphs,
						.ns = graphs * 1000};
	functions[1] = (struct function_totals){.row = row_of("cuStreamEndCapture"),
						.kind = CAPTURE_END,
						.calls = graphs,
						.ns = graphs * 9000};
	functions[2] = (struct function_totals){.row = row_of("cuGraphInstantiateWithFlags"),
						.kind = GRAPH_INSTANTIATE,
						.calls = graphs,
						.ns = graphs * 200000};
	functions[3] = (struct function_totals){.row = row_of("cuGraphExecDestroy"),
						.kind = GRAPH_DESTROY_EXEC,
						.calls = graphs,
						.ns = graphs * 10000};
	/* Neither function is part of it. */
	functions[4] = (struct function_totals){
		.row = row_of("cuGraphLaunch"), .calls = launches, .ns = launches * 1000000};
	functions[5] = (struct function_totals){.row = row_of("cuStreamIsCapturing"),
						.kind = CAPTURE_TOLD,
						.calls = graphs,
						.ns = graphs * 1000000};
	process->function_count = 6;
	process->objects[OBJECT_GRAPH_EXEC].created = graphs;
	process->graph_launches = launches;
}

static void test_recapture(void **state)
{
	struct function_totals functions[6];
	struct process process = {
		.pid = 12, .comm = "train", .start_ns = RUN_BEGAN, .functions = functions};
	struct run run;
	const struct finding *finding;

	(void)state;
	run__begin(&run, &process, 1);
	/* All of it happened between two samples. */
	make_graphs(&process, 100, 200);
	run.model.now_ns = RUN_BEGAN + NS_PER_S;
	finding = run__only(&run, "graph-recapture");
	assert_int_equal(run.list.count, 1);
	assert_int_equal(finding->cost_ns, 100 * 220000);
	assert_int_equal(finding->saving_ns, 99 * 220000);
	assert_string_equal(finding->evidence,
			    "100 executable graphs were instantiated (200 us each) and 100 streams "
			    "captured, for 200 graph launches: "
			    "2.00 of each graph; captures took 1.0 ms, instantiations 20.0 ms, "
			    "destroying graphs 1.0 ms: 2.2 % of the "
			    "time");
	/* A sample was taken in between. */
	make_graphs(&process, 50, 100);
	run__sample(&run, 0.5);
	make_graphs(&process, 100, 200);
	run__sample(&run, 1);
	assert_int_equal(run__count(&run, "graph-recapture"), 1);
	/* Launched often enough, or too little to matter. */
	make_graphs(&process, 100, 401);
	run__finds_nothing(&run);
	make_graphs(&process, 100, 400);
	assert_int_equal(run__count(&run, "graph-recapture"), 1);
	run.model.now_ns = RUN_BEGAN + 10 * NS_PER_S;
	run__finds_nothing(&run);
	run__end(&run);
}

/* Graphs of many sizes are made at the start and launched afterwards, as inference servers do. */
static void test_captured_at_start(void **state)
{
	struct function_totals functions[6];
	struct process process = {
		.pid = 12, .comm = "serve", .start_ns = RUN_BEGAN, .functions = functions};
	struct run run;

	(void)state;
	run__begin(&run, &process, 1);
	run__set(&run, "graph-recapture.share=0.1%");
	for (uint64_t t = 1; t <= 10; t++) {
		make_graphs(&process, 60 * t, 0);
		run__sample(&run, (double)t);
	}
	/* The last ones are made just before the first launches. */
	make_graphs(&process, 609, 5);
	run__sample(&run, 11);
	for (uint64_t t = 1; t <= 10; t++) {
		make_graphs(&process, 609, 5 + t * 10);
		run__sample(&run, 11 + (double)t / 10);
		run__finds_nothing(&run);
	}
	run__end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oom),
		cmocka_unit_test(test_oom_with_a_report),
		cmocka_unit_test(test_oom_without_holders),
		cmocka_unit_test(test_oom_near),
		cmocka_unit_test(test_oom_near_by_and_by),
		cmocka_unit_test(test_first_steps),
		cmocka_unit_test(test_server_holds_still),
		cmocka_unit_test(test_unequal_devices),
		cmocka_unit_test(test_unequal_ranks),
		cmocka_unit_test(test_no_ranks),
		cmocka_unit_test(test_recapture),
		cmocka_unit_test(test_captured_at_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
