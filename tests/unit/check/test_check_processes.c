// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe check: its lines about libraries and running processes, and how they are printed.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "check/libraries.h"
#include "check/processes.h"
#include "built_elf.h"
#include "check_lines.h"
#include "api/api.h"
#include "output/check/check.h"
#include "target/cuda_library.h"
#include "target/proc.h"

/* clang-format off */
#define SYMBOL(name, n) {name, FUNCTION_VADDR(n), 64, 0, 1}
#define END {NULL, 0, 0, 0, 0}
/* clang-format on */

/* --- libraries --- */

static const struct test_symbol few[] = {SYMBOL("cuInit", 1), SYMBOL("cuMemAlloc_v2", 2),
					 SYMBOL("cuLaunchKernel", 3), END};

static void judge_one(const struct test_elf *elf, const char *path, pid_t pid,
		      struct check_list *list)
{
	struct checked_libraries libraries = {0};
	unsigned int layers;

	assert_int_equal(checked_libraries__add(&libraries, open_built(elf), path, pid, &layers),
			 0);
	assert_int_equal(
		check_libraries__judge(&libraries, &(struct looked_at){.given = false}, list), 0);
	checked_libraries__clear(&libraries);
}

/* Every driver function in the table, without forms for older libraries. */
static struct test_symbol *whole_driver(size_t room)
{
	struct test_symbol *symbols = calloc(api_function_count + room + 1, sizeof(*symbols));
	size_t count = 0;

	for (size_t row = 0; row < api_function_count; row++)
		if (api_functions[row].desc.layer == LAYER_DRIVER &&
		    api__find(api_functions[row].symbol, API_NEWEST) == (int)row)
			symbols[count] =
				(struct test_symbol)SYMBOL(api_functions[row].symbol, count + 1),
			count++;
	return symbols;
}

static void judges_a_whole_library(void **state)
{
	struct test_symbol *symbols = whole_driver(1);
	const struct test_elf elf = {.dynamic = symbols, .soname = "libcuda.so.1"};
	struct check_list list = {0};
	char expected[96];
	size_t count = count_symbols(symbols);

	(void)state;
	judge_one(&elf, "/usr/lib/libcuda.so.580.65.06", 0, &list);
	snprintf(expected, sizeof(expected), ": %zu of the table's %zu functions", count, count);
	expect_line(&list, "library", CHECK_OK, expected, NULL);
	expect_line(&list, "library", CHECK_OK, "(version 580.65.06, libcuda.so.1)", NULL);
	expect_fact(&list, "library", "", "version", "580.65.06");
	expect_fact(&list, "library", "", "layers", "driver");
	expect_fact(&list, "library", "", "probed_functions_missing", "");
	expect_line(&list, "slow-probes", CHECK_OK, "none; each of the ", NULL);
	assert_null(strstr(line_of(&list, "library", "")->text, "missing among"));
	check_list__clear(&list);

	/* One more, which the table does not have. */
	symbols[count] = (struct test_symbol)SYMBOL("cuMemAllocQuick", 2000);
	judge_one(&elf, "/usr/lib/libcuda.so.1", 12, &list);
	expect_line(&list, "library", CHECK_DEGRADED, "not in the table: cuMemAllocQuick (calls",
		    "newer gpuprobe");
	expect_line(&list, "library", CHECK_DEGRADED,
		    "/usr/lib/libcuda.so.1 of process 12 (libcuda.so.1)", "newer gpuprobe");
	expect_fact(&list, "library", "", "functions_not_in_table", "cuMemAllocQuick");
	expect_fact(&list, "library", "", "pid", "12");
	check_list__clear(&list);
	free(symbols);
}

static void judges_an_old_library(void **state)
{
	const struct test_elf elf = {.dynamic = few, .soname = "libcuda.so.1"};
	struct check_list list = {0};

	(void)state;
	judge_one(&elf, "/x/libcuda.so.1", 0, &list);
	expect_line(&list, "library", CHECK_OK, ": 3 of the table's ", NULL);
	expect_line(&list, "library", CHECK_OK,
		    "; missing among those that gpuprobe probes: ", NULL);
	expect_line(&list, "library", CHECK_OK, " more", NULL);
	expect_fact(&list, "library", "", "functions_found", "3");
	expect_fact(&list, "library", "", "functions_probed", "2"); /* cuInit is not probed */
	check_list__clear(&list);
}

