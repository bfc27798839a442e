// SPDX-License-Identifier: BSD-2-Clause
// The tables of `gpuprobe stat` as comma-separated values, on a run made by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stat_scene.h"

static const char expected[] =
	"threads,seconds,pid,comm,tid,thread,watched_ns,launch_ns,memory_ns,copy_ns,wait_ns,other_"
	"ns,outside_ns,"
	"launch_calls,memory_calls,copy_calls,wait_calls,other_calls,launches,chained,gap_average_"
	"ns,gap_p50_ns,gap_p99_ns\n"
	"threads,10,12,\"ser,\"\"ver\",all,,14000000000,2000000000,4000000000,0,500000000,0,"
	"7500000000,100,4,0,3,0,,,,,\n"
	"threads,10,12,\"ser,\"\"ver\",13,wor\\nker,4000000000,0,4000000000,0,0,0,0,0,4,0,0,0,0,0,,"
	",\n"
	"threads,10,12,\"ser,\"\"ver\",12,server,10000000000,2000000000,0,0,500000000,0,7500000000,"
	"100,0,0,3,0,100,90,"
	"2000,2016,2016\n"
	"functions,seconds,pid,comm,function,layer,calls,errors,total_ns,average_ns,p50_ns,p99_ns,"
	"max_ns\n"
	"functions,10,12,\"ser,\"\"ver\",cuMemAlloc_v2,driver,4,1,4000000000,1000000000,989855744,"
	"989855744,1000000000\n"
	"functions,10,12,\"ser,\"\"ver\",cuLaunchKernel,driver,100,0,2000000000,20000000,20000000,"
	"20000000,20000000\n"
	"kernels,seconds,pid,comm,kernel,launches,captured,samples,blocks_min,blocks_max,threads_"
	"min,threads_max,gaps,"
	"gap_min_ns,gap_average_ns,gap_max_ns\n"
	"kernels,10,12,\"ser,\"\"ver\",void "
	"conv<int>(float*),60,0,2,1,4096,256,256,2,1000,1500,2000\n"
	"kernels,10,12,\"ser,\"\"ver\",,40,0,0,,,,,0,,,\n"
	"copies,seconds,pid,comm,kind,mode,host,device,from_bytes,calls,bytes,ns\n"
	"copies,10,12,\"ser,\"\"ver\",H2D,sync,pageable,0,4096,30,122880,0\n"
	"copies,10,12,\"ser,\"\"ver\",H2D,sync,pageable,0,1048576,10,10485760,10000000\n"
	"copies,10,12,\"ser,\"\"ver\",H2D,sync,pageable,,4096,30,122880,0\n"
	"copies,10,12,\"ser,\"\"ver\",H2D,sync,pageable,,1048576,10,10485760,10000000\n"
	"allocations,seconds,pid,comm,function,memory,device,bytes,allocations,allocation_ns,frees,"
	"free_ns,live,peak\n"
	"allocations,10,12,\"ser,\"\"ver\",cuMemAlloc_v2,device,0,1073741824,4,4000000000,3,300,1,"
	"2\n"
	"unreturned,seconds,pid,comm,tid,thread,function,layer,ns,ended\n"
	"errors,seconds,pid,comm,function,layer,code,error,count\n"
	"errors,10,12,\"ser,\"\"ver\",cuMemAlloc_v2,driver,2,CUDA_ERROR_OUT_OF_MEMORY,1\n"
	"findings,seconds,pid,comm,tid,severity,id,subject,evidence,cost_seconds,cost_share,saving_"
	"seconds,assumption\n"
	"findings,10,12,\"ser,\"\"ver\",,critical,oom,,,,,,\n"
	"findings,10,12,\"ser,\"\"ver\",13,warning,alloc-churn,cudaMalloc of 1.0 GiB,\"4 times, "
	"1.0 s each; of "
	"\"\"a,b\"\"\\t\",4,0.8,3,one is kept\n"
	"lost,seconds,reason,count\n"
	"lost,10,ring_full,3\n";

static void begin(struct scene *scene)
{
	scene__begin(scene);
	strcpy(scene->processes[0].comm, "ser,\"ver");
	scene->copies[1].key.device = DEVICE_UNKNOWN;
	scene->model.lost[LOSS_RING_FULL] = 3;
	scene__findings(scene);
}

static void test_tables(void **state)
{
	struct scene scene;
	char *text;

	(void)state;
	begin(&scene);
	text = scene__print(&scene, stat_csv__print);
	assert_string_equal(text, expected);
	free(text);
	scene__end(&scene);
}

