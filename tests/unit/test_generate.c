// SPDX-License-Identifier: BSD-2-Clause
// The parser of api/functions.tsv and api/errors.tsv: what it reads, and that
// it refuses every kind of row that does not fit together.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../api/table.h"
#include "../../api/words.h"

#define HEADER "layer\tsymbol\tfamily\toperation\tkind\tflags\troles\targuments\tnote\n"
#define MALLOC \
	"runtime\tcudaMalloc\tmemory\talloc\tdevice\t-\tout=devPtr size=size\t" \
	"devPtr rdi void **; size rsi size_t\t-\n"
#define OTHER(symbol, flags, arguments) \
	"runtime\t" symbol "\tother\t-\t-\t" flags "\t-\t" arguments "\t-\n"
#define CODES "layer\tcode\tname\n"

typedef int (*table_reader)(struct table *table, FILE *in, const char *file, struct error *err);

static int read_bytes(struct table *table, table_reader reader, const char *text, size_t length,
		      struct error *err)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, length, "r");
	int rc;

	assert_non_null(in);
	rc = reader(table, in, "t.tsv", err);
	fclose(in);
	return rc;
}

static struct table *read_good(const char *text)
{
	struct error err = {.text = ""};
	struct table *table = table__new();
	int rc;

	assert_non_null(table);
	rc = read_bytes(table, table__read_functions, text, strlen(text), &err);
	assert_string_equal(err.text, "");
	assert_int_equal(rc, 0);
	return table;
}

/* Reads a text that must fail, with exactly this message. */
static void expect_error(table_reader reader, const char *text, size_t length, const char *message)
{
	struct error err = {.text = ""};
	struct table *table = table__new();

	assert_non_null(table);
	assert_int_equal(read_bytes(table, reader, text, length, &err), -EINVAL);
	assert_string_equal(err.text, message);
	table__free(table);
}

static void expect_bad_row(const char *row, const char *what)
{
	char message[256], text[2400];

	snprintf(text, sizeof(text), HEADER "%s\n", row);
	snprintf(message, sizeof(message), "t.tsv:2: %s", what);
	expect_error(table__read_functions, text, strlen(text), message);
}

static void test_good_row(void **state)
{
	struct table *table = read_good("# a comment\n\n" HEADER "# another\n" MALLOC);
	const struct table_function *f = table->functions;
	int role;

	(void)state;
	assert_int_equal(table->function_count, 1);
	assert_string_equal(f->symbol, "cudaMalloc");
	assert_string_equal(f->family, "memory");
	assert_int_equal(f->line, 5);
	assert_int_equal(f->desc.layer, LAYER_RUNTIME);
	assert_int_equal(f->desc.operation, OP_ALLOC);
	assert_int_equal(f->desc.kind, MEMORY_DEVICE);
	assert_int_equal(f->desc.flags, 0);
	assert_int_equal(f->desc.unit, 1);
	for (role = 0; role < ROLE_COUNT; role++)
		assert_int_equal(f->desc.place[role], role == ROLE_OUT	? 0 :
						      role == ROLE_SIZE ? 1 :
									  PLACE_NONE);
	assert_int_equal(f->argument_count, 2);
	assert_string_equal(f->arguments[0].name, "devPtr");
	assert_string_equal(f->arguments[0].type, "void **");
	assert_int_equal(f->arguments[1].size, 8);
	table__free(table);
}