static void names_slow_probes(void **state)
{
	const struct test_elf elf = {.dynamic = few, .first_byte = 0x48};
	struct check_list list = {0};

	(void)state;
	judge_one(&elf, "/x/libcuda.so.1", 0, &list);
	expect_line(&list, "slow-probes", CHECK_DEGRADED,
		    "2 of the 2 functions that the monitor probes begin", "--max-overhead");
	expect_line(&list, "slow-probes", CHECK_DEGRADED, ": cuMemAlloc_v2, cuLaunchKernel",
		    "--max-overhead");
	expect_fact(&list, "slow-probes", "", "slow_functions", "cuMemAlloc_v2,cuLaunchKernel");
	check_list__clear(&list);
}

static void knows_a_static_runtime(void **state)
{
	static const struct test_symbol inside[] = {SYMBOL("cudaMalloc", 1),
						    SYMBOL("cudaLaunchKernel", 2), END};
	const struct test_elf elf = {.full = inside, .interpreter = "/lib64/ld-linux-x86-64.so.2"};
	struct check_list list = {0};

	(void)state;
	judge_one(&elf, "/x/program", 0, &list);
	expect_line(&list, "library", CHECK_OK,
		    "/x/program (a program with the runtime inside): 2 of", NULL);
	assert_null(strstr(line_of(&list, "library", "/x/program")->text, "missing among"));
	/* And there is no driver. */
	expect_line(&list, "library", CHECK_MISSING, "no libcuda", "--libcuda-path");
	check_list__clear(&list);
}

static void misses_the_driver(void **state)
{
	struct checked_libraries libraries = {0};
	struct check_list list = {0};

	(void)state;
	assert_int_equal(
		check_libraries__judge(&libraries, &(struct looked_at){.given = false}, &list), 0);
	assert_int_equal(list.count, 1);
	expect_line(&list, "library", CHECK_MISSING, "no libcuda", "install NVIDIA's driver");
	check_list__clear(&list);
}

static void does_not_know_of_what_it_could_not_read(void **state)
{
	const struct looked_at looked[] = {
		{.given = true}, {.refused = 3}, {.unread = 1, .refused = 3}};
	static const char *const texts[] = {"nor any of these processes has one",
					    "3 processes could not be inspected",
					    "that of 1 process cannot be read"};
	struct checked_libraries libraries = {0};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct check_list list = {0};

		assert_int_equal(check_libraries__judge(&libraries, &looked[i], &list), 0);
		assert_non_null(strstr(list.lines[0].text, texts[i]));
		check_list__clear(&list);
	}
}

/* The file is cut short after its first reading. */
static void reports_of_a_damaged_library(void **state)
{
	const struct test_elf elf = {.dynamic = few};
	struct checked_libraries libraries = {0};
	struct elf_file *file = open_built(&elf);
	struct check_list list = {0};
	unsigned int layers;

	(void)state;
	assert_int_equal(checked_libraries__add(&libraries, file, "/x/libcuda.so.1", 0, &layers),
			 0);
	assert_int_equal(ftruncate(elf_file__fd(file), TEXT_OFFSET), 0);
	assert_int_equal(
		check_libraries__judge(&libraries, &(struct looked_at){.given = false}, &list), 0);
	expect_line(&list, "library", CHECK_MISSING,
		    "/x/libcuda.so.1 (without a soname): cannot read its symbols", "reinstall it");
	check_list__clear(&list);
	checked_libraries__clear(&libraries);
}

static void a_file_is_there_once(void **state)
{
	static const struct test_symbol other[] = {SYMBOL("main", 1), END};
	const struct test_elf elf = {.dynamic = few}, no_cuda = {.dynamic = other};
	struct elf_file *file = open_built(&elf), *again;
	struct checked_libraries libraries = {0};
	unsigned int layers;

	(void)state;
	assert_int_equal(elf_file__open_fd(dup(elf_file__fd(file)), "again", &again, NULL), 0);
	assert_int_equal(checked_libraries__add(&libraries, file, "/a", 0, &layers), 0);
	assert_int_equal(checked_libraries__add(&libraries, again, "/b", 1, &layers), 0);
	assert_int_equal(layers, LAYER_BIT(LAYER_DRIVER));
	assert_int_equal(checked_libraries__add(&libraries, open_built(&no_cuda), "/c", 0, &layers),
			 0);
	assert_int_equal(layers, 0);
	assert_int_equal(libraries.count, 1);
	assert_string_equal(libraries.libraries[0].path, "/a");
	checked_libraries__clear(&libraries);
}

