// SPDX-License-Identifier: BSD-2-Clause
// The file of `gpuprobe snapshot`, read with Python's pickle: sums, holes, and hostile ranges.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/pickle.h"
#include "model/tensors.h"
#include "output/snapshot/snapshot.h"

#define MIB (1ull << 20)

/* Python that a scene must satisfy; `s` is the file's value. */
#define SOUND \
	"end = 0\n" \
	"for g in s['segments']:\n" \
	"  assert g['address'] >= end and g['total_size'] > 0\n" \
	"  at = g['address']\n" \
	"  for b in g['blocks']:\n" \
	"    assert b['address'] == at and b['requested_size'] <= b['size'] > 0\n" \
	"    at += b['size']\n" \
	"  end = g['address'] + g['total_size']\n" \
	"  assert at == end\n" \
	"  live = [b for b in g['blocks'] if b['state'] == 'active_allocated']\n" \
	"  assert g['allocated_size'] == g['active_size'] == sum(b['size'] for b in live)\n" \
	"  assert g['requested_size'] == sum(b['requested_size'] for b in live)\n"

static void python_accepts(const char *path, const char *check)
{
	static const char load[] = "import pickle, sys\ns = pickle.load(open(sys.argv[1], 'rb'))\n";
	char script[] = "/tmp/test_snapshot.XXXXXX", command[256];
	int fd = mkstemp(script);
	FILE *out = fdopen(fd, "w");

	assert_non_null(out);
	fprintf(out, "%s%s", load, check);
	assert_int_equal(fclose(out), 0);
	snprintf(command, sizeof(command), "python3 %s %s", script, path);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
	unlink(script);
	unlink(path);
}

static const struct stack *find_stack(void *arg, uint64_t id)
{
	return id == 1 ? arg : NULL;
}

static void model_and_trace_accept(const struct process *process,
				   const struct snapshot_trace *trace, const char *check)
{
	char path[] = "/tmp/test_snapshot.XXXXXX";
	FILE *out = fdopen(mkstemp(path), "w");

	assert_non_null(out);
	assert_int_equal(snapshot__print(out, process, trace), 0);
	assert_int_equal(fclose(out), 0);
	python_accepts(path, check);
}

static void model_accepts(const struct process *process, const char *check)
{
	model_and_trace_accept(process, &(struct snapshot_trace){.find = find_stack}, check);
}

static void values(void **state)
{
	char path[] = "/tmp/test_snapshot.XXXXXX";
	FILE *out = fdopen(mkstemp(path), "w");
	struct pickle pickle;
	uint32_t kept;

	(void)state;
	assert_non_null(out);
	pickle__begin(&pickle, out);
	pickle__list_begin(&pickle);
	pickle__u64(&pickle, 0);
	pickle__u64(&pickle, INT32_MAX);
	pickle__u64(&pickle, 1ull << 31);
	pickle__u64(&pickle, UINT64_MAX);
	pickle__string(&pickle, "a\xff\xc3\xa9\xed\xa0\x80");
	pickle__string(&pickle, NULL);
	pickle__bool(&pickle, true);
	pickle__pair(&pickle, 1, 2);
	pickle__dict_begin(&pickle);
	for (int i = 0; i < PICKLE_KEYS; i++) {
		static char names[PICKLE_KEYS][8];

		snprintf(names[i], sizeof(names[i]), "k%d", i);
		pickle__key_u64(&pickle, names[i], (uint64_t)i);
	}
	pickle__key_bool(&pickle, "one more", false);
	pickle__dict_end(&pickle);
	kept = pickle__keep(&pickle);
	pickle__again(&pickle, kept);
	pickle__list_end(&pickle);
	pickle__end(&pickle);
	assert_int_equal(fclose(out), 0);
	python_accepts(path,
		       "assert s[:4] == [0, 2**31 - 1, 2**31, 2**64 - 1]\n"
		       "assert s[4:8] == ['a\\ufffd\\u00e9' + 3 * '\\ufffd', None, True, (1, 2)]\n"
		       "assert s[8] is s[9] and s[8]['k63'] == 63 and not s[8]['one more']\n"
		       "assert len(s[8]) == 65\n");
}

