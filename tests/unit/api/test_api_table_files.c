// SPDX-License-Identifier: BSD-2-Clause
// The files in api/ as wholes: the order and forms of functions, error codes, enumeration values,
// and the files generated from them.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api_text.h"
#include "../../../api/table.h"

/* The rows are sorted as strcmp sorts, not in file order or by locale. */
static void test_sorted(void **state)
{
	struct table *table = read_good(HEADER "runtime\tcudaFree_x\tother\t-\t-\t-\t-\t-\t-\n"
					       "runtime\t__cudaX\tother\t-\t-\t-\t-\t?\t-\n"
					       "runtime\tcudaFreeAsync\tother\t-\t-\t-\t-\t-\t-\n"
					       "driver\tcuZ\tother\t-\t-\t-\t-\t-\t-\n");

	(void)state;
	assert_string_equal(table->functions[0].symbol, "__cudaX");
	assert_string_equal(table->functions[1].symbol, "cuZ");
	assert_string_equal(table->functions[2].symbol, "cudaFreeAsync");
	assert_string_equal(table->functions[3].symbol, "cudaFree_x");
	table__free(table);
}

/* Forms of one function: by soname, the newest last, in whatever order they are written. */
static void test_forms(void **state)
{
	/* clang-format off */
	struct table *table = read_good(HEADER
					OTHER("cudaB", "-", "a rdi int")
					OTHER("cudaB", "soname=12", "a rsi int")
					OTHER("cudaA_ptsz", "per_thread soname=9", "-")
					OTHER("cudaB", "soname=2", "a rdx int")
					OTHER("cudaA_ptsz", "soname=99 per_thread", "-"));
	/* clang-format on */
	const struct table_function *f = table->functions;

	(void)state;
	assert_int_equal(table->function_count, 5);
	assert_string_equal(f[0].symbol, "cudaA_ptsz");
	assert_int_equal(f[0].soname, 9);
	assert_int_equal(f[1].soname, 99);
	assert_int_equal(f[1].desc.flags, FUNCTION_PER_THREAD);
	assert_int_equal(f[2].soname, 2);
	assert_int_equal(f[3].soname, 12);
	assert_int_equal(f[3].arguments[0].location.first, 1);
	assert_string_equal(f[4].symbol, "cudaB");
	assert_int_equal(f[4].soname, 0);
	table__free(table);
}

static void test_bad_forms(void **state)
{
	static const char *const sonames[] = {"", "0", "012", "100", "-1", "12x", "x", "12.8"};
	char row[128], what[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sonames) / sizeof(sonames[0]); i++) {
		snprintf(row, sizeof(row), "runtime\tcudaX\tother\t-\t-\tsoname=%s\t-\t-\t-",
			 sonames[i]);
		snprintf(what, sizeof(what), "a soname is a number from 1 to 99, not %s",
			 sonames[i]);
		expect_bad_row(row, what);
	}
	expect_bad_row("driver\tcuX\tother\t-\t-\tsoname=12\t-\t-\t-",
		       "the flag soname= is for the runtime only");
#define EXPECT(text, message) \
	expect_error(table__read_functions, HEADER text, sizeof(HEADER text) - 1, message)
	EXPECT(OTHER("cudaX", "soname=12", "-") OTHER("cudaX", "-", "-")
		       OTHER("cudaX", "soname=12", "a rdi int"),
	       "t.tsv:4: cudaX is already in line 2");
	EXPECT(OTHER("cudaMalloc", "soname=12", "-") MALLOC,
	       "t.tsv:3: cudaMalloc is of another kind in line 2");
	EXPECT(MALLOC "runtime\tcudaMalloc\tmemory\talloc\thost\tsoname=12\tout=p size=s\t"
		      "p rdi void **; s rsi size_t\t-\n",
	       "t.tsv:2: cudaMalloc is of another kind in line 3");
#undef EXPECT
}