static void versions_of_names(void **state)
{
	(void)state;
	assert_string_equal(library_version__of("/usr/lib/libcuda.so.580.65.06"), "580.65.06");
	assert_string_equal(library_version__of("libcudart.so.12.4.127"), "12.4.127");
	assert_null(library_version__of("/usr/lib/libcuda.so.1"));
	assert_null(library_version__of("/usr/lib.so.1.2/libcuda.so"));
	assert_null(library_version__of("/usr/lib/libcuda.so.1.2~"));
	assert_null(library_version__of("program"));
}

/* --- processes --- */

static struct process_library driver_library(void)
{
	return (struct process_library){.path = (char *)"/usr/lib/libcuda.so.1",
					.driver = true,
					.layers = LAYER_BIT(LAYER_DRIVER)};
}

static struct process_facts good_process(struct process_library *libraries, size_t count)
{
	return (struct process_facts){.pid = 12,
				      .comm = "train",
				      .libraries = libraries,
				      .library_count = count,
				      .bits = 64,
				      .python = -ENOENT};
}

static void expect_process(const struct process_facts *facts, bool filters_kill,
			   enum check_state state, const char *text, const char *advice)
{
	struct check_list list = {0};

	check_process__judge(facts, filters_kill, &list);
	assert_int_equal(list.count, 1);
	expect_line(&list, "process", state, text, advice);
	expect_fact(&list, "process", "", "pid", "12");
	check_list__clear(&list);
}

static void judges_processes(void **state)
{
	struct process_library libraries[2] = {
		driver_library(),
		{.path = (char *)"/x/libcudart.so.13", .layers = LAYER_BIT(LAYER_RUNTIME)}};
	struct process_facts facts = good_process(libraries, 2);

	(void)state;
	expect_process(&facts, false, CHECK_OK,
		       "process 12 (train) can be watched: libcuda.so.1, libcudart.so.13", NULL);
	facts.python = 0;
	facts.python_minor = 11;
	expect_process(&facts, false, CHECK_OK, "libcudart.so.13, CPython 3.11", NULL);
	facts.library_count = 1;
	facts.inside = true;
	expect_process(&facts, false, CHECK_OK, "libcuda.so.1, the runtime inside the program",
		       NULL);
	libraries[0].deleted = true; /* but it was opened */
	expect_process(&facts, false, CHECK_OK, "libcuda.so.1 (deleted)", NULL);
	strcpy(facts.container, "5f0c6a1b2d3e4f506172839405060708090a0b0c0d0e0f101112131415161718");
	expect_process(&facts, false, CHECK_OK, "(train), container 5f0c6a1b2d3e can be", NULL);
	facts.library_count = 0;
	facts.inside = false;
	expect_process(&facts, false, CHECK_OK, "no CUDA library so far", NULL);
	facts.filtered = true;
	expect_process(&facts, false, CHECK_OK, "can be watched", NULL);
}

static void names_drivers_in_front_of_others(void **state)
{
	struct process_library libraries[2] = {driver_library(), driver_library()};
	struct process_facts facts = good_process(libraries, 2);
	struct check_list list = {0};

	(void)state;
	libraries[1].path = (char *)"/usr/lib/wsl/drivers/libcuda.so.1.1";
	check_process__judge(&facts, false, &list);
	assert_int_equal(list.count, 2);
	expect_line(&list, "shim", CHECK_OK,
		    "process 12 has 2 driver libraries: /usr/lib/libcuda.so.1, "
		    "/usr/lib/wsl/drivers/libcuda.so.1.1; a call",
		    NULL);
	check_list__clear(&list);
}

