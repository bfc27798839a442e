// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls cudaMalloc from known places, each with a size of its own, which is how
 * test_trace_stacks.py tells them apart; "// at NAME" marks the line of a call.
 *
 *   stacks [-d] PLUGIN
 *
 * -d: removes its own file first.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

extern "C" int cudaMalloc(void **address, unsigned long size);

static volatile int calls;

NOINLINE static void allocate(unsigned long size)
{
	void *address;
	int result = cudaMalloc(&address, size); // at allocate

	if (result)
		abort();
	calls++;
}

namespace shop {

struct Cache {
	unsigned long size;
};

NOINLINE void grow_cache(Cache &cache, unsigned long size)
{
	cache.size += size;
	allocate(size); // at grow_cache
	calls++;
}

template <typename T> struct Basket {
	NOINLINE void fill(T value);
};

namespace {

NOINLINE void hidden(unsigned long size)
{
	Cache cache = {0};

	grow_cache(cache, size); // at hidden
	calls++;
}

} // namespace

template <typename T> void Basket<T>::fill(T value)
{
	hidden((unsigned long)value); // at fill
	calls++;
}

template struct Basket<int>;

NOINLINE void rust() __asm__("_ZN4shop13_$LT$impl$GT$4rust17h0123456789abcdefE");
void rust()
{
	allocate(600); // at rust
	calls++;
}

} // namespace shop

extern "C" NOINLINE void *work(void *argument)
{
	allocate((unsigned long)argument); // at work
	calls++;
	return NULL;
}

extern "C" NOINLINE void from_plugin()
{
	allocate(300); // at from_plugin
	calls++;
}

NOINLINE static void recurse(int depth)
{
	if (depth)
		recurse(depth - 1); // at recurse
	else
		allocate(400); // at deepest
	calls++;
}

NOINLINE static void on_signal(int number)
{
	allocate(500 + (unsigned long)number - SIGUSR1); // at on_signal
	calls++;
}

NOINLINE static void run_thread()
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, (void *)200) || pthread_join(thread, NULL))
		abort();
}

static long lines_of(const char *path)
{
	FILE *file = fopen(path, "r");
	long lines = 0;

	for (int character; file && (character = getc(file)) != EOF;)
		lines += character == '\n';
	if (file)
		fclose(file);
	return lines;
}

/* Until the file TRACE_FILE has TRACE_LINES lines: by then the mappings that the calls had have been looked at. */
static void wait_for_lines()
{
	const char *path = getenv("TRACE_FILE"), *wanted = getenv("TRACE_LINES");

	for (int tries = 0; path && wanted && lines_of(path) < atol(wanted); tries++) {
		if (tries == 6000)
			abort();
		usleep(10000);
	}
}

NOINLINE static void run_plugin(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*call_back)(void (*)()) = library ? (void (*)(void (*)()))dlsym(library, "call_back") : NULL;

	if (!call_back)
		abort();
	call_back(from_plugin); // at run_plugin
	wait_for_lines();
	dlclose(library);
}

NOINLINE static void run_signal()
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
}

int main(int count, char **arguments)
{
	shop::Basket<int> basket;

	if (count == 3 && unlink(arguments[0]))
		return 1;
	basket.fill(100); // at main
	run_thread();
	run_plugin(arguments[count - 1]);
	recurse(60); // at main, recursing
	run_signal();
	shop::rust();
	return 0;
}