static void test_flags_and_kinds(void **state)
{
	struct table *table = read_good(
		HEADER
		"driver\tcuMemsetD32Async_ptsz\tcopy\tset\tset\tasync per_thread unit=4\t"
		"size=N ptr=d stream=s\td rdi CUdeviceptr; ui rsi unsigned int; N rdx size_t; "
		"s rcx CUstream\t-\n"
		"driver\tcuCtxPopCurrent\tcontext\tcontext\tpop\t-\tctx=c\tc rdi CUcontext *\t-\n"
		"runtime\tcudaMemcpy\tcopy\tcopy\tby_argument\t-\tsize=n kind=k\t"
		"n rdi size_t; k rsi enum cudaMemcpyKind\t-");
	const struct table_function *f = table->functions;

	(void)state;
	assert_int_equal(table->function_count, 3);
	assert_string_equal(f[0].symbol, "cuCtxPopCurrent");
	assert_int_equal(f[0].desc.layer, LAYER_DRIVER);
	assert_int_equal(f[0].desc.kind, CONTEXT_POP);
	assert_int_equal(f[1].desc.kind, COPY_SET);
	assert_int_equal(f[1].desc.flags, FUNCTION_ASYNC | FUNCTION_PER_THREAD);
	assert_int_equal(f[1].desc.unit, 4);
	assert_int_equal(f[2].desc.kind, COPY_BY_ARGUMENT);
	assert_int_equal(f[2].desc.place[ROLE_KIND], 1 | PLACE_32);
	table__free(table);
}

/* The rows come sorted as strcmp sorts, not as they stand or as a locale has it. */
static void test_sorted(void **state)
{
	struct table *table = read_good(HEADER
					"runtime\tcudaFree_x\tother\t-\t-\t-\t-\t-\t-\n"
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

/* Forms of one function: by soname, the newest last, wherever they stand. */
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
	assert_int_equal(f[3].arguments[0].place.first, 1);
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

/* dim3 in registers and on the stack: x and y in the first slot, z in the second. */
static void test_dim3(void **state)
{
	struct table *table = read_good(
		HEADER "runtime\tcudaLaunchKernel\tlaunch\tlaunch\t-\tasync\t"
		       "func=f gridx=g blockx=b\tf rdi const void *; g rsi:rdx dim3; "
		       "b sp+16[12] dim3\t-\n");
	const __u8 *place = table->functions[0].desc.place;

	(void)state;
	assert_int_equal(place[ROLE_GRIDX], 1);
	assert_int_equal(place[ROLE_GRIDY], PLACE_NONE);
	assert_int_equal(place[ROLE_GRIDZ], 2 | PLACE_32);
	assert_int_equal(place[ROLE_BLOCKX], PLACE_STACK + 1);
	assert_int_equal(place[ROLE_BLOCKZ], (PLACE_STACK + 2) | PLACE_32);
	table__free(table);
}

static void test_places(void **state)
{
	static const struct {
		const char *text;
		int size;
		uint8_t place;
	} cases[] = {
		{"rdi", 8, 0},
		{"rsi", 4, 1 | PLACE_32},
		{"rdx", 2, 2 | PLACE_32},
		{"rcx", 8, 3},
		{"r8", 8, 4},
		{"r9", 8, 5},
		{"sp+8", 8, PLACE_STACK},
		{"sp+80", 4, (PLACE_STACK + 9) | PLACE_32},
		{"sp+8[24]", 24, PLACE_STACK},
		{"sp+40[64]", 64, PLACE_STACK + 4},
		{"rdi:rsi", 12, PLACE_NONE},
		{"r8:r9", 16, PLACE_NONE},
		{"xmm0", 4, PLACE_NONE},
	};
	struct place place;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(place__parse(cases[i].text, &place), 0);
		assert_true(place__fits(&place, cases[i].size));
		assert_int_equal(place__encode(&place, cases[i].size), cases[i].place);
	}
}

static void test_bad_places(void **state)
{
	static const char *const texts[] = {
		"", "rax", "r10", "rdi:", "rdi:rdx", "rsi:rdi", "r9:sp+8", "rdi:rsix", "sp",
		"sp+", "sp+0", "sp+4", "sp+12", "sp+-8", "sp+ 8", "sp+08", "sp+8x", "sp+8[",
		"sp+8[]", "sp+8[8]", "sp+8[24", "sp+8[24]x", "sp+8[256]", "sp+464",
		"sp+99999999999999999999", "xmm", "xmm8", "xmm10", "RDI", "rdi "};
	struct place place;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (place__parse(texts[i], &place) == 0)
			fail_msg("\"%s\" was taken for a place", texts[i]);
	}
	assert_int_equal(place__parse("sp+456", &place), 0);
	assert_int_equal(place.first & ~PLACE_MASK, 0);
}