static void test_bad_files(void **state)
{
	static const char nul[] = HEADER "driver\tcuX\0\tother\t-\t-\t-\t-\t-\t-\n";

	(void)state;
#define EXPECT(text, message) expect_error(table__read_functions, text, sizeof(text) - 1, message)
	EXPECT("# only a comment\n", "t.tsv:1: the header line is missing");
	EXPECT(MALLOC, "t.tsv:1: not the header line that is expected");
	EXPECT(HEADER "# no rows\n", "t.tsv:2: the table is empty");
	EXPECT(HEADER HEADER, "t.tsv:2: unknown layer layer");
	EXPECT(HEADER "x\r\n", "t.tsv:2: a NUL byte or a carriage return in the line");
	EXPECT(nul, "t.tsv:2: a NUL byte or a carriage return in the line");
	EXPECT(HEADER MALLOC "# between\n" MALLOC, "t.tsv:4: cudaMalloc is already in line 2");
#undef EXPECT
}

static void test_too_many_functions(void **state)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int i;

	(void)state;
	assert_non_null(out);
	fputs(HEADER, out);
	for (i = 0; i <= MAX_FUNCTIONS; i++)
		fprintf(out, "driver\tcuX%d\tother\t-\t-\t-\t-\t-\t-\n", i);
	fclose(out);
	expect_error(table__read_functions, text, length,
		     "t.tsv:1538: more than 1536 functions, see MAX_FUNCTIONS");
	*strrchr(text, 'd') = '#'; /* the last row's "driver" */
	table__free(read_good(text));
	free(text);
}

static void test_codes(void **state)
{
	static const char text[] = CODES "runtime\t2\tb\ndriver\t0\tc\nruntime\t0\ta\n";
	struct error err = {.text = ""};
	struct table *table = table__new();

	(void)state;
	assert_int_equal(read_bytes(table, table__read_codes, text, sizeof(text) - 1, &err), 0);
	assert_int_equal(table->code_count, 3);
	assert_string_equal(table->codes[0].name, "a");
	assert_string_equal(table->codes[1].name, "b");
	assert_string_equal(table->codes[2].name, "c");
	assert_int_equal(table->codes[2].layer, LAYER_DRIVER);
	table__free(table);
}

static void test_bad_codes(void **state)
{
	(void)state;
#define EXPECT(text, message) expect_error(table__read_codes, text, sizeof(text) - 1, message)
	EXPECT(CODES, "t.tsv:1: the table is empty");
	EXPECT(CODES "runtime\t0\n", "t.tsv:2: 2 columns, 3 are needed");
	EXPECT(CODES "user\t0\ta\n", "t.tsv:2: unknown layer user");
	EXPECT(CODES "driver\t-1\ta\n", "t.tsv:2: -1 is not an error code");
	EXPECT(CODES "driver\t1x\ta\n", "t.tsv:2: 1x is not an error code");
	EXPECT(CODES "driver\t2147483648\ta\n", "t.tsv:2: 2147483648 is not an error code");
	EXPECT(CODES "driver\t0\ta b\n", "t.tsv:2: a b is not a name");
	EXPECT(CODES "driver\t0\ta\nruntime\t0\ta\ndriver\t0\tb\n",
	       "t.tsv:4: code 0 of that layer is already in line 2");
#undef EXPECT
}

static void test_write(void **state)
{
	struct table *table = read_good(
		HEADER "driver\tcuStreamQuery_ptsz\tsync\tquery\tstream\tper_thread\tstream=h\t"
		       "h rdi CUstream\t-\n" MALLOC);
	const char *first, *second;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	assert_non_null(out);
	assert_int_equal(table__write(table, out), 0);
	fclose(out);
	first = strstr(text, ".symbol = \"cuStreamQuery_ptsz\"");
	second = strstr(text, ".symbol = \"cudaMalloc\"");
	assert_true(first && second && first < second);
	assert_non_null(strstr(first, ".base = \"cuStreamQuery\""));
	assert_non_null(strstr(second, ".arguments = &arguments[1],\n\t\t.argument_count = 2,"
				       "\n\t\t.soname = 0,"));
	assert_non_null(strstr(text, "{ \"devPtr\", \"void **\", 0x00, 8, 0x00, 0 },"));
	free(text);
	table__free(table);
}

#define VALUES "type\tvalue\tname\n"

