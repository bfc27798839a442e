// SPDX-License-Identifier: BSD-2-Clause
// Addresses as functions, objects and lines: of this process itself, and from damaged files.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/function_name.h"
#include "symbol/native_frames.h"
#include "symbol/perf_map.h"
#include "symbol/source_lines.h"

struct fixture {
	struct native_frames *frames;
	struct native_process *process;
};

static struct fixture make(pid_t pid)
{
	struct fixture fixture = {native_frames__new(true, NULL), native_process__new(pid)};

	assert_non_null(fixture.frames);
	assert_non_null(fixture.process);
	native_frames__read(fixture.frames, fixture.process);
	return fixture;
}

static void clear(struct fixture *fixture)
{
	native_process__free(fixture->process);
	native_frames__free(fixture->frames);
}

static struct native_frame find(struct fixture *fixture, uint64_t address, enum native_address kind)
{
	struct native_frame frame;

	assert_int_equal(
		native_frames__find(fixture->frames, fixture->process, address, kind, &frame), 0);
	return frame;
}

static int call_line;

/* The address after the call of this function. */
static __attribute__((noinline)) uint64_t return_address(void)
{
	return (uintptr_t)__builtin_return_address(0);
}

static __attribute__((noinline)) uint64_t calls_from_here(void)
{
	volatile uint64_t address;

	call_line = __LINE__ + 1;
	address = return_address();
	return address;
}

static void assert_is_the_call(const struct native_frame *frame, uint64_t address)
{
	assert_string_equal(frame->function, "calls_from_here");
	assert_int_equal(frame->offset, address - (uintptr_t)calls_from_here);
	assert_string_equal(frame->object, program_invocation_short_name);
	assert_non_null(strstr(frame->file, "test_native_frames.c"));
	assert_int_equal(frame->line, call_line);
}

static void a_return_address_is_that_of_its_call(void **state)
{
	struct fixture fixture = make(getpid());
	uint64_t address = calls_from_here();
	struct native_frame frame = find(&fixture, address, ADDRESS_OF_RETURN);

	(void)state;
	assert_is_the_call(&frame, address);
	frame = find(&fixture, address, ADDRESS_OF_RETURN); /* already known */
	assert_is_the_call(&frame, address);
	frame = find(&fixture, (uintptr_t)calls_from_here, ADDRESS_OF_CODE);
	assert_string_equal(frame.function, "calls_from_here");
	assert_int_equal(frame.offset, 0);
	/*
	 * If a call is a function's last instruction, the address after it belongs to that
	 * function.
	 */
	frame = find(&fixture, (uintptr_t)calls_from_here, ADDRESS_OF_RETURN);
	assert_true(!frame.function || strcmp(frame.function, "calls_from_here") != 0);
	clear(&fixture);
}

static void nothing_is_made_up(void **state)
{
	struct fixture fixture = make(getpid());
	struct native_frame frame;
	int on_stack;

	(void)state;
	assert_int_equal(native_frames__find(fixture.frames, fixture.process, (uintptr_t)&on_stack,
					     ADDRESS_OF_RETURN, &frame),
			 -ENOENT);
	assert_int_equal(
		native_frames__find(fixture.frames, fixture.process, 0, ADDRESS_OF_RETURN, &frame),
		-ENOENT);
	assert_int_equal(native_frames__find(fixture.frames, fixture.process, UINT64_MAX,
					     ADDRESS_OF_CODE, &frame),
			 -ENOENT);
	clear(&fixture);
}

static void a_process_that_has_ended_keeps_its_names(void **state)
{
	uint64_t address = calls_from_here();
	struct native_frame frame;
	struct fixture fixture;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		pause();
		_exit(0);
	}
	fixture = make(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	frame = find(&fixture, address, ADDRESS_OF_RETURN);
	assert_is_the_call(&frame, address);
	native_frames__read(fixture.frames, fixture.process);
	frame = find(&fixture, address, ADDRESS_OF_RETURN);
	assert_is_the_call(&frame, address);
	clear(&fixture);
}

static void the_vdso_has_names(void **state)
{
	struct fixture fixture = make(getpid());
	void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *clock = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
	struct native_frame frame;

	(void)state;
	assert_non_null(clock);
	frame = find(&fixture, (uintptr_t)clock + 1, ADDRESS_OF_CODE);
	assert_string_equal(frame.function, "__vdso_clock_gettime");
	assert_int_equal(frame.offset, 1);
	assert_string_equal(frame.object, "[vdso]");
	clear(&fixture);
}

static uint64_t handler_returns_to;

static void handle(int number)
{
	(void)number;
	handler_returns_to = (uintptr_t)__builtin_return_address(0);
}

/*
 * A handler does not return to an address after a call; the end of another function may be before
 * it.
 */
static void a_signal_s_frame_is_itself(void **state)
{
	struct native_frame as_return, as_code;
	struct fixture fixture;

	(void)state;
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	fixture = make(getpid());
	as_return = find(&fixture, handler_returns_to, ADDRESS_OF_RETURN);
	as_code = find(&fixture, handler_returns_to, ADDRESS_OF_CODE);
	assert_int_equal(as_return.offset, as_code.offset);
	assert_non_null(strstr(as_return.object, "libc"));
	assert_true(!as_code.function == !as_return.function);
	if (as_return.function)
		assert_string_equal(as_return.function, as_code.function);
	clear(&fixture);
}

static char jit_path[64];

