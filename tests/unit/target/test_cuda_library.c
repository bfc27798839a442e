// SPDX-License-Identifier: BSD-2-Clause
// Recognising CUDA libraries among files, and finding the API's functions in them.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "built_elf.h"
#include "target/cuda_library.h"

#define LOCAL ELF64_ST_INFO(STB_LOCAL, STT_FUNC)
/* clang-format off */
#define END {NULL, 0, 0, 0, 0}
/* clang-format on */
#define DRIVER LAYER_BIT(LAYER_DRIVER)
#define RUNTIME LAYER_BIT(LAYER_RUNTIME)

static unsigned int layers_of(const struct test_symbol *dynamic, const struct test_symbol *full)
{
	const struct test_elf elf = {.dynamic = dynamic, .full = full};
	struct elf_file *file = open_built(&elf);
	unsigned int layers;

	assert_int_equal(cuda_library__layers(file, &layers), 0);

	elf_file__free(file);
	return layers;
}

static void reports_the_layers(void **state)
{
	static const struct test_symbol driver[] = {
		{"cuInit", FUNCTION_VADDR(1), 64, 0, 1},
		{"cuMemAlloc_v2", FUNCTION_VADDR(2), 64, 0, 1},
		END,
	};
	static const struct test_symbol half[] = {{"cuInit", FUNCTION_VADDR(1), 64, 0, 1}, END};
	static const struct test_symbol runtime[] = {
		{"cudaMalloc@@libcudart.so.13", FUNCTION_VADDR(1), 64, 0, 1}, END};
	static const struct test_symbol user[] = {
		{"cudaMalloc", 0, 0, 0, SHN_UNDEF},
		{"cuInit", 0, 0, 0, SHN_UNDEF},
		{"cuMemAlloc_v2", 0, 0, 0, SHN_UNDEF},
		END,
	};
	static const struct test_symbol carried[] = {
		{"cudaMalloc", FUNCTION_VADDR(1), 64, LOCAL, 1},
		{"cudaLaunchKernel", FUNCTION_VADDR(2), 64, LOCAL, 1},
		END,
	};
	static const struct test_symbol own_malloc[] = {
		{"cudaMalloc", FUNCTION_VADDR(1), 64, LOCAL, 1}, END};
	static const struct test_symbol nothing[] = {END};

	(void)state;
	assert_int_equal(layers_of(driver, NULL), DRIVER);
	assert_int_equal(layers_of(half, NULL), 0);
	assert_int_equal(layers_of(runtime, NULL), RUNTIME);
	assert_int_equal(layers_of(user, NULL), 0);
	assert_int_equal(layers_of(user, carried), RUNTIME);
	assert_int_equal(layers_of(NULL, carried), RUNTIME);
	assert_int_equal(layers_of(user, own_malloc), 0);
	/* A program never contains a driver. */
	assert_int_equal(layers_of(nothing, driver), 0);
	assert_int_equal(layers_of(nothing, nothing), 0);
}

struct found {
	struct probe_point *sites;
	size_t count, missing;
};

static struct found find(const struct test_elf *elf, const char *const *names)
{
	bool *wanted = calloc(api_function_count, sizeof(*wanted));
	struct elf_file *file = open_built(elf);
	struct found found;

	for (size_t i = 0; names && names[i]; i++) {
		int row = api__find(names[i], API_NEWEST);

		if (row < 0)
			fail_msg("%s is not in the table", names[i]);
		wanted[row] = true;
	}
	for (size_t row = 0; !names && row < api_function_count; row++)
		wanted[row] = true;
	assert_int_equal(cuda_library__sites(file, &(struct wanted_functions){.rows = wanted},
					     &found.sites, &found.count, &found.missing),
			 0);
	elf_file__free(file);
	free(wanted);
	return found;
}

static void assert_site(const struct found *found, size_t i, const char *symbol, uint64_t offset)
{
	assert_true(i < found->count);
	assert_string_equal(api_functions[found->sites[i].row].symbol, symbol);
	assert_int_equal(found->sites[i].file_offset, offset);
}