static void test_fit_and_overlap(void **state)
{
	struct place pair, single, stack, inside, behind, xmm;

	(void)state;
	assert_int_equal(place__parse("rsi:rdx", &pair), 0);
	assert_int_equal(place__parse("rdx", &single), 0);
	assert_int_equal(place__parse("sp+8[20]", &stack), 0);
	assert_int_equal(place__parse("sp+24", &inside), 0);
	assert_int_equal(place__parse("sp+32", &behind), 0);
	assert_int_equal(place__parse("xmm0", &xmm), 0);
	assert_false(place__fits(&single, 12));
	assert_false(place__fits(&pair, 8));
	assert_false(place__fits(&pair, 24));
	assert_false(place__fits(&stack, 24));
	assert_false(place__fits(&behind, 64));
	assert_true(place__overlap(&pair, &single));
	assert_true(place__overlap(&inside, &stack));
	assert_false(place__overlap(&behind, &stack));
	assert_false(place__overlap(&xmm, &single));
	assert_true(place__overlap(&xmm, &xmm));
}

static void test_sizes(void **state)
{
	(void)state;
	assert_int_equal(type__size("void"), -1);
	assert_int_equal(type__size("enum "), -1);
	assert_int_equal(type__size("CUdeviceptr_v2"), -1);
	assert_int_equal(type__size("unsigned char"), 1);
	assert_int_equal(type__size("unsigned short"), 2);
	assert_int_equal(type__size("CUdeviceptr_v1"), 4);
	assert_int_equal(type__size("enum cudaMemcpyKind"), 4);
	assert_int_equal(type__size("CUdevice"), 4);
	assert_int_equal(type__size("unsigned int"), 4);
	assert_int_equal(type__size("CUdeviceptr"), 8);
	assert_int_equal(type__size("unsigned int *"), 8);
	assert_int_equal(type__size("dim3"), 12);
	assert_int_equal(type__size("struct cudaExtent"), 24);
	assert_int_equal(type__size("CUipcMemHandle"), 64);
	assert_int_equal(type__pointee_size("CUdeviceptr_v1 *"), 4);
	assert_int_equal(type__pointee_size("CUdeviceptr *"), 8);
	assert_int_equal(type__pointee_size("void **"), 8);
	assert_int_equal(type__pointee_size("void *"), -1);
	assert_int_equal(type__pointee_size("size_t"), -1);
}

static void test_bad_words(void **state)
{
	(void)state;
	expect_bad_row("driver\tcuX\tother\t-\t-\t-\t-\t-", "8 columns, 9 are needed");
	expect_bad_row("driver\tcuX\tother\t-\t-\t-\t-\t-\t-\t-", "more than 9 columns");
	expect_bad_row("driver\tcuX\tother\t\t-\t-\t-\t-\t-",
		       "column 4 is empty, it needs at least a -");
	expect_bad_row("nccl\tcuX\tother\t-\t-\t-\t-\t-\t-", "unknown layer nccl");
	expect_bad_row("driver\tcu\"X\tother\t-\t-\t-\t-\t-\t-", "cu\"X is not a symbol");
	expect_bad_row("driver\tcudaX\tother\t-\t-\t-\t-\t-\t-",
		       "cudaX is not a symbol of that layer");
	expect_bad_row("runtime\tcuX\tother\t-\t-\t-\t-\t-\t-",
		       "cuX is not a symbol of that layer");
	expect_bad_row("driver\tcuX\tmemories\t-\t-\t-\t-\t-\t-", "unknown family memories");
	expect_bad_row("driver\tcuX\tother\tmove\t-\t-\t-\t-\t-", "unknown operation move");
	expect_bad_row("driver\tcuX\tother\t-\tdevice\t-\t-\t-\t-",
		       "operation - has no kind device");
	expect_bad_row("driver\tcuX\tother\talloc\t-\t-\t-\t-\t-", "operation alloc has no kind -");
	expect_bad_row("driver\tcuX\tother\tcopy\tset\t-\t-\t-\t-",
		       "operation copy has no kind set");
	expect_bad_row("driver\tcuX\tother\task\t-\t-\t-\t-\t-", "operation ask has no kind -");
	expect_bad_row("driver\tcuX\tother\t-\t-\tslow\t-\t-\t-", "unknown flag \"slow\"");
	expect_bad_row("driver\tcuX\tother\t-\t-\tasync \t-\t-\t-", "unknown flag \"\"");
	expect_bad_row("driver\tcuX\tother\t-\t-\tunit=3\t-\t-\t-",
		       "a unit is 2 or 4 bytes, not 3");
	expect_bad_row("driver\tcuX\tother\t-\t-\tunit=2\t-\t-\t-",
		       "a unit without the role size or width");
	expect_bad_row("driver\tcuX_ptsz\tother\t-\t-\t-\t-\t-\t-",
		       "cuX_ptsz needs the flag per_thread");
	expect_bad_row("driver\tcuX\tother\t-\t-\tper_thread\t-\t-\t-",
		       "cuX must not have the flag per_thread");
}

