// SPDX-License-Identifier: BSD-2-Clause
// The account as text, JSON, comma-separated values and metrics.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account/account.h"
#include "base/clock.h"
#include "metrics_scene.h"
#include "output/account/account.h"

#define HOUR (3600 * NS_PER_S)
#define GIB_HOUR (3600.0 * (1ull << 30))
#define END (INT64_C(1795856400) * (int64_t)NS_PER_S)

static struct account_group idle = {
	.name = "418822",
	.job = ACCOUNT_SLURM,
	.user = "ann",
	.processes = 4,
	.alive = 4,
	.held_ns = 96 * HOUR,
	.work_least_ns = 3 * HOUR,
	.work_most_ns = 4 * HOUR,
	.memory = {7104 * GIB_HOUR, 7104 * GIB_HOUR, 7104 * GIB_HOUR},
	.last_call_ns = END - 31 * (int64_t)HOUR,
	.gpus = 4,
	.idle_gpus = 4,
};
static struct account_group busy = {
	.user = "b\x1b[31mob, =1",
	.processes = 1,
	.alive = 1,
	.held_ns = 24 * HOUR,
	.work_least_ns = 22 * HOUR,
	.work_most_ns = 23 * HOUR,
	.memory = {100 * GIB_HOUR, 90 * GIB_HOUR, 120 * GIB_HOUR},
	.nvml_byte_seconds = 1,
	.last_call_ns = END,
	.gpus = 1,
};

static struct account_group total = {
	.held_ns = 120 * HOUR,
	.work_most_ns = 27 * HOUR,
	.memory = {7204 * GIB_HOUR, 7194 * GIB_HOUR, 7224 * GIB_HOUR},
	.gpus = 5,
	.idle_gpus = 4,
};

static struct account_group *groups[] = {&idle, &busy};
static const struct account_list list = {
	.groups = groups,
	.count = 2,
	.total = &total,
	.from_ns = END - 24 * (int64_t)HOUR,
	.to_ns = END,
	.lost = {[LOSS_NO_MEMORY] = 1234},
};

static char *printed(void (*print)(FILE *out, const struct account_list *list,
				   const struct account_output *output),
		     const struct account_list *of, bool is_recorded)
{
	const struct account_output output = {.idle_ns = 600 * NS_PER_S,
					      .is_recorded = is_recorded};
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	print(out, of, &output);
	fclose(out);
	return text;
}