static void finds_what_is_wanted(void **state)
{
	static const struct test_symbol symbols[] = {
		{"cuMemFree_v2", FUNCTION_VADDR(3), 64, 0, 1},
		{"cuInit", FUNCTION_VADDR(1), 64, 0, 1},
		{"cuMemAlloc_v2", FUNCTION_VADDR(2), 64, 0, 1},
		{"cuNotInAnyTable", FUNCTION_VADDR(4), 64, 0, 1},
		/* A layer that this file does not have. */
		{"cudaFree", FUNCTION_VADDR(5), 64, 0, 1},
		END};
	static const char *const names[] = {"cuMemAlloc_v2", "cuMemFree_v2", "cuLaunchKernel",
					    "cudaMalloc",    "cudaFree",     NULL};
	const struct test_elf elf = {.dynamic = symbols};
	struct found found = find(&elf, names);

	(void)state;
	assert_int_equal(found.count, 2);
	assert_site(&found, 0, "cuMemAlloc_v2", FUNCTION_OFFSET(2));
	assert_site(&found, 1, "cuMemFree_v2", FUNCTION_OFFSET(3));
	assert_false(found.sites[0].slow);
	assert_int_equal(found.missing, 1); /* cuLaunchKernel */
	free(found.sites);
}

static void no_cuda_no_sites(void **state)
{
	static const struct test_symbol symbols[] = {{"main", FUNCTION_VADDR(1), 64, 0, 1}, END};
	const struct test_elf elf = {.dynamic = symbols};
	struct found found = find(&elf, NULL);

	(void)state;
	assert_null(found.sites);
	assert_int_equal(found.count, 0);
	assert_int_equal(found.missing, 0);
}

static void finds_a_runtime_carried_inside(void **state)
{
	static const struct test_symbol full[] = {
		{"cudaMalloc", FUNCTION_VADDR(1), 64, LOCAL, 1},
		{"cudaLaunchKernel", FUNCTION_VADDR(2), 64, LOCAL, 1},
		{"__cudaRegisterFunction", FUNCTION_VADDR(4), 64, LOCAL, 1},
		{"cuMemAlloc_v2", FUNCTION_VADDR(3), 64, LOCAL, 1},
		END,
	};
	static const char *const names[] = {"cudaMalloc", "__cudaRegisterFunction", "cuMemAlloc_v2",
					    NULL};
	const struct test_elf elf = {.full = full};
	struct found found = find(&elf, names);

	(void)state;
	assert_int_equal(found.count, 2);
	assert_site(&found, 0, "cudaMalloc", FUNCTION_OFFSET(1));
	assert_site(&found, 1, "__cudaRegisterFunction", FUNCTION_OFFSET(4));
	assert_int_equal(found.missing, 0);
	free(found.sites);
}

static void both_tables_give_one_site(void **state)
{
	static const struct test_symbol dynamic[] = {
		{"cudaMalloc@@libcudart.so.13", FUNCTION_VADDR(1), 64, 0, 1}, END};
	static const struct test_symbol full[] = {
		{"cudaMalloc@@libcudart.so.13", FUNCTION_VADDR(1), 64, 0, 1},
		{"cudaMalloc", FUNCTION_VADDR(9), 64, LOCAL, 1}, /* the file's own function */
		{"cudaFree", FUNCTION_VADDR(2), 64, LOCAL, 1},
		END,
	};
	static const char *const names[] = {"cudaMalloc", "cudaFree", NULL};
	const struct test_elf elf = {.dynamic = dynamic, .full = full};
	struct found found = find(&elf, names);

	(void)state;
	assert_int_equal(found.count, 2);
	assert_site(&found, 0, "cudaMalloc", FUNCTION_OFFSET(1));
	assert_site(&found, 1, "cudaFree", FUNCTION_OFFSET(2));
	free(found.sites);
}

static void versions_are_two_sites(void **state)
{
	static const struct test_symbol dynamic[] = {
		{"cudaMalloc@OLD", FUNCTION_VADDR(1), 64, 0, 1},
		{"cudaMalloc@@NEW", FUNCTION_VADDR(2), 64, 0, 1},
		END,
	};
	static const char *const names[] = {"cudaMalloc", NULL};
	const struct test_elf elf = {.dynamic = dynamic};
	struct found found = find(&elf, names);

	(void)state;
	assert_int_equal(found.count, 2);
	assert_site(&found, 0, "cudaMalloc", FUNCTION_OFFSET(1));
	assert_site(&found, 1, "cudaMalloc", FUNCTION_OFFSET(2));
	free(found.sites);
}

