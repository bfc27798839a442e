// SPDX-License-Identifier: BSD-2-Clause
// What `gpuprobe dump` prints for people, on dumps made by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dump_scene.h"
#include "output/dump/short_stack.h"
#include "output/dump/parts.h"

#define HEAD \
	"process 4711 (python3 train.py), user ann, container trainer-0, GPU 0 (H100 80GB): 41.2 " \
	"GiB, "
#define MAIN \
	"  thread 4711 MainThread     in cudaEventSynchronize, on the CPU\n" \
	"      loss.item (train.py:60) < step (train.py:44) < main (train.py:91)\n"
#define AUTOGRAD \
	"  thread 4790 pt_autograd_0  in cuLaunchKernel, asleep\n" \
	"      libtorch.so < run_thread (main.c:12) < 0x7f00 < [callers not found]\n"

static void expect(const struct dump_scene *scene, const char *expected)
{
	char *text = printed(dump_text__print, scene);

	assert_string_equal(text, expected);
	free(text);
}

static void expect_part(const struct dump_scene *scene, const char *part)
{
	char *text = printed(dump_text__print, scene);

	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
	free(text);
}

static void expect_no_part(const struct dump_scene *scene, const char *part)
{
	char *text = printed(dump_text__print, scene);

	if (strstr(text, part))
		fail_msg("'%s' is in:\n%s", part, text);
	free(text);
}

static void test_a_process(void **state)
{
	struct dump_scene scene;

	(void)state;
	make_scene(&scene);
	expect(&scene, HEAD "2 threads, 2 in CUDA\n" MAIN AUTOGRAD);
}

static void test_exact_amounts(void **state)
{
	struct dump_scene scene;

	(void)state;
	make_scene(&scene);
	scene.view.form = QUANTITY_EXACT;
	expect_part(&scene, ", GPU 0 (H100 80GB): 44,238,786,560 bytes, 2 threads");
}

static void test_without_an_answer_of_nvml(void **state)
{
	struct dump_scene scene;

	(void)state;
	make_scene(&scene);
	expect_no_part(&scene, "NVML");
	scene.dump.nvml_timed_out = true;
	expect_part(&scene, "\n\nGPUs and their memory are unknown: NVML has not answered in 2 s; "
			    "see nvidia-smi, which may hang too, and dmesg\n");
}

static void test_nothing(void **state)
{
	struct dump_scene scene;

	(void)state;
	make_scene(&scene);
	scene.dump.count = 0;
	expect(&scene, "no process to show: none uses CUDA, or the given ones have ended\n");
	scene.view.before = &scene.dump;
	expect(&scene, "no process to show: none uses CUDA, or the given ones have ended\n");
}

static void test_other_threads_are_summed_up(void **state)
{
	struct dump_scene scene;

	(void)state;
	make_scene(&scene);
	add_thread(&scene, outside(4800, DUMP_SLEEPS, DUMP_WAIT_SLEEP));
	add_thread(&scene, outside(4801, DUMP_SLEEPS, DUMP_WAIT_LOCK));
	add_thread(&scene, outside(4802, DUMP_SLEEPS, DUMP_WAIT_LOCK));
	add_thread(&scene, outside(4803, DUMP_READY, DUMP_WAIT_NONE));
	add_thread(&scene, outside(4804, DUMP_STOPPED, DUMP_WAIT_LOCK));
	scene.dumps[0].unseen = 3;
	expect(&scene, HEAD "10 threads, 2 in CUDA\n" MAIN AUTOGRAD
			    "  5 other threads: 2 wait for a lock, 1 sleeps for a time, "
			    "1 waits for a CPU, 1 stopped (SIGSTOP)\n"
			    "  3 more threads that gpuprobe did not look at\n");
	scene.dumps[0].unseen = 1;
	expect_part(&scene, "\n  1 more thread that gpuprobe did not look at\n");
	scene.view.all = true;
	expect_no_part(&scene, "other thread");
	expect_part(&scene, "  thread 4801 worker         waits for a lock\n      futex_wait\n");
	expect_part(&scene, "  thread 4804 worker         stopped (SIGSTOP), waits for a lock\n    "
			    "  futex_wait\n");
}