static struct allocation piece(uint64_t address, uint64_t size, const struct stack *stack)
{
	return (struct allocation){
		.address = address, .size = size, .kind = MEMORY_DEVICE, .stack = stack};
}

static void segments_and_holes(void **state)
{
	static const struct stack_frame python = {
		.function = "forward", .file = "/x/model.py", .line = 7, .kind = FRAME_PYTHON};
	static const struct stack_frame native = {.function = "malloc", .object = "libc10_cuda.so"};
	static const struct stack line = {.count = 1, .frames = &python};
	static const struct stack cache = {.count = 1, .frames = &native};
	struct allocation segments[] = {
		piece(100 * MIB, 20 * MIB, NULL), /* with tensors */
		piece(10 * MIB, 2 * MIB, &cache), /* cached */
		piece(50 * MIB, 4 * MIB, NULL),	  /* another library's */
	};
	struct allocation tensors[] = {
		piece(102 * MIB, 1000, &line),	 piece(100 * MIB, 512, &line),
		piece(200 * MIB, 512, NULL), /* in no known segment; adjacent */
		piece(200 * MIB + 512, 1, NULL), piece(300 * MIB, 5, NULL),
	};
	struct tensors seen = {.live = tensors, .live_listed = 5};
	const struct process process = {
		.pid = 7, .live = segments, .live_listed = 3, .tensors = &seen};

	(void)state;
	model_accepts(
		&process, SOUND
		"g = s['segments']\n"
		"assert [x['address'] >> 20 for x in g] == [10, 100, 200, 300]\n"
		"assert [x['requested_size'] for x in g] == [0, 1512, 513, 5]\n"
		"assert [x['allocated_size'] for x in g] == [0, 1536, 1024, 512]\n"
		"assert [x['segment_type'] for x in g] == ['small', 'large', 'small', 'small']\n"
		"assert ['gpuprobe' in x for x in g] == [False, False, True, True]\n"
		"assert [b['state'][0] for b in g[1]['blocks']] == list('aiai')\n"
		"assert g[1]['blocks'][0]['frames'] is g[1]['blocks'][2]['frames'] == [\n"
		"  {'filename': '/x/model.py', 'line': 7, 'name': 'forward'}]\n"
		"assert s['gpuprobe']['other_allocation_bytes'] == 4 << 20\n"
		"assert s['gpuprobe']['segments_not_seen'] == 2\n"
		"assert s['gpuprobe']['overlapping'] == 0\n");
}

/* The ring of events has gone around. Segments come where they were allocated. */
static void trace_of_events(void **state)
{
	static const struct stack_frame frame = {
		.function = "forward", .file = "/x/model.py", .line = 7, .kind = FRAME_PYTHON};
	static struct stack line = {.count = 1, .frames = &frame};
	struct tensor_event events[] = {
		{.time_ns = 5000000, .address = 512, .bytes = 9, .pid = 7, .action = TENSOR_FREES},
		{.time_ns = 9000000, .address = 1, .pid = 7, .action = TENSOR_FREES}, /* too late */
		{.time_ns = 2000000,
		 .address = 512,
		 .bytes = 9,
		 .stack = 1,
		 .stream = 3,
		 .pid = 7,
		 .action = TENSOR_ALLOCATES},
		{.time_ns = 3000000, .address = 1, .bytes = 1, .pid = 8, .action = TENSOR_FREES},
		{.time_ns = 4000000,
		 .address = 4096,
		 .bytes = 8,
		 .pid = 7,
		 .device = 1,
		 .action = TENSOR_ALLOCATES},
	};
	const struct tensor_trace trace = {
		.events = events, .room = 5, .first = 2, .count = 5, .overwritten = 6};
	const struct snapshot_trace written = {.trace = &trace,
					       .wall = {.tv_sec = 100},
					       .now_ns = 6000000,
					       .lost = 2,
					       .find = find_stack,
					       .arg = &line};
	struct allocation segments[] = {piece(0, MIB, NULL), piece(8 * MIB, MIB, NULL)};
	struct allocation tensors[] = {piece(4096, 8, NULL), piece(8 * MIB, 8, NULL)};
	struct tensors seen = {.live = tensors, .live_listed = 2};
	const struct process process = {
		.pid = 7, .live = segments, .live_listed = 2, .tensors = &seen};

	(void)state;
	segments[0].start_ns = 1000000;
	segments[1].start_ns = 3500000;
	model_and_trace_accept(
		&process, &written,
		"d = s['device_traces']\n"
		"assert [len(t) for t in d] == [5, 1]\n"
		"assert [e['action'] for e in d[0]] == ['segment_alloc', 'alloc', "
		"'segment_alloc',\n"
		"  'free_requested', 'free_completed']\n"
		"assert [e['addr'] for e in d[0]] == [0, 512, 8 << 20, 512, 512]\n"
		"assert [e['time_us'] for e in d[0]] == [99995000, 99996000, 99997500, 99999000,\n"
		"  99999000]\n"
		"assert d[0][1]['frames'] == [{'filename': '/x/model.py', 'line': 7,\n"
		"  'name': 'forward'}] and d[0][1]['stream'] == 3 and d[0][1]['size'] == 9\n"
		"assert d[1][0]['action'] == 'alloc' and d[1][0]['addr'] == 4096\n"
		"assert s['gpuprobe']['events_overwritten'] == 6\n"
		"assert s['gpuprobe']['events_lost'] == 2\n");
}