static struct found find_handles(const struct test_elf *elf, const char *base)
{
	bool *wanted = calloc(api_function_count, sizeof(*wanted));
	struct elf_file *file = open_built(elf);
	struct found found;

	for (size_t row = 0; row < api_function_count; row++)
		wanted[row] = true;
	assert_int_equal(cuda_library__handle_sites(file, base,
						    &(struct wanted_functions){.rows = wanted},
						    &found.sites, &found.count, &found.missing),
			 0);
	elf_file__free(file);
	free(wanted);
	return found;
}

/* By the file's name; CUDA's functions inside of it are not its own. */
static void a_library_has_its_functions(void **state)
{
	static const struct test_symbol dynamic[] = {
		{"ncclCommDestroy", FUNCTION_VADDR(1), 64, 0, 1},
		{"cublasCreate_v2", FUNCTION_VADDR(2), 64, 0, 1},
		{"cudaMalloc", FUNCTION_VADDR(3), 64, 0, 1},
		END};
	static const struct test_symbol inside[] = {
		{"ncclCommDestroy", FUNCTION_VADDR(1), 64, 0, 1},
		{"ncclCommSplit", FUNCTION_VADDR(4), 64, 0, 1},
		END};
	const struct test_elf elf = {.dynamic = dynamic, .full = inside};
	struct found found = find_handles(&elf, "libnccl.so.2");
	size_t of_nccl = 0;

	(void)state;
	assert_int_equal(found.count, 2);
	assert_site(&found, 0, "ncclCommDestroy", FUNCTION_OFFSET(1));
	assert_site(&found, 1, "ncclCommSplit", FUNCTION_OFFSET(4));
	assert_int_equal(found.sites[0].layer, LAYER_LIBRARY);
	/* Those of NCCL that are missing, not those of other libraries. */
	for (size_t row = 0; row < api_function_count; row++)
		of_nccl += !strncmp(api_functions[row].symbol, "nccl", 4);
	assert_int_equal(found.missing, of_nccl - 2);
	free(found.sites);
	found = find_handles(&elf, "libcublas.so.12");
	assert_int_equal(found.count, 1);
	assert_site(&found, 0, "cublasCreate_v2", FUNCTION_OFFSET(2));
	free(found.sites);
}

/* A program that has the runtime linked in may have cuBLAS linked in, too; it need not. */
static void a_program_has_a_library_inside(void **state)
{
	static const struct test_symbol nothing[] = {{"main", FUNCTION_VADDR(9), 64, 0, 1}, END};
	static const struct test_symbol inside[] = {
		{"cudaMalloc", FUNCTION_VADDR(1), 64, 0, 1},
		{"cudaLaunchKernel", FUNCTION_VADDR(2), 64, 0, 1},
		{"cublasCreate_v2", FUNCTION_VADDR(3), 64, 0, 1},
		END};
	static const char *const names[] = {"cudaMalloc", "cublasCreate_v2", "cublasDestroy_v2",
					    NULL};
	const struct test_elf elf = {.dynamic = nothing, .full = inside};
	struct found found = find(&elf, names);

	(void)state;
	assert_int_equal(found.count, 2);
	assert_site(&found, 1, "cublasCreate_v2", FUNCTION_OFFSET(3));
	assert_int_equal(found.missing, 0);
	free(found.sites);
}

static int count_unknown(const char *symbol, enum layer layer, void *arg)
{
	(void)symbol;
	(void)layer;
	++*(size_t *)arg;
	return -1;
}

/*
 * A file with `name` at `locations` addresses: how many sites that makes, and how many names were
 * looked up that are not in the table.
 */
static int try_addresses(const char *name, size_t locations, size_t *unknown)
{
	struct test_symbol *symbols = calloc(locations + 2, sizeof(*symbols));
	bool *rows = calloc(api_function_count, sizeof(*rows));
	const struct test_elf elf = {.dynamic = symbols};
	struct probe_point *sites;
	struct elf_file *file;
	size_t count, missing;
	int ret;

	assert_true(symbols && rows);
	rows[api__find("cudaMalloc", API_NEWEST)] = true;
	symbols[0] = (struct test_symbol){"cudaMalloc", FUNCTION_VADDR(0), 64, 0, 1};
	for (size_t i = 1; i <= locations; i++)
		symbols[i] = (struct test_symbol){name, TEXT_VADDR + i, 1, 0, 1};
	*unknown = 0;
	file = open_built(&elf);
	ret = cuda_library__sites(file, &(struct wanted_functions){rows, count_unknown, unknown},
				  &sites, &count, &missing);
	assert_true(!ret || (!sites && !count));
	elf_file__free(file);
	free(symbols);
	free(rows);
	free(sites);
	return ret;
}