static void test_a_thread_that_runs_python_is_shown(void **state)
{
	static const struct stack_frame frames[] = {
		{.function = "poll", .object = "libc.so.6"},
		{.kind = FRAME_PYTHON, .function = "get", .file = "queues.py", .line = 122},
	};
	struct dump_scene scene;
	struct dump_thread thread = outside(4802, DUMP_SLEEPS, DUMP_WAIT_FILES);

	(void)state;
	make_scene(&scene);
	thread.waiting.name = "poll";
	thread.stack = STACK(frames);
	add_thread(&scene, thread);
	expect_part(&scene, "  thread 4802 worker         waits for one of several files: poll\n"
			    "      get (queues.py:122)\n");
}

static void test_a_process_without_cuda(void **state)
{
	struct dump_scene scene;

	(void)state;
	make_scene(&scene);
	scene.dump.count = 2;
	expect(&scene, HEAD "2 threads, 2 in CUDA\n" MAIN AUTOGRAD
			    "\nprocess 12 (sh), 1 thread, no CUDA library is mapped\n"
			    "  thread 12 sh  waits for child 13 (ls)\n      [stack not known]\n");
	scene.dumps[1].maps_cuda = true;
	expect_part(&scene, "\nprocess 12 (sh), 1 thread, none in CUDA\n");
}

static void test_what_is_not_known_of_a_process(void **state)
{
	struct dump_scene scene;
	char command[100] = "";

	(void)state;
	make_scene(&scene);
	scene.gpus[0].used_bytes = GPU_UNKNOWN_BYTES;
	scene.gpus[1] = (struct process_gpu){.gpu = GPU_NONE, .used_bytes = 512};
	scene.processes[0].gpu_count = 2;
	scene.processes[0].cgroup_known = false;
	scene.processes[0].container[0] = '\0';
	expect_part(&scene, ", user ann, container unknown, GPU 0 (H100 80GB): memory unknown, "
			    "GPU unknown: 512 bytes, 2 threads");
	scene.gpu.name[0] = '\0';
	expect_part(&scene, ", GPU 0: memory unknown,");
	memset(command, 'a', sizeof(command) - 1);
	scene.dumps[0].command = command;
	memset(scene.processes[0].container, 'c', 64);
	strcpy(scene.processes[0].pod, "pod-1");
	scene.processes[0].cgroup_known = true;
	command[sizeof(command) - 2] = 'z';
	expect_part(&scene, "aaaaaaaaz), user ann, pod pod-1, container cccccccccccc, GPU");
	expect_no_part(&scene, "…");
	scene.view.on_terminal = true;
	expect_part(&scene, "aaaa…aaaa");
	expect_part(&scene, "aaaaaaaaz), user ann");
	command[80] = '\0';
	expect_part(&scene, "aaaaaaaaa), user ann");
	scene.dumps[0].command = NULL;
	expect_part(&scene, "process 4711 (python3), user ann");
}

static void expect_thread(struct dump_thread thread, const char *expected)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	dump_thread__print(out, &thread);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

#define THREAD(expected, ...) expect_thread((struct dump_thread){__VA_ARGS__}, expected)
#define SLEEPS(expected, ...) \
	expect_thread((struct dump_thread){.run = DUMP_SLEEPS, .waiting = {__VA_ARGS__}}, expected)

static void test_every_state_has_words(void **state)
{
	(void)state;
	THREAD("on the CPU", .run = DUMP_RUNS);
	THREAD("waits for a CPU", .run = DUMP_READY);
	THREAD("asleep", .run = DUMP_SLEEPS);
	THREAD("in the kernel (no signal wakes it)", .run = DUMP_SLEEPS_ON);
	THREAD("stopped (SIGSTOP)", .run = DUMP_STOPPED);
	THREAD("stopped by a debugger", .run = DUMP_TRACED);
	THREAD("frozen", .run = DUMP_FROZEN);
	THREAD("on the CPU (stack of some ms ago)", .approximate = true);
	THREAD("in the kernel (no signal wakes it), waits for a file (/data/a)",
	       .run = DUMP_SLEEPS_ON, .waiting = {.kind = DUMP_WAIT_FILE, .object = "/data/a"});
}