static void judges_hindrances(void **state)
{
	struct process_library libraries[2] = {driver_library(),
					       {.path = (char *)"/x/libcudart.so.13"}};
	struct process_facts facts = good_process(libraries, 2);

	(void)state;
	facts.filtered = true;
	expect_process(&facts, true, CHECK_MISSING, "a return probe would kill it",
		       "do not watch it");
	facts.filtered = false;
	libraries[0].opened = -EPERM;
	libraries[0].deleted = true;
	expect_process(&facts, false, CHECK_MISSING,
		       "libcuda.so.1 was deleted or replaced while in use",
		       "CAP_CHECKPOINT_RESTORE");
	libraries[0].deleted = false;
	expect_process(&facts, false, CHECK_MISSING, "libcuda.so.1 cannot be read: Operation",
		       "CAP_DAC_READ_SEARCH");
	facts.user_namespace = true;
	expect_process(&facts, false, CHECK_MISSING, "libcuda.so.1 cannot be read",
		       "another user namespace");
	libraries[0].opened = -EREMOTE;
	expect_process(&facts, false, CHECK_MISSING, "FUSE file system", "--libcuda-path");
	libraries[0].opened = -ENOEXEC;
	expect_process(&facts, false, CHECK_MISSING, "not an x86-64 ELF file", "install");
	facts.bits = 32;
	expect_process(&facts, false, CHECK_MISSING, "a 32-bit program", "x86-64");
	facts.kernel_thread = true;
	expect_process(&facts, false, CHECK_MISSING, "a kernel thread", "the pid of a program");
	facts.mappings = -EACCES;
	expect_process(&facts, false, CHECK_MISSING, "cannot read its mappings: Permission denied",
		       "another user namespace");
	facts.user_namespace = false;
	expect_process(&facts, false, CHECK_MISSING, "cannot read its mappings", "CAP_SYS_PTRACE");
}

static void judges_what_is_lacking(void **state)
{
	struct process_library libraries[2] = {
		driver_library(), {.path = (char *)"/x/libcudart.so.13", .opened = -EPERM}};
	struct process_facts facts = good_process(libraries, 2);

	(void)state;
	libraries[1].deleted = true;
	expect_process(&facts, false, CHECK_DEGRADED, "/x/libcudart.so.13 was deleted",
		       "CAP_CHECKPOINT_RESTORE");
	facts.library_count = 1;
	facts.memory = -EPERM;
	expect_process(&facts, false, CHECK_DEGRADED, "its memory cannot be read",
		       "CAP_SYS_PTRACE");
	facts.memory = -EFAULT; /* the process has ended meanwhile */
	expect_process(&facts, false, CHECK_OK, "can be watched", NULL);
	facts.python = -ENOTSUP;
	strcpy(facts.python_error.text, "CPython 3.7 is not supported");
	expect_process(&facts, false, CHECK_DEGRADED,
		       "without Python frames: CPython 3.7 is not supported; libcuda.so.1",
		       "3.8 to 3.14");
	facts.python = -EAGAIN; /* it is still being loaded */
	expect_process(&facts, false, CHECK_OK, "can be watched", NULL);
}

static void parses_status(void **state)
{
	static const char text[] =
		"Name:\tSeccomp:\t9\nSeccomp_filters:\t3\nSeccomp:\t2\nThreads:\t4";

	(void)state;
	assert_int_equal(process_status__number(text, "Seccomp"), 2);
	assert_int_equal(process_status__number(text, "Threads"), 4);
	assert_int_equal(process_status__number(text, "Uid"), -1);
	assert_int_equal(process_status__number("", "Uid"), -1);
}

/* This process: it uses no CUDA, and its libraries are libc and similar. */
static void reads_a_process(void **state)
{
	struct checked_libraries libraries = {0};
	struct process_facts facts;

	(void)state;
	prctl(PR_SET_NAME, "test_check_proc"); /* under valgrind it has another name */
	assert_int_equal(process_facts__read(NULL, getpid(), true, &libraries, &facts), 0);
	assert_string_equal(facts.comm, "test_check_proc");
	assert_int_equal(facts.mappings | facts.memory, 0);
	assert_int_equal(facts.bits, 64);
	assert_int_equal(facts.python, -ENOENT);
	assert_false(facts.user_namespace || process_facts__uses_cuda(&facts));
	assert_int_equal(libraries.count, 0);
	process_facts__clear(&facts);
	assert_int_equal(process_facts__read(NULL, 99999999, true, &libraries, &facts), -ESRCH);
	process_facts__clear(&facts);
}

/* --- forms of output --- */