static void expect_part(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void test_text(void **state)
{
	char *text;

	(void)state;
	setenv("TZ", "UTC", 1);
	text = printed(account_text__print, &list, false);
	expect_part(text,
		    "Use of GPUs from 2026-11-27 09:00:00 to 2026-11-28 09:00:00 (24 h 0 min), "
		    "by job\n\nUSER ");
	expect_part(text,
		    "418822     4     4   96 h 0 min    3 h 0 min to 4 h 0 min      6.9 TiB h  "
		    "31 h 0 min ago  << idle\n");
	expect_part(text, "b\\x1b[31mob, =1");
	expect_part(text, "~100.0 GiB h*  now\n");
	expect_part(text, "all ");
	expect_part(text, "~ off by more than 0.1 %, in all by 0.3 % at most");
	expect_part(text, "* with NVML's figure");
	expect_part(text, "\nlost: ");
	expect_part(text, ": 1,234\n");
	assert_null(strstr(text, "+ or more"));
	free(text);
	text = printed(account_text__print, &list, true);
	expect_part(text, "31 h 0 min before the end  << idle\n");
	expect_part(text, "at the end\n");
	free(text);
}

static void test_exact(void **state)
{
	const struct account_output output = {.idle_ns = 600 * NS_PER_S, .form = QUANTITY_EXACT};
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	account_text__print(out, &list, &output);
	fclose(out);
	expect_part(text, " (86,400,000,000,000 ns), by job\n");
	expect_part(text, "  345,600,000,000,000 ns  ");
	expect_part(text, "  10,800,000,000,000 ns to 14,400,000,000,000 ns  ");
	expect_part(text, "  7,627,861,917,696 bytes h  111,600,000,000,000 ns ago  << idle\n");
	free(text);
}

static void test_nothing(void **state)
{
	const struct account_list nothing = {.total = &total};
	char *text = printed(account_text__print, &nothing, false);

	(void)state;
	assert_string_equal(text, "No process has used a GPU.\n");
	free(text);
}

static void test_data(void **state)
{
	char *text = printed(account_json__print, &list, false);

	(void)state;
	expect_part(text, "{\"schema\":1,\"by\":\"job\",\"from\":1795770000,\"to\":1795856400,");
	expect_part(text, "{\"name\":\"418822\",\"job_kind\":\"slurm\",\"user\":\"ann\",\"other\":"
			  "false,\"processes\":4,\"processes_alive\":4,\"gpus\":4,\"gpus_idle\":4,"
			  "\"gpu_seconds\":345600,\"work_seconds_least\":10800,"
			  "\"work_seconds_most\":14400,");
	expect_part(text, "\"lost\":{");
	expect_part(text, ":1234,");
	expect_part(text, "{\"name\":null,\"job_kind\":null,\"user\":\"b\\u001b[31mob, =1\",");
	free(text);
	text = printed(account_csv__print, &list, false);
	expect_part(text, "job,job_kind,user,processes,");
	expect_part(text, "\n418822,slurm,ann,4,4,4,4,345600,10800,14400,");
	expect_part(text, "\n,,\"b\\x1b[31mob, =1\",1,1,1,0,86400,");
	free(text);
}

/* Two readings a second apart: a job's series, without a pid. */
static void test_metrics(void **state)
{
	struct workload job = {.slurm_job = "77"}, pod = {.namespace = "ml", .pod = "train-0"};
	struct device_totals device = {.device = 0, .launches = 1};
	struct process processes[2] = {
		{.pid = 1,
		 .comm = "x",
		 .identified = true,
		 .cgroup_known = true,
		 .user = "ann",
		 .workload = &job,
		 .devices = &device,
		 .device_count = 1,
		 .start_ns = NS_PER_S},
		{.pid = 2,
		 .comm = "x",
		 .identified = true,
		 .cgroup_known = true,
		 .user = "bob",
		 .workload = &pod,
		 .pod = "u-1",
		 .devices = &device,
		 .device_count = 1,
		 .start_ns = NS_PER_S},
	};
	struct model model = {.processes = processes,
			      .process_count = 2,
			      .sections = SECTION_ALL,
			      .now_ns = NS_PER_S,
			      .wall = {.tv_sec = 1000}};
	struct metrics *metrics = new_metrics(1);
	char *page;

	(void)state;
	processes[0].memory[MEMORY_DEVICE].live_bytes = 1000;
	free(render(metrics, &model, EXPOSITION_PROMETHEUS));
	model.now_ns = 3 * NS_PER_S + NS_PER_S / 2;
	model.wall.tv_sec = 1003;
	page = render(metrics, &model, EXPOSITION_PROMETHEUS);
	expect_part(page, "gpuprobe_account_gpu_seconds_total{user=\"ann\",slurm_job_id=\"77\","
			  "pbs_job_id=\"\",namespace=\"\",pod=\"\",pod_uid=\"\",unit=\"\"} 2.5");
	expect_part(page,
		    "gpuprobe_account_memory_byte_seconds_total{user=\"ann\",slurm_job_id="
		    "\"77\",pbs_job_id=\"\",namespace=\"\",pod=\"\",pod_uid=\"\",unit=\"\"} ");
	expect_part(page, "gpuprobe_account_gpus{user=\"bob\",slurm_job_id=\"\",pbs_job_id=\"\","
			  "namespace=\"ml\",pod=\"train-0\",pod_uid=\"u-1\",unit=\"\"} 1\n");
	expect_part(page,
		    "gpuprobe_account_idle_proved_seconds_total{user=\"bob\",slurm_job_id=\"\","
		    "pbs_job_id=\"\",namespace=\"ml\",pod=\"train-0\",pod_uid=\"u-1\","
		    "unit=\"\"} 0");
	free(page);
	metrics__free(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	cmocka_unit_test(test_exact),
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_data),
		cmocka_unit_test(test_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