static void test_every_wait_has_words(void **state)
{
	(void)state;
	SLEEPS("waits for a lock", .kind = DUMP_WAIT_LOCK, .name = "futex");
	SLEEPS("waits for Python's lock (GIL)", .kind = DUMP_WAIT_GIL);
	SLEEPS("waits for Python's lock (GIL), held by thread 5", .kind = DUMP_WAIT_GIL,
	       .other = 5);
	SLEEPS("waits for Python's lock (GIL), held by thread 5 w\\n", .kind = DUMP_WAIT_GIL,
	       .other = 5, .other_comm = "w\n");
	SLEEPS("waits for one of several files", .kind = DUMP_WAIT_FILES);
	SLEEPS("waits for one of several files: epoll_wait", .kind = DUMP_WAIT_FILES,
	       .name = "epoll_wait");
	SLEEPS("waits for a pipe", .kind = DUMP_WAIT_PIPE);
	SLEEPS("waits for a pipe (pipe:[4711])", .kind = DUMP_WAIT_PIPE, .object = "pipe:[4711]",
	       .name = "read");
	SLEEPS("waits for a socket (socket:[7])", .kind = DUMP_WAIT_SOCKET, .object = "socket:[7]");
	SLEEPS("waits for a file (/a\\x1b)", .kind = DUMP_WAIT_FILE, .object = "/a\033");
	SLEEPS("waits for a child", .kind = DUMP_WAIT_CHILD);
	SLEEPS("waits for child 4712", .kind = DUMP_WAIT_CHILD, .other = 4712);
	SLEEPS("waits for child 4712 (na\\tme)", .kind = DUMP_WAIT_CHILD, .other = 4712,
	       .other_comm = "na\tme");
	SLEEPS("sleeps for a time", .kind = DUMP_WAIT_SLEEP);
	SLEEPS("waits for a signal", .kind = DUMP_WAIT_SIGNAL);
	SLEEPS("waits for the driver (/dev/nvidia0)", .kind = DUMP_WAIT_DRIVER,
	       .object = "/dev/nvidia0");
	SLEEPS("waits in the system call mmap", .kind = DUMP_WAIT_OTHER, .name = "mmap");
	SLEEPS("waits in another system call", .kind = DUMP_WAIT_OTHER);
}

static void test_calls(void **state)
{
	(void)state;
	THREAD("in cuMemAlloc, on the CPU", .call = "cuMemAlloc_v2");
	THREAD("in ncclAllReduce: cudaLaunchKernel, asleep", .by = "ncclAllReduce",
	       .call = "cudaLaunchKernel", .run = DUMP_SLEEPS);
	THREAD("in cublasCreate, asleep, waits for a lock", .by = "cublasCreate_v2",
	       .run = DUMP_SLEEPS, .waiting = {.kind = DUMP_WAIT_LOCK});
	THREAD("in a\\nb: c\\x1b, frozen", .by = "a\nb", .call = "c\033", .run = DUMP_FROZEN);
}

static void expect_short(struct stack stack, size_t from, const char *expected)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	short_stack__print(out, &stack, from, stack.count, 6, true);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_stacks(void **state)
{
	static const struct stack_frame hostile[] = {
		{.kind = FRAME_PYTHON, .function = "f\033[2J", .file = "/x/a\nb.py", .line = 1},
		{.kind = FRAME_PYTHON, .offset = 0x7f00},
		{.kind = FRAME_PYTHON, .function = "g", .file = "g.py"},
	};

	(void)state;
	expect_short(STACK(wait_frames), 0,
		     "      loss.item (train.py:60) < step (train.py:44) < main (train.py:91)\n");
	expect_short(STACK(wait_frames), 6, "      main (train.py:91)\n");
	expect_short(STACK(wait_frames), 7, "");
	expect_short(STACK(wait_frames), 700, "");
	expect_short((struct stack){0}, 0, "");
	expect_short(STACK(native_frames), 0,
		     "      cuLaunchKernel < libtorch.so < run_thread (main.c:12) < 0x7f00 < "
		     "[callers not found]\n");
	expect_short(STACK(native_frames), 2,
		     "      libtorch.so < run_thread (main.c:12) < 0x7f00 < [callers not found]\n");
	expect_short(STACK(hostile), 0,
		     "      f\\x1b[2J (a\\nb.py:1) < [Python code 0x7f00] < g (g.py)\n");
}

#define PYTHON(name, path) \
	{ \
		.kind = FRAME_PYTHON, .function = (name), .file = (path), .line = 9 \
	}
#define TORCH "/usr/lib/python3/site-packages/torch/nn/modules/"