static void test_values(void **state)
{
	static const char text[] = VALUES "cudaLimit\t2\tB\ncudaLimit\t-1\tA\nCUlimit\t7\tC\n";
	struct error err = {.text = ""};
	struct table *table = table__new();

	(void)state;
	assert_int_equal(read_bytes(table, table__read_values, text, sizeof(text) - 1, &err), 0);
	assert_int_equal(table->value_count, 3);
	assert_string_equal(table->values[0].type, "CUlimit");
	assert_int_equal(table->values[1].value, -1);
	assert_string_equal(table->values[1].name, "A");
	assert_int_equal(table->values[2].value, 2);
	table__free(table);
}

static void test_bad_values(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{VALUES "cudaLimit\t1\n", "t.tsv:2: 2 columns, 3 are needed"},
		{VALUES "enum x\t1\tA\n", "t.tsv:2: enum x is not a type"},
		{VALUES "x\t1\tA B\n", "t.tsv:2: A B is not a name"},
		{VALUES "x\t0x1\tA\n", "t.tsv:2: 0x1 is not a value of an enumeration"},
		{VALUES "x\t-\tA\n", "t.tsv:2: - is not a value of an enumeration"},
		{VALUES "x\t2147483648\tA\n",
		 "t.tsv:2: 2147483648 is not a value of an enumeration"},
		{VALUES "x\t1\tA\nx\t1\tB\n", "t.tsv:3: value 1 of that type is already in line 2"},
		{VALUES, "t.tsv:1: the table is empty"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_error(table__read_values, bad[i].text, strlen(bad[i].text), bad[i].message);
}

static void test_write_fails(void **state)
{
	struct table *table = read_good(HEADER MALLOC);
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	assert_int_equal(table__write(table, out), -EIO);
	fclose(out);
	table__free(table);
}

#define PROBES "allocator\tlibrary\tprovider\tprobe\taction\toperands\n"

static void test_probes(void **state)
{
	static const char text[] = "# of two frameworks\n" PROBES
				   "One\tlibone.so\tone\tnew\tallocate\tbytes,-,pointer\n"
				   "One\tlibone.so\tone\tdone\tfree\tpointer\n";
	struct error err = {.text = ""};
	struct table *table = table__new();

	(void)state;
	assert_non_null(table);
	assert_int_equal(read_bytes(table, table__read_probes, text, strlen(text), &err), 0);
	assert_int_equal(table->probe_count, 2);
	assert_string_equal(table->probes[0].library, "libone.so");
	assert_string_equal(table->probes[1].name, "done");
	assert_int_equal(table->probes[0].action, TENSOR_ALLOCATES);
	assert_int_equal(table->probes[1].action, TENSOR_FREES);
	assert_int_equal(table->probes[0].operands.count, 3);
	assert_int_equal(table->probes[0].operands.roles[0], TENSOR_BYTES);
	assert_int_equal(table->probes[0].operands.roles[1], TENSOR_ROLES);
	assert_int_equal(table->probes[0].operands.roles[2], TENSOR_POINTER);
	table__free(table);
}

static void expect_bad_probe(const char *row, const char *what)
{
	char text[512], message[256];

	snprintf(text, sizeof(text), "%s%s\n", PROBES, row);
	snprintf(message, sizeof(message), "t.tsv:2: %s", what);
	expect_error(table__read_probes, text, strlen(text), message);
}

static void test_bad_probes(void **state)
{
	(void)state;
	expect_bad_probe("A b\tl\tp\tq\tfree\tpointer", "A b is not a name");
	expect_bad_probe("A\tl\tp\tq\"\tfree\tpointer", "q\" is not a name");
	expect_bad_probe("A\tl\tp\tq\tgrow\tpointer", "unknown action grow");
	expect_bad_probe("A\tl\tp\tq\tfree\tplace", "place is not the meaning of an operand");
	expect_bad_probe("A\tl\tp\tq\tfree\tpointer,pointer", "two operands are the pointer");
	expect_bad_probe("A\tl\tp\tq\tfree\tbytes", "no operand is the pointer");
	expect_bad_probe("A\tl\tp\tq\tallocate\tpointer", "no operand is the bytes");
	expect_bad_probe("A\tl\tp\tq\tfree\tpointer,-,-,-,-,-,-,-,-", "more than 8 operands");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_bad_probes),
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_bad_forms),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_too_many_functions),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_bad_codes),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_write_fails),
	};

	return cmocka_run_group_tests_name("generate", tests, NULL, NULL);
}