/* Each address would take kernel memory, and time. */
static void no_library_has_a_name_everywhere(void **state)
{
	size_t unknown;

	(void)state;
	assert_int_equal(try_addresses("cudaMalloc", MAX_FUNCTIONS, &unknown), 0);
	assert_int_equal(try_addresses("cudaMalloc", 16ul * MAX_FUNCTIONS, &unknown), -E2BIG);
	assert_int_equal(try_addresses("cudaNotInAnyTable", 20000, &unknown), 0);
	assert_int_equal(unknown, 20000);
	assert_int_equal(try_addresses("cudaNotInAnyTable", 100000, &unknown), -E2BIG);
	assert_in_range(unknown, 50000, 70000);
}

static void one_function_gets_its_best_name(void **state)
{
	static const struct test_symbol symbols[] = {
		{"cuInit", FUNCTION_VADDR(1), 64, 0, 1},
		{"cuMemAlloc", FUNCTION_VADDR(2), 64, 0, 1},
		{"cuMemAlloc_v2", FUNCTION_VADDR(2), 64, 0, 1},
		{"cuLaunchKernel_ptsz", FUNCTION_VADDR(3), 64, 0, 1},
		{"cuLaunchKernel", FUNCTION_VADDR(3), 64, 0, 1},
		{"cuDeviceGetCount", FUNCTION_VADDR(4), 64, 0, 1}, /* no program serves it */
		{"cuMemFree_v2", FUNCTION_VADDR(4), 64, 0, 1},
		END,
	};
	static const char *const all[] = {"cuMemAlloc",
					  "cuMemAlloc_v2",
					  "cuLaunchKernel",
					  "cuLaunchKernel_ptsz",
					  "cuDeviceGetCount",
					  "cuMemFree_v2",
					  NULL};
	static const char *const some[] = {"cuMemAlloc", "cuLaunchKernel_ptsz", NULL};
	const struct test_elf elf = {.dynamic = symbols};
	struct found found = find(&elf, all);

	(void)state;
	assert_int_equal(found.count, 3);
	assert_site(&found, 0, "cuMemAlloc_v2", FUNCTION_OFFSET(2));
	assert_site(&found, 1, "cuLaunchKernel", FUNCTION_OFFSET(3));
	assert_site(&found, 2, "cuMemFree_v2", FUNCTION_OFFSET(4));
	assert_int_equal(found.missing, 0);
	free(found.sites);
	found = find(&elf, some);
	assert_int_equal(found.count, 2);
	assert_site(&found, 0, "cuMemAlloc", FUNCTION_OFFSET(2));
	assert_site(&found, 1, "cuLaunchKernel_ptsz", FUNCTION_OFFSET(3));
	free(found.sites);
}

/* The positions of the stream arguments distinguish the forms of the batched copy. */
static uint8_t stream_of_batch(const struct test_symbol *dynamic, const struct test_symbol *full,
			       const char *soname)
{
	const struct test_elf elf = {.dynamic = dynamic, .full = full, .soname = soname};
	struct found found = find(&elf, NULL);
	uint8_t location = 0;

	for (size_t i = 0; i < found.count; i++) {
		const struct api_function *function = &api_functions[found.sites[i].row];

		if (strcmp(function->symbol, "cudaMemcpyBatchAsync") == 0)
			location = function->desc.location[ROLE_STREAM];
	}
	free(found.sites);
	return location;
}

