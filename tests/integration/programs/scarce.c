// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into gpuprobe: makes allocations fail. They are identified by their call stacks, of
 * which only the offsets within pages count, so that they are the same in each run.
 *
 *   SCARCE_LIST=FILE    a line for each stack at its first allocation, and the number of
 *                       allocations
 *   SCARCE_STACK=HEX    the first allocation by this stack fails
 *   SCARCE_NUMBER=N     the Nth allocation fails
 *   SCARCE_FROM=1       and all later ones
 *   SCARCE_HIT=FILE     gets the stacks of the first hundred failed allocations, for addr2line
 *
 * The programs that gpuprobe starts do not inherit any of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH 40
#define STACKS 65536 /* a power of two, and more than there are stacks */
#define PAGE_OFFSET 4095u
#define TOLD_MAX 100

/* glibc's own functions, under the names that stay available to replacements. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool active, from_then_on;
static uint64_t wanted, wanted_number;
static atomic_ullong number;
static atomic_int told;
static pid_t self;
static int list = -1;
static char hit[256];
static atomic_bool failing;
static _Atomic uint64_t seen[STACKS];
static __thread bool inside;

/* Returns whether the stack is new. */
static bool remember(uint64_t stack)
{
	for (size_t i = stack % STACKS;; i = (i + 1) % STACKS) {
		uint64_t free = 0;

		if (atomic_load(&seen[i]) == stack)
			return false;
		if (atomic_compare_exchange_strong(&seen[i], &free, stack))
			return true;
		if (free == stack)
			return false;
	}
}

static uint64_t this_stack(void)
{
	void *frames[DEPTH];
	uint64_t hash = 14695981039346656037ull;
	int depth = backtrace(frames, DEPTH);

	/* Skips this file's frames: they say which function allocated. */
	for (int i = 1; i < depth; i++)
		hash = (hash ^ ((uintptr_t)frames[i] & PAGE_OFFSET)) * 1099511628211ull;
	return hash ? hash : 1;
}

static void tell_hit(void)
{
	void *frames[DEPTH];
	int fd;

	if (!*hit || atomic_fetch_add(&told, 1) >= TOLD_MAX)
		return;
	fd = open(hit, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	backtrace_symbols_fd(frames, backtrace(frames, DEPTH), fd);
	if (write(fd, "\n", 1) < 0)
		abort();
	close(fd);
}

static void write_line(const char *format, unsigned long long value)
{
	char line[32];
	int length = snprintf(line, sizeof(line), format, value);

	/* A process forked by gpuprobe may have closed it. */
	if (write(list, line, (size_t)length) < 0 && getpid() == self)
		abort();
}

static bool is_wanted(unsigned long long which)
{
	uint64_t stack;

	if (wanted_number)
		return which == wanted_number;
	stack = this_stack();
	if (list >= 0 && remember(stack))
		write_line("%016llx\n", stack);
	return wanted && stack == wanted && remember(stack);
}

static bool is_refused(void)
{
	if (!atomic_load(&failing) && !is_wanted(atomic_fetch_add(&number, 1) + 1))
		return false;
	if (from_then_on)
		atomic_store(&failing, true);
	tell_hit();
	return true;
}

/* Whether the allocation must fail. */
static bool refused(void)
{
	bool result;

	if (!active || inside)
		return false;
	inside = true;
	result = is_refused();
	inside = false;
	if (result)
		errno = ENOMEM;
	return result;
}

void *malloc(size_t size)
{
	return refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return refused() ? NULL : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
	return refused() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return refused() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	*out = refused() ? NULL : __libc_memalign(alignment, size);
	return *out ? 0 : ENOMEM;
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (refused())
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

static const char *take(const char *name)
{
	const char *value = getenv(name);

	unsetenv(name);
	return value;
}

static void __attribute__((constructor)) begin(void)
{
	const char *path = take("SCARCE_LIST"), *stack = take("SCARCE_STACK"),
		   *told = take("SCARCE_HIT");
	const char *nth = take("SCARCE_NUMBER");
	void *frame;

	from_then_on = take("SCARCE_FROM") != NULL;
	unsetenv("LD_PRELOAD");
	backtrace(&frame, 1); /* the first call loads a library */
	if (path)
		list = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (stack)
		wanted = strtoull(stack, NULL, 16);
	if (nth)
		wanted_number = strtoull(nth, NULL, 10);
	if (told)
		snprintf(hit, sizeof(hit), "%s", told);
	self = getpid();
	active = path || stack || nth;
}

static void __attribute__((destructor)) end(void)
{
	active = false;
	if (list >= 0 && getpid() == self)
		write_line("total %llu\n", atomic_load(&number));
}
