// SPDX-License-Identifier: BSD-2-Clause
// The parser of api/functions.tsv: the words of a row, and that it refuses every kind of
// inconsistent row.
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
#include "../../../api/words.h"

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
		assert_int_equal(f->desc.location[role], role == ROLE_OUT  ? 0 :
							 role == ROLE_SIZE ? 1 :
									     LOCATION_NONE);
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
	assert_int_equal(f[2].desc.location[ROLE_KIND], 1 | LOCATION_32);
	table__free(table);
}

static void test_libraries(void **state)
{
	struct table *table = read_good(
		HEADER "library\tncclCommSplit\tother\tcreate\tnccl\tlibrary=libnccl.so,libx.so\t"
		       "out=o\to rcx ncclComm_t *\t-\n");

	(void)state;
	assert_int_equal(table->functions->desc.layer, LAYER_LIBRARY);
	assert_int_equal(table->functions->desc.kind, OBJECT_NCCL);
	assert_string_equal(table->functions->libraries, "libnccl.so,libx.so");
	table__free(table);
	expect_bad_row("library\tncclX\tother\t-\t-\t-\t-\t-\t-", "ncclX needs the flag library=");
	expect_bad_row("driver\tcuX\tother\t-\t-\tlibrary=libx.so\t-\t-\t-",
		       "cuX must not have the flag library=");
	expect_bad_row("library\tcudaX\tother\t-\t-\tlibrary=libx.so\t-\t-\t-",
		       "cudaX is not a symbol of that layer");
	expect_bad_row("library\tncclX\tother\t-\t-\tlibrary=x.so\t-\t-\t-",
		       "a library is a name such as libnccl.so, not x.so");
	expect_bad_row("library\tncclX\tother\t-\t-\tlibrary=lib\"x\t-\t-\t-",
		       "a library is a name such as libnccl.so, not lib\"x");
	expect_bad_row("library\tncclX\tother\t-\t-\tlibrary=libx library=liby\t-\t-\t-",
		       "two flags library=");
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
	expect_bad_row("driver\tcuX\tother\t-\t-\tplain\t-\t-\t-",
		       "cuX has no version that a plain name could be without");
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
	expect_bad_row(ARGUMENTS("-", "a rdi"), "argument a is not NAME LOCATION TYPE");
	expect_bad_row(ARGUMENTS("-", "a"), "argument a is not NAME LOCATION TYPE");
	expect_bad_row(ARGUMENTS("-", "a rdi int; "), "argument  is not NAME LOCATION TYPE");
	expect_bad_row(ARGUMENTS("-", "1 rdi int"), "\"1\" is not the name of an argument");
	expect_bad_row(ARGUMENTS("-", "a rax int"), "unknown location rax of argument a");
	expect_bad_row(ARGUMENTS("-", "a rdi long"), "unknown type \"long\" of argument a");
	expect_bad_row(ARGUMENTS("-", "a rdi ch\"r *"), "unknown type \"ch\"r *\" of argument a");
	expect_bad_row(ARGUMENTS("-", "a rdi dim3"), "argument a of 12 bytes cannot be at rdi");
	expect_bad_row(ARGUMENTS("-", "a sp+8[32] struct cudaExtent"),
		       "argument a of 24 bytes cannot be at sp+8[32]");
	expect_bad_row(ARGUMENTS("-", "a rdi int; a rsi int"), "two arguments are called a");
	expect_bad_row(ARGUMENTS("-", "a rdi int; b rsi int; c rdi int"),
		       "arguments a and c are at the same location");
	expect_bad_row(ARGUMENTS("-", "a sp+8[24] struct cudaExtent; b sp+24 int"),
		       "arguments a and b are at the same location");
	expect_bad_row(ARGUMENTS("stride=a", "a rdi int"), "unknown role \"stride\"");
	expect_bad_row(ARGUMENTS("size", "a rdi int"), "unknown role \"size\"");
	expect_bad_row(ARGUMENTS("size=a  out=a", "a rdi int"), "unknown role \"\"");
	expect_bad_row(ARGUMENTS("size=b", "a rdi int"), "role size names no argument: b");
	expect_bad_row(ARGUMENTS("size=a", "-"), "role size names no argument: a");
	expect_bad_row(ARGUMENTS("size=a size=a", "a rdi int"), "role size is given twice");
	expect_bad_row(ARGUMENTS("gridz=b gridx=a", "a rdi:rsi dim3; b rdx int"),
		       "role gridz is given twice");
	expect_bad_row(ARGUMENTS("size=a", "a xmm0 float"),
		       "role size names a, which is in no single location");
	expect_bad_row(ARGUMENTS("shmem=a", "a rdi:rsi dim3"),
		       "role shmem names a, which is in no single location");
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
		{CALL("alloc", "array", "params=array3d", "out=p"),
		 "alloc without the role params"},
		{CALL("alloc", "array", "params=channels", "out=p extent=a"),
		 "alloc without the role params"},
		{CALL("alloc", "array", "params=channels", "out=p width=a"),
		 "alloc without the role height"},
		{CALL("alloc", "array", "params=channels", "out=p"),
		 "alloc without the role extent"},
		{CALL("alloc", "device", "params=pitched", "out=p"),
		 "alloc without the role extent"},
		{CALL("alloc", "physical", "params=physical", "out=p size=a"),
		 "alloc without the role params"},
		{CALL("alloc", "physical", "params=physical", "out=p params=n"),
		 "alloc without the role size or width"},
		{CALL("alloc", "device", "params=memcpy3d", "out=p params=n"),
		 "alloc with the params of a copy"},
		{CALL("pool", "current", "-", "pool=p"), "pool without the role device"},
		{CALL("pool", "told", "-", "device=k"), "pool without the role out"},
		{CALL("pool", "trim", "-", "size=a"), "pool without the role pool"},
		{CALL("pool", "trim", "-", "pool=p"), "pool without the role size"},
		{CALL("pool", "set", "-", "pool=p"), "pool without the role kind"},
		{CALL("pool", "get", "-", "pool=p"), "pool without the role kind"},
		{CALL("pool", "get", "-", "pool=p kind=k"), "pool without the role out"},
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
		{CALL("launch_list", "-", "-", "params=n"),
		 "launch_list without the role elements"},
		{CALL("wait", "stream", "-", "event=e"), "wait without the role stream"},
		{CALL("wait", "event", "-", "stream=h"), "wait without the role event"},
		{CALL("query", "stream", "-", "event=e"), "query without the role stream"},
		{CALL("query", "event", "-", "stream=h"), "query without the role event"},
		{CALL("event_record", "-", "-", "stream=h"), "event_record without the role event"},
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

/* The rows of test_missing_roles, complete: their arguments are valid. */
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

/* The flags that the tracer uses: which values come back, and how pointers are passed. */
static void test_showing_flags(void **state)
{
	struct table *table = read_good(HEADER OTHER("cudaA", "returns=earlier", "-") OTHER(
		"cudaB", "returns=value", "?") OTHER("cudaC", "returns=nothing address=a,c given=b",
						     "a rdi void **; b rsi size_t *; c rdx int *; "
						     "d rcx int *; e xmm0 float"));
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
		       "a function returns value, nothing, earlier or nccl, not error");
	expect_bad_row("runtime\tcudaX\tother\t-\t-\taddress=b\t-\ta rdi void **\t-",
		       "a flag names no argument: b");
	expect_bad_row("runtime\tcudaX\tother\t-\t-\tgiven=a\t-\ta rdi int\t-",
		       "a is no pointer, a flag says it is");
	expect_bad_row("runtime\tcudaX\tother\t-\t-\taddress=a given=a\t-\ta rdi void **\t-",
		       "flags name a twice");
	expect_bad_row("runtime\tcudaMalloc\tmemory\talloc\tdevice\taddress=p\tout=p size=s\t"
		       "p rdi void **; s rsi size_t\t-",
		       "role out is written, a flag says of p that it is not");
	expect_bad_row(
		"runtime\tcudaFree\tmemory\tfree\tdevice\treturns=value\tptr=a\ta rdi void *\t-",
		"free needs a result, so not the flag returns=");
	expect_bad_row("runtime\tcudaGetDevice\tdevice\task\tgetter\treturns=value\t-\t-\t-",
		       "ask needs a result, so not the flag returns=");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_row),      cmocka_unit_test(test_flags_and_kinds),
		cmocka_unit_test(test_libraries),     cmocka_unit_test(test_bad_words),
		cmocka_unit_test(test_bad_arguments), cmocka_unit_test(test_too_many_arguments),
		cmocka_unit_test(test_missing_roles), cmocka_unit_test(test_all_roles),
		cmocka_unit_test(test_showing_flags), cmocka_unit_test(test_bad_showing_flags),
	};

	return cmocka_run_group_tests_name("generate", tests, NULL, NULL);
}