/* The program's own lines: what frameworks and Python put between them is left out. */
static void test_framework_stacks(void **state)
{
	static const struct stack_frame frames[] = {
		PYTHON("Conv2d._conv_forward", TORCH "conv.py"),
		PYTHON("Module._call_impl", TORCH "module.py"),
		PYTHON("Net.forward", "/x/train.py"),
		PYTHON("Module._wrapped_call_impl", TORCH "module.py"),
		PYTHON("main", "/x/train.py"),
		PYTHON("Thread.run", "/usr/lib/python3.12/threading.py"),
		{.kind = FRAME_MARK, .function = "[callers not found]"},
	};
	struct stack library = STACK(frames);

	(void)state;
	expect_short(library, 0,
		     "      Conv2d._conv_forward (conv.py:9) < Net.forward (train.py:9) < "
		     "main (train.py:9) < [callers not found]\n");
	library.count = 2;
	expect_short(library, 0,
		     "      Conv2d._conv_forward (conv.py:9) < Module._call_impl (module.py:9)\n");
}

static void test_long_stacks(void **state)
{
	struct stack_frame frames[20];

	(void)state;
	for (size_t i = 0; i < COUNT(frames); i++)
		frames[i] = (struct stack_frame){.function = "fun"};
	expect_short((struct stack){.frames = frames, .count = 8}, 0,
		     "      fun < fun < fun < fun < fun < fun < fun < fun\n");
	expect_short(STACK(frames), 0,
		     "      fun < fun < fun < fun < fun < fun < fun < fun < 12 more\n");
	frames[19] = (struct stack_frame){.kind = FRAME_MARK, .function = "[truncated]"};
	expect_short(
		STACK(frames), 0,
		"      fun < fun < fun < fun < fun < fun < fun < fun < 11 more < [truncated]\n");
	frames[10] = (struct stack_frame){.kind = FRAME_MARK, .function = "[more Python frames]"};
	expect_short(STACK(frames), 0,
		     "      fun < fun < fun < fun < fun < fun < fun < fun < at least 10 more < "
		     "[truncated]\n");
	frames[8] = frames[19];
	expect_short((struct stack){.frames = frames, .count = 9}, 0,
		     "      fun < fun < fun < fun < fun < fun < fun < fun < [truncated]\n");
	frames[2] = frames[10];
	expect_short((struct stack){.frames = frames, .count = 4}, 0,
		     "      fun < fun < [more Python frames] < fun\n");
}