static void test_bad_arguments(void **state)
{
#define ARGUMENTS(roles, arguments) "driver\tcuX\tother\t-\t-\t-\t" roles "\t" arguments "\t-"
	(void)state;
	expect_bad_row(ARGUMENTS("-", "a rdi"), "argument a is not NAME PLACE TYPE");
	expect_bad_row(ARGUMENTS("-", "a"), "argument a is not NAME PLACE TYPE");
	expect_bad_row(ARGUMENTS("-", "a rdi int; "), "argument  is not NAME PLACE TYPE");
	expect_bad_row(ARGUMENTS("-", "1 rdi int"), "\"1\" is not the name of an argument");
	expect_bad_row(ARGUMENTS("-", "a rax int"), "unknown place rax of argument a");
	expect_bad_row(ARGUMENTS("-", "a rdi long"), "unknown type \"long\" of argument a");
	expect_bad_row(ARGUMENTS("-", "a rdi ch\"r *"), "unknown type \"ch\"r *\" of argument a");
	expect_bad_row(ARGUMENTS("-", "a rdi dim3"), "argument a of 12 bytes cannot be at rdi");
	expect_bad_row(ARGUMENTS("-", "a sp+8[32] struct cudaExtent"),
		       "argument a of 24 bytes cannot be at sp+8[32]");
	expect_bad_row(ARGUMENTS("-", "a rdi int; a rsi int"), "two arguments are called a");
	expect_bad_row(ARGUMENTS("-", "a rdi int; b rsi int; c rdi int"),
		       "arguments a and c are at the same place");
	expect_bad_row(ARGUMENTS("-", "a sp+8[24] struct cudaExtent; b sp+24 int"),
		       "arguments a and b are at the same place");
	expect_bad_row(ARGUMENTS("stride=a", "a rdi int"), "unknown role \"stride\"");
	expect_bad_row(ARGUMENTS("size", "a rdi int"), "unknown role \"size\"");
	expect_bad_row(ARGUMENTS("size=a  out=a", "a rdi int"), "unknown role \"\"");
	expect_bad_row(ARGUMENTS("size=b", "a rdi int"), "role size names no argument: b");
	expect_bad_row(ARGUMENTS("size=a", "-"), "role size names no argument: a");
	expect_bad_row(ARGUMENTS("size=a size=a", "a rdi int"), "role size is given twice");
	expect_bad_row(ARGUMENTS("gridz=b gridx=a", "a rdi:rsi dim3; b rdx int"),
		       "role gridz is given twice");
	expect_bad_row(ARGUMENTS("size=a", "a xmm0 float"),
		       "role size names a, which is in no single place");
	expect_bad_row(ARGUMENTS("shmem=a", "a rdi:rsi dim3"),
		       "role shmem names a, which is in no single place");
	expect_bad_row(ARGUMENTS("size=a", "a rdi size_t *"), "role size cannot be a size_t *");
	expect_bad_row(ARGUMENTS("out=a", "a rdi CUdeviceptr"), "role out cannot be a CUdeviceptr");
	expect_bad_row(ARGUMENTS("out=a pitchout=b", "a rdi CUdeviceptr_v1 *; b rsi size_t *"),
		       "out and pitchout point to numbers of different size");
	expect_bad_row(ARGUMENTS("out=a pitchout=b", "a rdi CUdeviceptr *; b rsi unsigned int *"),
		       "out and pitchout point to numbers of different size");
#undef ARGUMENTS
}