static void fill(struct check_list *list)
{
	check_list__ok(list, "kernel", "Linux %d", 6);
	check_list__text(list, "release", "6");
	check_list__lacks(list, "process", CHECK_DEGRADED, "do \"this\"", "process %d (a\033b)",
			  12);
	check_list__number(list, "pid", 12);
	check_list__text(list, "libraries", "/a\n");
	check_list__text(list, "comm", NULL);
	check_list__lacks(list, "bpf", CHECK_MISSING, "sudo", "refused");
}

static char *printed(void (*print)(FILE *out, const struct check_list *list),
		     const struct check_list *list)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print(out, list);
	fclose(out);
	return text;
}

static void print_whole(FILE *out, const struct check_list *list)
{
	check_text__print(out, list, false, 0);
}

static void print_brief(FILE *out, const struct check_list *list)
{
	check_text__print(out, list, true, 0);
}

static void expect_printed(void (*print)(FILE *out, const struct check_list *list),
			   const struct check_list *list, const char *expected)
{
	char *text = printed(print, list);

	assert_string_equal(text, expected);
	free(text);
}

static void prints_text(void **state)
{
	struct check_list list = {0}, other = {0};

	(void)state;
	fill(&list);
	expect_printed(print_whole, &list,
		       "ok        kernel: Linux 6\n"
		       "degraded  process: process 12 (a\\x1bb)\n"
		       "          -> do \"this\"\n"
		       "missing   bpf: refused\n"
		       "          -> sudo\n"
		       "1 ok, 1 degraded, 1 missing: gpuprobe cannot fully work here\n");
	expect_printed(print_brief, &list,
		       "degraded  process: process 12 (a\\x1bb)\n"
		       "          -> do \"this\"\n"
		       "missing   bpf: refused\n"
		       "          -> sudo\n"
		       "1 ok, 1 degraded, 1 missing: gpuprobe cannot fully work here\n");
	check_list__clear(&list);
	check_list__ok(&list, "kernel", "Linux");
	expect_printed(print_brief, &list, "1 ok, 0 degraded, 0 missing: gpuprobe works\n");
	check_list__lacks(&other, "nvml", CHECK_DEGRADED, "x", "y");
	assert_int_equal(check_list__append(&list, &other), 0);
	assert_int_equal(other.count, 0);
	expect_printed(print_whole, &list,
		       "ok        kernel: Linux\n"
		       "degraded  nvml: y\n"
		       "          -> x\n"
		       "1 ok, 1 degraded, 0 missing: gpuprobe works, with degraded features\n");
	check_list__clear(&list);
	check_list__clear(&other);
}

static void prints_json(void **state)
{
	struct check_list list = {0};

	(void)state;
	fill(&list);
	expect_printed(
		check_json__print, &list,
		"{\"schema\":1,\"version\":\"" GPUPROBE_VERSION
		"\",\"ok\":1,\"degraded\":1,\"missing\":1,\"lines\":["
		"{\"topic\":\"kernel\",\"state\":\"ok\",\"text\":\"Linux "
		"6\",\"advice\":null,\"facts\":{\"release\":\"6\"}},"
		"{\"topic\":\"process\",\"state\":\"degraded\",\"text\":\"process 12 (a\\u001bb)\","
		"\"advice\":\"do \\\"this\\\"\",\"facts\":{\"pid\":12,\"libraries\":[\"/a\\n\"]}},"
		"{\"topic\":\"bpf\",\"state\":\"missing\",\"text\":\"refused\",\"advice\":\"sudo\","
		"\"facts\":{}}]}\n");
	check_list__clear(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges_a_whole_library),
		cmocka_unit_test(judges_an_old_library),
		cmocka_unit_test(names_slow_probes),
		cmocka_unit_test(knows_a_static_runtime),
		cmocka_unit_test(misses_the_driver),
		cmocka_unit_test(does_not_know_of_what_it_could_not_read),
		cmocka_unit_test(reports_of_a_damaged_library),
		cmocka_unit_test(a_file_is_there_once),
		cmocka_unit_test(versions_of_names),
		cmocka_unit_test(judges_processes),
		cmocka_unit_test(names_drivers_in_front_of_others),
		cmocka_unit_test(judges_hindrances),
		cmocka_unit_test(judges_what_is_lacking),
		cmocka_unit_test(parses_status),
		cmocka_unit_test(reads_a_process),
		cmocka_unit_test(prints_text),
		cmocka_unit_test(prints_json),
	};

	return cmocka_run_group_tests_name("check_processes", tests, NULL, NULL);
}