/* Columns of UTF-8. */
static size_t columns_of(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

/* On a terminal, however long the names are, a line has at most 160 columns and one frame. */
static void test_long_names(void **state)
{
	struct stack_frame frames[127];
	char name[4096], *text;

	(void)state;
	for (size_t length = 1; length < sizeof(name); length = length * 3 / 2 + 1) {
		size_t size;
		FILE *out = open_memstream(&text, &size);

		memset(name, length % 2 ? '\033' : 'n', length);
		name[length] = '\0';
		for (size_t i = 0; i < COUNT(frames); i++)
			frames[i] = (struct stack_frame){
				.function = name, .file = name, .line = UINT32_MAX};
		frames[126] =
			(struct stack_frame){.kind = FRAME_MARK, .function = "[callers not found]"};
		short_stack__print(out, &STACK(frames), 0, sizeof(frames) / sizeof(*frames), 6,
				   true);
		fclose(out);
		assert_true(columns_of(text) <= 160 + 1);
		assert_int_equal(strncmp(text, length % 2 ? "      \\x1b" : "      n", 7), 0);
		assert_non_null(strstr(text, " more < [callers not found]\n"));
		free(text);
	}
}

static void test_native_shows_every_frame(void **state)
{
	struct dump_scene scene;

	(void)state;
	make_scene(&scene);
	scene.view.all_frames = true;
	scene.threads[1].no_stack = true;
	scene.threads[1].stack = (struct stack){0};
	expect(&scene, HEAD "2 threads, 2 in CUDA\n"
			    "  thread 4711 MainThread     in cudaEventSynchronize, on the CPU\n"
			    "      poll+0x4f [libc.so.6]\n"
			    "      cudaEventSynchronize+0x1b [libcudart.so.13]\n"
			    "      at::wait(Event&)+0x10 [libtorch.so]\n"
			    "      loss.item (train.py:60)\n"
			    "      _PyEval_Vector+0x2 [python3]\n"
			    "      step (train.py:44)\n"
			    "      main (train.py:91)\n"
			    "  thread 4790 pt_autograd_0  in cuLaunchKernel, asleep\n"
			    "      [stack not known]\n");
}

static void test_nothing_gets_through_to_the_terminal(void **state)
{
	struct dump_scene scene;

	(void)state;
	make_scene(&scene);
	scene.dumps[0].command = (char *)"a\033[2J \377b";
	strcpy(scene.processes[0].user, "u\n");
	strcpy(scene.processes[0].container, "c\r");
	strcpy(scene.gpu.name, "g\t");
	strcpy(scene.threads[0].comm, "m\033\302\233");
	expect_part(&scene, "process 4711 (a\\x1b[2J \\xffb), user u\\n, container c\\r, GPU 0 "
			    "(g\\t): 41.2 GiB,");
	expect_part(&scene,
		    "  thread 4711 m\\x1b\\xc2\\x9b  in cudaEventSynchronize, on the CPU\n");
	expect_part(&scene, "  thread 4790 pt_autograd_0  in cuLaunchKernel, asleep\n");
}

#define AFTER \
	"5.0 s after the first dump; a thread that has not moved has the same call and stack in " \
	"both\n\n"
#define STANDS "cudaEventSynchronize, on the CPU, has not moved\n"
#define MOVED "cudaEventSynchronize, on the CPU\n"

static void test_what_has_not_moved(void **state)
{
	struct dump_scene first, scene;
	struct stack_frame frames[COUNT(wait_frames)];

	(void)state;
	make_scene(&first);
	make_scene(&scene);
	add_thread(&first, outside(4800, DUMP_SLEEPS, DUMP_WAIT_LOCK));
	add_thread(&scene, outside(4800, DUMP_SLEEPS, DUMP_WAIT_LOCK));
	add_thread(&scene, outside(4801, DUMP_SLEEPS, DUMP_WAIT_LOCK));
	scene.dump.boot_ns += 5 * NS_PER_S;
	scene.view.before = &first.dump;
	/* Another array with the same frames. */
	memcpy(frames, wait_frames, sizeof(frames));
	scene.threads[0].stack.frames = frames;
	first.threads[1].call = "cuLaunchKernelEx";
	expect_part(&scene, AFTER HEAD);
	expect_part(&scene, STANDS);
	expect_part(&scene, "cuLaunchKernel, asleep\n");
	expect_part(&scene, "  2 other threads: 2 wait for a lock; 1 of them has not moved\n");

	frames[5].line++;
	expect_part(&scene, MOVED);
	frames[5].line--;
	frames[5].function = NULL;
	expect_part(&scene, MOVED);
	frames[5].function = wait_frames[5].function;
	/* Frames inside the call may be at any offset: it spins. */
	frames[0].offset++;
	frames[0].function = "ppoll";
	expect_part(&scene, STANDS);
	scene.threads[0].stack.count--;
	expect_part(&scene, MOVED);
	scene.threads[0].stack.count++;
	first.threads[0].by = "ncclSend";
	expect_part(&scene, MOVED);
	first.threads[0].by = NULL;
	expect_part(&scene, STANDS);
}

static void test_what_cannot_be_compared(void **state)
{
	struct dump_scene first, scene;

	(void)state;
	make_scene(&first);
	make_scene(&scene);
	scene.view.before = &first.dump;
	expect_part(&scene, STANDS);
	expect_part(&scene, "0 ns after the first dump;");
	first.processes[0].start_ns++; /* the pid now belongs to another process */
	expect_no_part(&scene, ", has not moved");
	first.processes[0].start_ns--;
	first.processes[0].pid++;
	expect_no_part(&scene, ", has not moved");
	first.processes[0].pid--;
	first.threads[0].tid++;
	expect_part(&scene, MOVED);
	first.threads[0].tid--;
	first.threads[0].no_stack = scene.threads[0].no_stack = true;
	first.threads[0].stack = scene.threads[0].stack = (struct stack){0};
	expect_part(&scene, MOVED);
	first.dump.count = 0;
	expect_no_part(&scene, ", has not moved");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_process),
		cmocka_unit_test(test_exact_amounts),
		cmocka_unit_test(test_without_an_answer_of_nvml),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_other_threads_are_summed_up),
		cmocka_unit_test(test_a_thread_that_runs_python_is_shown),
		cmocka_unit_test(test_a_process_without_cuda),
		cmocka_unit_test(test_what_is_not_known_of_a_process),
		cmocka_unit_test(test_every_state_has_words),
		cmocka_unit_test(test_every_wait_has_words),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_framework_stacks),
		cmocka_unit_test(test_long_stacks),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_native_shows_every_frame),
		cmocka_unit_test(test_nothing_gets_through_to_the_terminal),
		cmocka_unit_test(test_what_has_not_moved),
		cmocka_unit_test(test_what_cannot_be_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