static void test_too_many_arguments(void **state)
{
	char text[2048] = "driver\tcuX\tother\t-\t-\t-\t-\t";
	int i;

	(void)state;
	for (i = 0; i <= MAX_ARGUMENTS; i++)
		sprintf(text + strlen(text), "%sa%d sp+%d int", i ? "; " : "", i, 8 * i + 8);
	strcat(text, "\t-");
	expect_bad_row(text, "more than 24 arguments");
}

/* A call of an operation, with arguments for all roles. */
#define CALL(operation, kind, flags, roles) \
	"driver\tcuX\tother\t" operation "\t" kind "\t" flags "\t" roles \
	"\tp rdi void **; a rsi size_t; b rdx size_t; h rcx CUstream; k r8 int; " \
	"e r9 CUevent; n sp+8 const char *; m sp+16 CUmodule\t-"

static void test_missing_roles(void **state)
{
	static const struct {
		const char *row, *what;
	} cases[] = {
		{CALL("alloc", "device", "-", "size=a"), "alloc without the role out"},
		{CALL("alloc", "device", "-", "out=p"), "alloc without the role size or width"},
		{CALL("alloc", "device", "-", "out=p width=a height=b"),
		 "alloc without the role pitchout"},
		{CALL("alloc", "device", "-", "out=p width=a pitchout=p"),
		 "alloc without the role height"},
		{CALL("alloc", "device", "-", "out=p width=a size=b"),
		 "alloc with both size and width"},
		{CALL("free", "host", "-", "size=a"), "free without the role ptr"},
		{CALL("copy", "h2d", "-", "stream=h"), "copy without the role size or width"},
		{CALL("copy", "h2d", "-", "width=a"), "copy without the role height"},
		{CALL("copy", "h2d", "async", "size=a"), "copy without the role stream"},
		{CALL("copy", "by_argument", "-", "size=a"), "copy without the role kind"},
		{CALL("copy", "h2d", "-", "size=a kind=k"),
		 "copy with the role kind is of kind by_argument"},
		{CALL("copy", "by_params", "-", "size=a"),
		 "kind by_params without the flag params="},
		{CALL("copy", "by_params", "params=memcpy2d", "stream=h"),
		 "copy without the role params"},
		{CALL("copy", "default", "params=sizes", "params=n"),
		 "copy without the role elements"},
		{CALL("copy", "default", "params=3d_batch", "params=n"),
		 "copy without the role elements"},
		{CALL("copy", "default", "params=sizes", "params=n elements=a size=b"),
		 "copy with both params and size or width"},
		{CALL("copy", "default", "params=4d", "params=n"),
		 "unknown parameter structure \"4d\""},
		{CALL("set", "set", "params=extent", "ptr=h"), "set without the role extent"},
		{CALL("set", "set", "-", "size=a"), "set without the role ptr"},
		{CALL("set", "set", "-", "ptr=h"), "set without the role size or width"},
		{CALL("set", "set", "-", "ptr=h width=a"), "set without the role height"},
		{CALL("set", "set", "async", "ptr=h size=a"), "set without the role stream"},
		{CALL("launch", "-", "-", "stream=h"), "launch without the role func"},
		{CALL("graph_launch", "-", "-", "stream=h"),
		 "graph_launch without the role graphexec"},
		{CALL("graph_launch", "-", "-", "graphexec=m"),
		 "graph_launch without the role stream"},
		{CALL("capture", "begin", "-", "-"), "capture without the role stream"},
		{CALL("capture", "begin_to", "-", "stream=h"), "capture without the role graph"},
		{CALL("capture", "end", "-", "stream=h"), "capture without the role out"},
		{CALL("capture", "told", "-", "stream=h"), "capture without the role out"},
		{CALL("capture", "join", "-", "stream=h"), "capture without the role event"},
		{CALL("graph", "create", "-", "-"), "graph without the role out"},
		{CALL("graph", "add_kernel", "-", "out=p"), "graph without the role graph"},
		{CALL("graph", "add_child", "-", "out=p graph=h"), "graph without the role child"},
		{CALL("graph", "add_node", "-", "out=p graph=h"), "graph without the role params"},
		{CALL("graph", "destroy", "-", "-"), "graph without the role graph"},
		{CALL("graph", "enable_node", "-", "graphexec=m handle=h"),
		 "graph without the role flags"},
		{CALL("host_function", "-", "-", "-"), "host_function without the role stream"},
		{CALL("launch_list", "-", "-", "params=n"), "launch_list without the role elements"},
		{CALL("wait", "stream", "-", "event=e"), "wait without the role stream"},
		{CALL("wait", "event", "-", "stream=h"), "wait without the role event"},
		{CALL("query", "stream", "-", "event=e"), "query without the role stream"},
		{CALL("query", "event", "-", "stream=h"), "query without the role event"},
		{CALL("event_record", "-", "-", "stream=h"),
		 "event_record without the role event"},
		{CALL("create", "stream", "-", "handle=h"), "create without the role out"},
		{CALL("destroy", "stream", "-", "stream=h"), "destroy without the role handle"},
		{CALL("context", "reset", "-", "-"), "context without the role device"},
		{CALL("context", "retain", "-", "ctx=p"), "context without the role device"},
		{CALL("context", "create", "-", "device=k"), "context without the role ctx"},
		{CALL("context", "green", "-", "device=k"), "context without the role out"},
		{CALL("context", "set", "-", "-"), "context without the role ctx"},
		{CALL("get_kernel", "-", "-", "name=n module=m"),
		 "get_kernel without the role out"},
		{CALL("get_kernel", "-", "-", "out=p module=m"),
		 "get_kernel without the role name"},
		{CALL("get_kernel", "-", "-", "out=p name=n"),
		 "get_kernel without the role module"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_bad_row(cases[i].row, cases[i].what);
}

/* The rows of test_missing_roles, complete: their arguments are not at fault. */
static void test_all_roles(void **state)
{
	static const char *const rows[] = {
		CALL("alloc", "pool", "-", "out=p size=a"),
		CALL("alloc", "device", "-", "out=p width=a height=b pitchout=p"),
		CALL("free", "host", "-", "ptr=h"),
		CALL("copy", "h2d", "async", "size=a stream=h"),
		CALL("copy", "by_argument", "-", "width=a height=b kind=k"),
		CALL("copy", "by_params", "async params=memcpy3d", "params=n stream=h"),
		CALL("copy", "default", "params=sizes", "params=n elements=a"),
		CALL("set", "set", "params=extent", "ptr=h extent=m"),
		CALL("set", "set", "async unit=2", "ptr=h width=a height=b stream=h"),
		CALL("launch", "-", "-", "func=m"),
		CALL("graph_launch", "-", "-", "graphexec=m stream=h"),
		CALL("wait", "context", "-", "-"),
		CALL("query", "event", "-", "event=e"),
		CALL("event_record", "-", "-", "event=e stream=h"),
		CALL("create", "event", "-", "out=p"),
		CALL("destroy", "module", "-", "handle=m"),
		CALL("context", "retain", "-", "ctx=p device=k"),
		CALL("context", "green", "-", "out=p device=k"),
		CALL("context", "destroy", "-", "ctx=m"),
		CALL("get_kernel", "-", "-", "out=p name=n module=m"),
	};
	char text[1024];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), HEADER "%s\n", rows[i]);
		table__free(read_good(text));
	}
}