/* A segment that was freed has its allocation, too; other memory that was freed has nothing. */
static void trace_of_freed_segments(void **state)
{
	static const struct stack_frame frame = {.function = "raw", .object = "libc10_cuda.so"};
	static struct stack line = {.count = 1, .frames = &frame};
	struct tensor_event events[] = {
		{.time_ns = 3000000,
		 .since_ns = 1000000,
		 .address = MIB,
		 .bytes = 99,
		 .stack = 1,
		 .pid = 7,
		 .action = TENSOR_SEGMENT_FREED},
		{.time_ns = 4000000, .address = 512, .pid = 7, .action = TENSOR_SEGMENT_FREED},
		{.time_ns = 5000000,
		 .address = 512,
		 .stack = 1,
		 .pid = 8,
		 .action = TENSOR_SEGMENT_FREED},
	};
	const struct tensor_trace trace = {.events = events, .room = 3, .count = 3};
	const struct snapshot_trace written = {.trace = &trace,
					       .wall = {.tv_sec = 100},
					       .now_ns = 6000000,
					       .find = find_stack,
					       .arg = &line};
	struct tensors seen = {.live = NULL};
	const struct process process = {.pid = 7, .tensors = &seen};

	(void)state;
	model_and_trace_accept(
		&process, &written,
		"d = s['device_traces'][0]\n"
		"assert [e['action'] for e in d] == ['segment_alloc', 'segment_free']\n"
		"assert [e['time_us'] for e in d] == [99995000, 99997000]\n"
		"assert {(e['addr'], e['size']) for e in d} == {(1 << 20, 99)}\n");
}

static uint64_t hostile_number(unsigned int *seed)
{
	static const uint64_t bases[] = {0, 4 * MIB, UINT64_MAX - 4096, 1ull << 63};
	unsigned int which = (unsigned int)rand_r(seed) % 4;

	return bases[which] + (uint64_t)(rand_r(seed) % 4096);
}

static void hostile_ranges(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 8; round++) {
		struct allocation segments[64], tensors[128];
		struct tensors seen = {.live = tensors, .live_listed = 128};
		const struct process process = {
			.live = segments, .live_listed = round ? 64 : 0, .tensors = &seen};

		for (int i = 0; i < 64; i++)
			segments[i] =
				piece(hostile_number(&seed), hostile_number(&seed) % 2048, NULL);
		for (int i = 0; i < 128; i++)
			tensors[i] = piece(
				hostile_number(&seed),
				i % 9 ? hostile_number(&seed) % 700 : hostile_number(&seed), NULL);
		model_accepts(&process, SOUND "assert s['gpuprobe']['overlapping'] > 0\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),	   cmocka_unit_test(segments_and_holes),
		cmocka_unit_test(trace_of_events), cmocka_unit_test(trace_of_freed_segments),
		cmocka_unit_test(hostile_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
