// SPDX-License-Identifier: BSD-2-Clause
// The JSON report of models built by hand, compared to the letter.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "model_builder.h"
#include "output/json/report.h"

static char *print(const struct model *model)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	report_json__print(out, model, NULL, NULL, NULL);
	assert_int_equal(fclose(out), 0);
	return text;
}

#define LOSS_ZERO(id, name, text) "\"" name "\":0,"

/* The object that ends every report when nothing was lost; its last comma is left out below. */
static char *with_losses(const char *start)
{
	static const char zeros[] = LOSSES(LOSS_ZERO);
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	fprintf(out, "%s\"lost\":{%.*s}}\n", start, (int)strlen(zeros) - 1, zeros);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void expect_report(const struct model *model, const char *start)
{
	char *text = print(model), *expected = with_losses(start);

	assert_string_equal(text, expected);
	free(text);
	free(expected);
}

#define NONE_WITH_CONTEXT \
	"\"never_live\":0,\"replaced\":0,\"with_context\":0,\"with_context_bytes\":0,"
#define NO_SIDES \
	"\"pinned\":{\"calls\":0,\"bytes\":0},\"pageable\":{\"calls\":0,\"bytes\":0}," \
	"\"captured\":{\"calls\":0,\"bytes\":0}"
#define NO_MEMORY_TOTALS \
	"{\"allocations\":0,\"allocation_failures\":0,\"allocation_ns\":0,\"frees\":0," \
	"\"free_failures\":0,\"unknown_frees\":0," NONE_WITH_CONTEXT \
	"\"live_bytes\":0,\"live_allocations\":0}"

static void writes_an_empty_report(void **state)
{
	struct model model = {
		.wall = {.tv_sec = 1767357434, .tv_nsec = 1234567},
		.now_ns = 99,
		.sections = SECTION_ALL,
		.launch_sample = 64,
		.final = true,
	};

	(void)state;
	expect_report(&model,
		      "{\"schema\":1,\"time\":\"2026-01-02T12:37:14.001234Z\",\"boot_ns\":99,"
		      "\"final\":true,\"sections\":[\"memory\",\"launches\",\"copies\"],"
		      "\"launch_sample\":64,"
		      "\"totals\":{\"processes\":0,\"device_memory\":" NO_MEMORY_TOTALS
		      ",\"host_memory\":" NO_MEMORY_TOTALS
		      ",\"live_at_exit_bytes\":0,\"live_at_exit_allocations\":0,"
		      "\"launches\":0,\"kernels\":0,\"captured_launches\":0,"
		      "\"graph_launches\":0,\"graph_kernels\":0,"
		      "\"graph_launches_of_unknown_size\":0},"
		      "\"processes\":[],\"gpus\":[],\"libraries\":0,"
		      "\"probes_attached\":{\"runtime\":0,\"driver\":0,\"library\":0},\"functions_"
		      "missing\":0,");
}

static void writes_memory(void **state)
{
	struct allocation live[] = {
		{.address = 0x7989d8000000,
		 .size = 8000000,
		 .start_ns = 77,
		 .kind = MEMORY_DEVICE,
		 .device = 1},
		{.address = 0xffffffffffffffff,
		 .size = 1,
		 .start_ns = 78,
		 .kind = MEMORY_HOST,
		 .device = DEVICE_UNKNOWN},
	};
	struct allocation freed[] = {{.address = 0x10, .kind = MEMORY_POOL}};
	struct process p = {
		.pid = 5,
		.comm = "a\"\xff",
		.start_ns = 3,
		.ended = true,
		.ended_ns = 4,
		.memory[MEMORY_DEVICE] =
			{
				.allocations = 1,
				.allocation_failures = 2,
				.allocation_ns = 3,
				.frees = 4,
				.free_failures = 5,
				.unknown_frees = 6,
				.live_bytes = 7,
				.live_count = 8,
				.never_live = 21,
				.replaced = 22,
				.with_context = 1,
				.with_context_bytes = 99,
			},
		.memory[MEMORY_HOST] = {.allocations = UINT64_MAX},
		.live_at_exit_bytes = 9,
		.live_at_exit_count = 10,
		.live = live,
		.live_listed = 2,
		.freed = freed,
		.freed_listed = 1,
		.freed_unlisted = 11,
	};
	struct model model = {
		.sections = SECTION_MEMORY,
		.launch_sample = 1,
		.processes = &p,
		.process_count = 1,
		.libraries = 2,
		.probes_attached = {3, 4},
		.sites_missing = 5,
	};

	(void)state;
	expect_report(
		&model,
		"{\"schema\":1,\"time\":\"1970-01-01T00:00:00.000000Z\",\"boot_ns\":0,"
		"\"final\":false,\"sections\":[\"memory\"],\"launch_sample\":1,"
		"\"totals\":{\"processes\":1,\"device_memory\":{\"allocations\":1,"
		"\"allocation_failures\":2,\"allocation_ns\":3,\"frees\":4,\"free_failures\":5,"
		"\"unknown_frees\":6,\"never_live\":21,\"replaced\":22,\"with_context\":1,\"with_"
		"context_bytes\":99,"
		"\"live_bytes\":0,\"live_allocations\":0},"
		"\"host_memory\":{\"allocations\":18446744073709551615,\"allocation_failures\":0,"
		"\"allocation_ns\":0,\"frees\":0,\"free_failures\":0,\"unknown_frees\":"
		"0," NONE_WITH_CONTEXT "\"live_bytes\":0,\"live_allocations\":0},"
		"\"live_at_exit_bytes\":9,\"live_at_exit_allocations\":10},"
		"\"processes\":[{\"pid\":5,\"comm\":\"a\\\"\xef\xbf\xbd\",\"start_ns\":3,"
		"\"since_attach\":false,\"ended\":true,\"ended_ns\":4,\"memory\":{"
		"\"device\":{\"allocations\":1,\"allocation_failures\":2,\"allocation_ns\":3,"
		"\"frees\":4,\"free_failures\":5,\"unknown_frees\":6,"
		"\"never_live\":21,\"replaced\":22,\"with_context\":1,\"with_context_bytes\":99,"
		"\"live_bytes\":7,"
		"\"live_allocations\":8},"
		"\"managed\":" NO_MEMORY_TOTALS ",\"pool\":" NO_MEMORY_TOTALS ","
		"\"host\":{\"allocations\":18446744073709551615,\"allocation_failures\":0,"
		"\"allocation_ns\":0,\"frees\":0,\"free_failures\":0,\"unknown_frees\":"
		"0," NONE_WITH_CONTEXT "\"live_bytes\":0,\"live_allocations\":0},"
		"\"registered\":" NO_MEMORY_TOTALS ",\"array\":" NO_MEMORY_TOTALS ","
		"\"physical\":" NO_MEMORY_TOTALS ",\"imported\":" NO_MEMORY_TOTALS ","
		"\"reserved\":" NO_MEMORY_TOTALS ",\"mapped\":" NO_MEMORY_TOTALS ","
		"\"unknown\":" NO_MEMORY_TOTALS ","
		"\"live_at_exit_bytes\":9,\"live_at_exit_allocations\":10,"
		"\"double_frees\":0,\"captured_allocations\":0,\"captured_frees\":0,\"pools\":[],"
		"\"live\":[{\"address\":\"0x7989d8000000\",\"bytes\":8000000,\"kind\":\"device\","
		"\"device\":1,\"start_ns\":77},{\"address\":\"0xffffffffffffffff\",\"bytes\":1,"
		"\"kind\":\"host\",\"device\":null,\"start_ns\":78}],"
		"\"freed\":[{\"address\":\"0x10\",\"kind\":\"pool\"}],\"freed_unlisted\":11},"
		"\"objects\":{},\"errors\":[],\"sticky_error\":null,\"devices\":[],\"functions\":[]"
		"}],"
		"\"gpus\":[],\"libraries\":2,"
		"\"probes_attached\":{\"runtime\":3,\"driver\":4,\"library\":0},\"functions_"
		"missing\":5,");
}

static void writes_launches_copies_waits_and_errors(void **state)
{
	struct kernel kernels[] = {
		KERNEL(0x10, "void a::k<int>(int*)", "k", 20, 1),
		KERNEL(0x20, NULL, NULL, 3, 0),
	};
	struct failure failures[] = {
		FAILURE("cuLaunchKernel", "CUDA_ERROR_INVALID_HANDLE", 400, LAYER_DRIVER, 2, true),
		FAILURE("cudaFree", NULL, -1, LAYER_RUNTIME, 1, false),
	};
	struct process p[] = {
		{.pid = 4, .comm = "told", .ended = true, .reported_end = true, .launches = 7},
		{
			.pid = 6,
			.comm = "x",
			.since_attach = true,
			.kernels = kernels,
			.kernel_count = 2,
			.launches = 23,
			.graph_launches = 2,
			.copies[COPY_H2D] =
				{
					{.calls = 1, .bytes = 3, .ns = 2},
					{.calls = 4,
					 .bytes = 5,
					 .ns = 6,
					 .pinned_calls = 1,
					 .pinned_bytes = 2,
					 .pageable_calls = 3,
					 .pageable_bytes = 4,
					 .captured_calls = 5,
					 .captured_bytes = 6},
				},
			.copies[COPY_SET][0] = {.calls = 7, .bytes = 8},
			.covered[COPY_H2D] = {3, 40, 2},
			.objects[OBJECT_MODULE] = {1, 2, 3, 4, 5, 6, 7, 8},
			.sticky = {719, 4, 5, 6},
			.inflight[COPY_H2D] = {9, 10, 11},
			.inflight[COPY_P2P] = {1, 2, 3},
			.waits[WAIT_STREAM] = {12, 13},
			.waits[WAIT_CONTEXT] = {1, 0},
			.copy_waits = {8, 2},
			.free_waits = {14, 15},
			.queries[WAIT_EVENT] = {17, 16},
			.failures = failures,
			.failure_count = 2,
		},
	};
	struct model model = {
		.sections = SECTION_LAUNCH | SECTION_COPY,
		.launch_sample = 64,
		.processes = p,
		.process_count = 2,
	};

	(void)state;
	expect_report(
		&model,
		"{\"schema\":1,\"time\":\"1970-01-01T00:00:00.000000Z\",\"boot_ns\":0,"
		"\"final\":false,\"sections\":[\"launches\",\"copies\"],\"launch_sample\":64,"
		"\"totals\":{\"processes\":1,\"launches\":23,\"kernels\":2,"
		"\"captured_launches\":0,\"graph_launches\":2,\"graph_kernels\":0,"
		"\"graph_launches_of_unknown_size\":0},"
		"\"processes\":[{\"pid\":6,\"comm\":\"x\",\"start_ns\":0,\"since_attach\":true"
		",\"before_attach\":{\"allocated_bytes\":null,\"objects\":null,\"nvml_used_bytes\":"
		"null},"
		"\"ended\":false,\"launches\":23,\"graph_launches\":2,\"graph_kernels\":0,"
		"\"graph_launches_of_unknown_size\":0,\"graph_sizes\":[],\"host_functions\":0,"
		"\"captured\":{\"launches\":0,\"graph_launches\":0,\"host_functions\":0},"
		"\"first_launches\":{\"calls\":0,\"ns\":0},"
		"\"kernels\":[{\"handle\":\"0x10\",\"name\":\"void a::k<int>(int*)\","
		"\"short_name\":\"k\",\"label\":\"k\",\"launches\":20,\"captured\":0,\"serial\":1,"
		"\"shape\":null},"
		"{\"handle\":\"0x20\",\"name\":null,\"short_name\":null,\"label\":null,"
		"\"launches\":3,"
		"\"captured\":0,\"serial\":0,\"shape\":null}],\"steps\":null,"
		"\"copies\":[{\"kind\":\"H2D\",\"mode\":\"sync\",\"calls\":1,\"bytes\":3,\"ns\":2,"
		"\"bytes_per_second\":1500000000," NO_SIDES "},"
		"{\"kind\":\"H2D\",\"mode\":\"async\",\"calls\":4,\"bytes\":5,\"ns\":6,"
		"\"pinned\":{\"calls\":1,\"bytes\":2},\"pageable\":{\"calls\":3,\"bytes\":4},"
		"\"captured\":{\"calls\":5,\"bytes\":6},\"covered\":{\"calls\":3,\"bytes\":40,"
		"\"ns\":2,"
		"\"at_least_bytes_per_second\":20000000000},"
		"\"in_flight\":{\"calls\":9,\"bytes\":10,\"oldest_ns\":11}},"
		"{\"kind\":\"P2P\",\"mode\":\"async\",\"calls\":0,\"bytes\":0,\"ns\":0," NO_SIDES
		",\"covered\":{\"calls\":0,\"bytes\":0,\"ns\":0},"
		"\"in_flight\":{\"calls\":1,\"bytes\":2,\"oldest_ns\":3}},"
		"{\"kind\":\"set\",\"mode\":\"sync\",\"calls\":7,\"bytes\":8,\"ns\":0," NO_SIDES
		"}],"
		"\"waits\":[{\"in\":\"stream\",\"calls\":12,\"ns\":13},"
		"{\"in\":\"device\",\"calls\":1,\"ns\":0},"
		"{\"in\":\"copy\",\"calls\":8,\"ns\":2},{\"in\":\"free\",\"calls\":14,\"ns\":15}],"
		"\"queries\":[{\"of\":\"event\",\"calls\":17,\"not_ready\":16}],"
		"\"objects\":{\"module\":{\"created\":1,\"destroyed\":2,\"unknown_destroyed\":3,"
		"\"with_context\":4,\"live\":5,\"create_ns\":6,\"created_in_launches\":7,"
		"\"create_in_launches_ns\":8}},"
		"\"errors\":[{\"function\":\"cuLaunchKernel\",\"layer\":\"driver\","
		"\"error\":\"CUDA_ERROR_INVALID_HANDLE\",\"code\":400,\"count\":2,"
		"\"first_ns\":0,\"last_ns\":0,\"sampled\":true},{\"function\":\"cudaFree\","
		"\"layer\":\"runtime\","
		"\"error\":null,\"code\":-1,\"count\":1,\"first_ns\":0,\"last_ns\":0,"
		"\"sampled\":false}],\"sticky_error\":{\"code\":719,"
		"\"error\":\"cudaErrorLaunchFailure\",\"since_ns\":4,\"later_same\":5,"
		"\"later_others\":6},"
		"\"devices\":[],\"functions\":[]}],\"gpus\":[],\"libraries\":0,"
		"\"probes_attached\":{\"runtime\":0,\"driver\":0,\"library\":0},\"functions_"
		"missing\":0,");
}

static void writes_what_was_counted_by_function_and_device(void **state)
{
	struct function_totals functions[] = {
		{.row = (uint16_t)api__find("cudaMemcpyBatchAsync", 12),
		 .flags = TALLY_PINNED | TALLY_CAPTURED,
		 .kind = COPY_DEFAULT,
		 .device = 1,
		 .calls = 2,
		 .failures = 3,
		 .bytes = 4,
		 .ns = 5},
		{.row = (uint16_t)api__find("cuCtxSetCurrent", API_NEWEST),
		 .device = DEVICE_UNKNOWN,
		 .calls = 1},
	};
	struct device_totals devices[] = {
		{.device = 0,
		 .launches = 1,
		 .allocations = 2,
		 .live_bytes = 3,
		 .live_count = 4,
		 .copies = 5,
		 .copy_bytes = 6,
		 .wait_ns = 7},
		{.device = DEVICE_UNKNOWN, .launches = 8},
	};
	struct process p = {
		.pid = 6,
		.comm = "x",
		.functions = functions,
		.function_count = 2,
		.devices = devices,
		.device_count = 2,
	};
	struct model model = {.sections = SECTION_ALL, .processes = &p, .process_count = 1};
	char *text = print(&model);

	(void)state;
	assert_non_null(strstr(
		text,
		"\"devices\":[{\"device\":0,\"launches\":1,\"allocations\":2,\"live_bytes\":3,"
		"\"live_allocations\":4,\"copies\":5,\"copy_bytes\":6,\"wait_ns\":7},"
		"{\"device\":null,\"launches\":8,\"allocations\":0,\"live_bytes\":0,"
		"\"live_allocations\":0,\"copies\":0,\"copy_bytes\":0,\"wait_ns\":0}],"
		"\"functions\":[{\"function\":\"cudaMemcpyBatchAsync\",\"layer\":\"runtime\","
		"\"kind\":\"unknown\",\"flags\":[\"captured\",\"pinned\"],\"device\":1,"
		"\"calls\":2,\"failures\":3,\"bytes\":4,\"ns\":5},"
		"{\"function\":\"cuCtxSetCurrent\",\"layer\":\"driver\",\"kind\":\"-\","
		"\"flags\":[],\"device\":null,\"calls\":1,\"failures\":0,\"bytes\":0,"
		"\"ns\":0}]}],"));
	free(text);
}

static void writes_who_a_process_is_and_its_gpus(void **state)
{
	struct gpu gpus[] = {
		{.index = 3,
		 .mig = GPU_NONE,
		 .uuid = "GPU-a",
		 .name = "NVIDIA \"H200\"",
		 .bus_id = "00000000:06:00.0",
		 .total_bytes = 100,
		 .used_bytes = 60},
		{.index = 4,
		 .mig = 1,
		 .total_bytes = GPU_UNKNOWN_BYTES,
		 .used_bytes = GPU_UNKNOWN_BYTES},
	};
	struct process_gpu of[] = {
		{.ordinal = 0, .gpu = 1, .used_bytes = 50, .untracked_bytes = GPU_UNKNOWN_BYTES},
		{.ordinal = GPU_NONE,
		 .gpu = GPU_NONE,
		 .used_bytes = GPU_UNKNOWN_BYTES,
		 .untracked_bytes = 0},
	};
	struct process p[] = {
		{.pid = 6,
		 .comm = "x",
		 .identified = true,
		 .parent = 1,
		 .uid = 1000,
		 .user = "ann",
		 .namespace_pid = 7,
		 .cgroup_known = true,
		 .container = "c0ffee",
		 .gpus = of,
		 .gpu_count = 2},
		{.pid = 8, .comm = "y", .identified = true, .user = "0"},
	};
	struct model model = {
		.sections = SECTION_COPY,
		.processes = p,
		.process_count = 2,
		.gpus = gpus,
		.gpu_count = 2,
	};
	char *text = print(&model);

	(void)state;
	assert_non_null(strstr(text,
			       "{\"pid\":6,\"comm\":\"x\",\"ppid\":1,\"uid\":1000,\"user\":\"ann\","
			       "\"container\":\"c0ffee\",\"pod\":null,\"namespace_pid\":7,"));
	assert_non_null(strstr(
		text, "\"gpus\":[{\"ordinal\":0,\"gpu\":\"4:1\",\"uuid\":null,\"used_bytes\":50,"
		      "\"untracked_bytes\":null},{\"ordinal\":null,\"gpu\":null,\"uuid\":null,"
		      "\"used_bytes\":null,\"untracked_bytes\":0}],\"copies\""));
	assert_non_null(strstr(
		text, "{\"pid\":8,\"comm\":\"y\",\"ppid\":null,\"uid\":0,\"user\":\"0\","
		      "\"container\":\"unknown\",\"pod\":\"unknown\",\"namespace_pid\":null,"));
	assert_non_null(
		strstr(text, "\"gpus\":[{\"gpu\":\"3\",\"index\":3,\"mig\":null,\"uuid\":\"GPU-a\","
			     "\"name\":\"NVIDIA \\\"H200\\\"\",\"pci_bus_id\":\"00000000:06:00.0\","
			     "\"total_bytes\":100,\"used_bytes\":60,\"busy_percent\":0},{\"gpu\":"
			     "\"4:1\",\"index\":4,"
			     "\"mig\":1,\"uuid\":null,\"name\":null,\"pci_bus_id\":null,"
			     "\"total_bytes\":null,\"used_bytes\":null,\"busy_percent\":0}],"
			     "\"libraries\""));
	free(text);
}

static void writes_no_waits_as_empty_lists(void **state)
{
	struct process p = {.pid = 6, .comm = "x"};
	struct model model = {.sections = SECTION_COPY, .processes = &p, .process_count = 1};
	char *text = print(&model);

	(void)state;
	assert_non_null(strstr(text, "\"copies\":[],\"waits\":[],\"queries\":[],"
				     "\"objects\":{},\"errors\":[],"));
	free(text);
	model.sections = SECTION_LAUNCH;
	text = print(&model);
	assert_null(strstr(text, "\"waits\""));
	free(text);
}

static void names_what_was_lost(void **state)
{
	struct model model = {.sections = SECTION_COPY};
	char *text;

	(void)state;
	model.lost[LOSS_RING_FULL] = 1203;
	text = print(&model);
	assert_non_null(strstr(text, "\"ring_full\":1203,"));
	/* It is one line. */
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_an_empty_report),
		cmocka_unit_test(writes_memory),
		cmocka_unit_test(writes_launches_copies_waits_and_errors),
		cmocka_unit_test(writes_what_was_counted_by_function_and_device),
		cmocka_unit_test(writes_who_a_process_is_and_its_gpus),
		cmocka_unit_test(writes_no_waits_as_empty_lists),
		cmocka_unit_test(names_what_was_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