static void test_bad_files(void **state)
{
	static const char nul[] = HEADER "driver\tcuX\0\tother\t-\t-\t-\t-\t-\t-\n";

	(void)state;
#define EXPECT(text, message) \
	expect_error(table__read_functions, text, sizeof(text) - 1, message)
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
#define EXPECT(text, message) \
	expect_error(table__read_codes, text, sizeof(text) - 1, message)
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

/* What the tracer goes by: what comes back, and how pointers are passed. */
static void test_showing_flags(void **state)
{
	struct table *table = read_good(
		HEADER OTHER("cudaA", "returns=earlier", "-") OTHER("cudaB", "returns=value", "?")
			OTHER("cudaC", "returns=nothing address=a,c given=b",
			      "a rdi void **; b rsi size_t *; c rdx int *; d rcx int *; e xmm0 float"));
	const struct table_function *f = table->functions;

	(void)state;
	assert_int_equal(f[0].returns, TRACE_RETURNS_EARLIER);
	assert_false(f[0].unrecorded);
	assert_int_equal(f[1].returns, TRACE_RETURNS_VALUE);
	assert_true(f[1].unrecorded);
	assert_int_equal(f[2].returns, TRACE_RETURNS_NOTHING);
	assert_int_equal(f[2].arguments[0].passing, PASSING_ADDRESS);
	assert_int_equal(f[2].arguments[1].passing, PASSING_GIVEN);
	assert_int_equal(f[2].arguments[2].passing, PASSING_ADDRESS);
	assert_int_equal(f[2].arguments[3].passing, PASSING_BY_TYPE);
	table__free(table);
}

static void test_bad_showing_flags(void **state)
{
	(void)state;
	expect_bad_row("runtime\tcudaX\tother\t-\t-\treturns=error\t-\t-\t-",
		       "a function returns value, nothing or earlier, not error");
	expect_bad_row("runtime\tcudaX\tother\t-\t-\taddress=b\t-\ta rdi void **\t-",
		       "a flag names no argument: b");
	expect_bad_row("runtime\tcudaX\tother\t-\t-\tgiven=a\t-\ta rdi int\t-",
		       "a is no pointer, a flag says it is");
	expect_bad_row("runtime\tcudaX\tother\t-\t-\taddress=a given=a\t-\ta rdi void **\t-",
		       "flags name a twice");
	expect_bad_row("runtime\tcudaMalloc\tmemory\talloc\tdevice\taddress=p\tout=p size=s\t"
		       "p rdi void **; s rsi size_t\t-",
		       "role out is written, a flag says of p that it is not");
	expect_bad_row("runtime\tcudaFree\tmemory\tfree\tdevice\treturns=value\tptr=a\ta rdi void *\t-",
		       "free needs a result, so not the flag returns=");
	expect_bad_row("runtime\tcudaGetDevice\tdevice\task\tgetter\treturns=value\t-\t-\t-",
		       "ask needs a result, so not the flag returns=");
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
		{VALUES "x\t2147483648\tA\n", "t.tsv:2: 2147483648 is not a value of an enumeration"},
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_row),
		cmocka_unit_test(test_flags_and_kinds),
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_bad_forms),
		cmocka_unit_test(test_dim3),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_bad_places),
		cmocka_unit_test(test_fit_and_overlap),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_bad_words),
		cmocka_unit_test(test_bad_arguments),
		cmocka_unit_test(test_too_many_arguments),
		cmocka_unit_test(test_missing_roles),
		cmocka_unit_test(test_all_roles),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_too_many_functions),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_bad_codes),
		cmocka_unit_test(test_showing_flags),
		cmocka_unit_test(test_bad_showing_flags),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_write_fails),
	};

	return cmocka_run_group_tests_name("generate", tests, NULL, NULL);
}