/* Each table by itself is the same without the first column. */
static void test_single_tables(void **state)
{
	static const char *const names[STAT_CSV_TABLES] = {
		"threads",    "functions", "kernels",  "copies",   "allocations",
		"unreturned", "errors",	   "findings", "sampling", "lost"};
	struct scene scene;
	char *all, *text = NULL;
	size_t length;

	(void)state;
	begin(&scene);
	scene.model.sampling.max_overhead = 0.05;
	all = scene__print(&scene, stat_csv__print);
	for (size_t i = 0; i < STAT_CSV_TABLES; i++) {
		FILE *out = open_memstream(&text, &length);
		char *line = all;

		assert_string_equal(stat_csv__table(i), names[i]);
		stat_csv__print_table(out, &scene.report, i);
		assert_int_equal(fclose(out), 0);
		for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
			while (strncmp(line, names[i], strlen(names[i])))
				line = strchr(line, '\n') + 1;
			line += strlen(names[i]) + 1;
			assert_memory_equal(at, line, (size_t)(end + 1 - at));
			line = strchr(line, '\n') + 1;
		}
		assert_int_not_equal(strncmp(line, names[i], strlen(names[i])), 0);
		free(text);
	}
	free(all);
	scene__end(&scene);
}

/* Number of fields in a line; quoted ones are one field. */
static int count_fields(const char *line, const char *end)
{
	bool quoted = false;
	int fields = 1;

	for (; line < end; line++) {
		quoted ^= *line == '"';
		fields += *line == ',' && !quoted;
	}
	assert_false(quoted);
	return fields;
}

/* Each table is a rectangle, whatever the names contain. */
static void test_rectangles(void **state)
{
	struct scene scene;
	char *text, table[32] = "";
	int columns = 0;

	(void)state;
	begin(&scene);
	text = scene__print(&scene, stat_csv__print);
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		char name[32] = "";

		memcpy(name, line, strcspn(line, ","));
		if (strcmp(name, table))
			columns = count_fields(line, end);
		strcpy(table, name);
		assert_int_equal(count_fields(line, end), columns);
	}
	free(text);
	scene__end(&scene);
}

/* Later reports print only rows, so that all reports of a run form one table each. */
static void test_later(void **state)
{
	struct scene scene;
	char *text;

	(void)state;
	begin(&scene);
	scene.report.number = 1;
	text = scene__print(&scene, stat_csv__print);
	assert_null(strstr(text, "seconds"));
	assert_int_equal(strncmp(text, "threads,10,12,", 14), 0);
	free(text);
	scene__end(&scene);
}

/* Averages are whole nanoseconds, as all other times. */
static void test_whole(void **state)
{
	struct scene scene;
	char *text;

	(void)state;
	begin(&scene);
	scene.threads[0].gap_count = 7;
	scene.threads[0].gap_ns = 20;
	scene.kernels[0].shape.gaps = 3;
	scene.kernels[0].shape.gap_ns = 4000;
	text = scene__print(&scene, stat_csv__print);
	assert_non_null(strstr(text, ",100,90,2,"));
	assert_non_null(strstr(text, ",3,1000,1333,2000\n"));
	free(text);
	scene__end(&scene);
}

/*
 * No text can be evaluated by a spreadsheet; numbers and texts that only contain such characters
 * are unchanged.
 */
static void test_formulas(void **state)
{
	static const struct {
		const char *comm, *field;
	} cases[] = {
		{"=1+1", "'=1+1"},
		{"+a", "'+a"},
		{"-a", "'-a"},
		{"@a", "'@a"},
		{"=1,\"", "\"'=1,\"\"\""},
		{"\xef\xbc\x9d"
		 "a",
		 "'\xef\xbc\x9d"
		 "a"},
		{"\xef\xbc\xa0"
		 "a",
		 "'\xef\xbc\xa0"
		 "a"},
		{"\t=a", "\\t=a"},
		{"\r=a", "\\r=a"},
		{"a=b", "a=b"},
		{"'a", "'a"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene;
		char *text, wanted[64];

		begin(&scene);
		strcpy(scene.processes[0].comm, cases[i].comm);
		text = scene__print(&scene, stat_csv__print);
		snprintf(wanted, sizeof(wanted), "\nfunctions,10,12,%s,cuMemAlloc_v2,",
			 cases[i].field);
		assert_non_null(strstr(text, wanted));
		free(text);
		scene__end(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),	   cmocka_unit_test(test_single_tables),
		cmocka_unit_test(test_rectangles), cmocka_unit_test(test_later),
		cmocka_unit_test(test_whole),	   cmocka_unit_test(test_formulas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