static void the_file_decides_on_the_form(void **state)
{
	static const struct test_symbol library[] = {
		{"cudaMalloc", FUNCTION_VADDR(1), 64, 0, 1},
		{"cudaMemcpyBatchAsync", FUNCTION_VADDR(2), 64, 0, 1},
		END,
	};
/* clang-format off */
#define CARRIED \
	{"cudaMalloc", FUNCTION_VADDR(1), 64, LOCAL, 1}, \
	{"cudaLaunchKernel", FUNCTION_VADDR(2), 64, LOCAL, 1}, \
	{"cudaMemcpyBatchAsync", FUNCTION_VADDR(3), 64, LOCAL, 1}
	/* clang-format on */
	static const struct test_symbol carried[] = {CARRIED, END};
	static const struct test_symbol carried_12[] = {
		CARRIED,
		{"cudaThreadExit", FUNCTION_VADDR(4), 64, LOCAL, 1},
		{"cudaThreadSynchronize", FUNCTION_VADDR(5), 64, LOCAL, 1},
		END,
	};
	static const struct test_symbol own_name[] = {
		CARRIED, {"cudaThreadSynchronize", FUNCTION_VADDR(5), 64, LOCAL, 1}, END};
#undef CARRIED
	const uint8_t old = LOCATION_STACK + 2, new = LOCATION_STACK + 1;

	(void)state;
	assert_int_equal(stream_of_batch(library, NULL, "libcudart.so.13"), new);
	assert_int_equal(stream_of_batch(library, NULL, "libcudart.so.14"), new);
	assert_int_equal(stream_of_batch(library, NULL, "libcudart.so.12"), old);
	assert_int_equal(stream_of_batch(library, NULL, "libcudart-9335f6a2.so.12"), old);
	assert_int_equal(stream_of_batch(library, NULL, "libcudart.so.11.0"), old);
	/* Another library's number says nothing. */
	assert_int_equal(stream_of_batch(library, NULL, "libwrapper.so.1"), new);
	assert_int_equal(stream_of_batch(library, NULL, NULL), new);
	assert_int_equal(stream_of_batch(NULL, carried, NULL), new);
	assert_int_equal(stream_of_batch(NULL, carried_12, NULL), old);
	assert_int_equal(stream_of_batch(NULL, own_name, NULL), new);
}

/* A form of another major is not missing from a library. */
static void other_forms_are_not_missing(void **state)
{
	static const struct test_symbol symbols[] = {
		{"cudaMalloc", FUNCTION_VADDR(1), 64, 0, 1},
		{"cudaMemcpyBatchAsync", FUNCTION_VADDR(2), 64, 0, 1},
		END,
	};
	struct test_elf elf = {.dynamic = symbols, .soname = "libcudart.so.13"};
	struct found found = find(&elf, NULL);
	size_t missing = found.missing;

	(void)state;
	assert_int_equal(found.count, 2);
	/* The runtime's rows except the 22 older forms, the 41 removed functions, and these two. */
	assert_int_equal(missing, 485 - 22 - 41 - 2);
	free(found.sites);
	elf.soname = "libcudart.so.12";
	found = find(&elf, NULL);
	/*
	 * A function with two forms has one that is not for 12 either; 11 functions were removed
	 * with it.
	 */
	assert_int_equal(found.missing, 485 - 22 - 11 - 2);
	free(found.sites);
}

static void slow_sites_are_reported(void **state)
{
	static const struct test_symbol symbols[] = {
		{"cuInit", FUNCTION_VADDR(1), 64, 0, 1},
		{"cuMemAlloc_v2", FUNCTION_VADDR(2), 64, 0, 1},
		END,
	};
	static const char *const names[] = {"cuMemAlloc_v2", NULL};
	const struct test_elf elf = {.dynamic = symbols, .first_byte = 0xb8};
	struct found found = find(&elf, names);

	(void)state;
	assert_int_equal(found.count, 1);
	assert_true(found.sites[0].slow);
	free(found.sites);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_the_layers),
		cmocka_unit_test(finds_what_is_wanted),
		cmocka_unit_test(a_library_has_its_functions),
		cmocka_unit_test(a_program_has_a_library_inside),
		cmocka_unit_test(no_cuda_no_sites),
		cmocka_unit_test(finds_a_runtime_carried_inside),
		cmocka_unit_test(both_tables_give_one_site),
		cmocka_unit_test(versions_are_two_sites),
		cmocka_unit_test(no_library_has_a_name_everywhere),
		cmocka_unit_test(one_function_gets_its_best_name),
		cmocka_unit_test(the_file_decides_on_the_form),
		cmocka_unit_test(other_forms_are_not_missing),
		cmocka_unit_test(slow_sites_are_reported),
	};

	return cmocka_run_group_tests_name("cuda_library", tests, NULL, NULL);
}