/* A file of another process that had this pid is removed. */
static void write_jit_map(const char *text)
{
	FILE *out;

	unlink(jit_path);
	out = fopen(jit_path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void assert_jit(const struct perf_map *map, uint64_t address, const char *expected,
		       uint64_t expected_offset)
{
	uint64_t offset;
	const char *name = perf_map__find(map, address, &offset);

	if (!expected) {
		assert_null(name);
		return;
	}
	assert_string_equal(name, expected);
	assert_int_equal(offset, expected_offset);
}

static void names_of_jit_compilers(void **state)
{
	struct perf_map *map;

	(void)state;
	write_jit_map("2000 10 second\n"
		      "1000 20 first with spaces\n"
		      "\n 7\nzzzz 10 no number\n3000 10\n3000 0 empty\n"
		      "ffffffffffffffffffff 10 too large\n"
		      "2000 8 second, made anew\n"
		      "fffffffffffffff0 ffffffffffffffff wraps around\n"
		      "4000 10 not whole yet");
	map = perf_map__read(getpid());
	assert_non_null(map);
	assert_jit(map, 0xfff, NULL, 0);
	assert_jit(map, 0x1000, "first with spaces", 0);
	assert_jit(map, 0x101f, "first with spaces", 0x1f);
	assert_jit(map, 0x1020, NULL, 0);
	assert_jit(map, 0x2007, "second, made anew", 7);
	assert_jit(map, 0x2008, NULL, 0);
	assert_jit(map, 0x3000, NULL, 0);
	assert_jit(map, 0x4000, NULL, 0);
	perf_map__free(map);
	unlink(jit_path);
	assert_null(perf_map__read(getpid()));
}

static void only_the_process_s_own_map_is_believed(void **state)
{
	(void)state;
	write_jit_map("1000 20 name\n");
	assert_int_equal(chown(jit_path, 12345, 12345), 0);
	assert_null(perf_map__read(getpid()));
	unlink(jit_path);
	assert_int_equal(mkfifo(jit_path, 0600), 0);
	assert_null(perf_map__read(getpid()));
	unlink(jit_path);
	assert_int_equal(mkdir(jit_path, 0700), 0);
	assert_null(perf_map__read(getpid()));
	rmdir(jit_path);
	assert_null(perf_map__read(0x7fffffff));
}

static void assert_readable(const char *symbol, const char *expected)
{
	char *name = function_name__readable(symbol);

	assert_string_equal(name, expected);
	free(name);
}

static void names_are_readable(void **state)
{
	char longer[5002] = "";
	char *name;

	(void)state;
	assert_readable("main", "main");
	assert_readable("_ZN4shop10grow_cacheERNS_5CacheEm",
			"shop::grow_cache(shop::Cache&, unsigned long)");
	assert_readable("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
			"core::fmt::Formatter::write_str");
	assert_readable("_ZN53_$LT$$RF$T$u20$as$u20$core..fmt..Display$C$$BP$..$GT$"
			"3fmt17h0123456789abcdefE",
			"<&T as core::fmt::Display,*::>::fmt");
	assert_readable("_ZN3one3two17h0123456789abcdeXE", "one::two::h0123456789abcdeX");
	assert_readable("_ZN3one7$u07$xx17h0123456789abcdefE", "one::$u07$xx");
	assert_readable("_RNvC7mycrate3foo", "mycrate::foo");
	assert_readable("_Z", "_Z");
	memset(longer, 'a', sizeof(longer) - 1);
	name = function_name__readable(longer);
	assert_int_equal(strlen(name), FUNCTION_NAME_MAX);
	free(name);
}

/* Makes every libdw query on this program with some bytes changed; each must return. */
static void ask(const char *image, size_t size, uint64_t vaddr)
{
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	struct source_lines *lines;
	uint32_t line;
	char *path;

	assert_int_equal(write(fd, image, size), size);
	lines = source_lines__new(fd);
	for (uint64_t i = 0; lines && i < 64; i++) {
		if (!source_lines__find(lines, vaddr + i * 97, &path, &line))
			free(path);
	}
	source_lines__free(lines);
	close(fd);
}

static void survives_damage(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct fixture fixture = make(getpid());
	struct native_frame frame;
	unsigned int seed = 1;
	struct stat stat;
	uint64_t vaddr;
	char *image;

	(void)state;
	assert_int_equal(
		native_process__locate(fixture.process, (uintptr_t)calls_from_here, &frame), 0);
	vaddr = frame.offset;
	clear(&fixture);
	fstat(fd, &stat);
	image = malloc((size_t)stat.st_size);
	for (int round = 0; round < 60; round++) {
		assert_int_equal(pread(fd, image, (size_t)stat.st_size, 0), stat.st_size);
		for (int i = 0; i < 1 << round % 12; i++)
			image[64 + (size_t)rand_r(&seed) % ((size_t)stat.st_size - 64)] =
				(char)rand_r(&seed);
		ask(image, (size_t)stat.st_size, vaddr);
		ask(image, (size_t)rand_r(&seed) % (size_t)stat.st_size, vaddr);
	}
	free(image);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_return_address_is_that_of_its_call),
		cmocka_unit_test(nothing_is_made_up),
		cmocka_unit_test(a_process_that_has_ended_keeps_its_names),
		cmocka_unit_test(the_vdso_has_names),
		cmocka_unit_test(a_signal_s_frame_is_itself),
		cmocka_unit_test(names_of_jit_compilers),
		cmocka_unit_test(only_the_process_s_own_map_is_believed),
		cmocka_unit_test(names_are_readable),
		cmocka_unit_test(survives_damage),
	};

	snprintf(jit_path, sizeof(jit_path), "/tmp/perf-%d.map", (int)getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
