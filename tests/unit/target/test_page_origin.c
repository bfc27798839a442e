// SPDX-License-Identifier: BSD-2-Clause
// Which pages of a mapped file are the file's: of this process itself.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/page_origin.h"

#define PAGE 4096
#define PAGES (PAGE_ORIGIN_WINDOW + 8) /* more than are looked up at once */

/* A private mapping of a file of so many pages. */
static unsigned char *map_file(void)
{
	char path[] = "/tmp/gpuprobe-page-origin-XXXXXX";
	int fd = mkstemp(path);
	unsigned char *memory;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(ftruncate(fd, PAGES * PAGE), 0);
	memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	close(fd);
	return memory;
}

static bool is_file(struct page_origin *origin, const unsigned char *memory, size_t page)
{
	return page_origin__is_file(origin, (uintptr_t)memory + page * PAGE + 8);
}

static void written_pages_are_the_process_s_own(void **state)
{
	unsigned char *memory = map_file();
	const volatile unsigned char *read_only = memory;
	struct page_origin origin;

	(void)state;
	memory[PAGE + 100] = 0xcc;
	memory[(PAGES - 1) * PAGE] = 0xe9;
	assert_int_equal(read_only[2 * PAGE], 0); /* which brings the file's page in */
	page_origin__open(&origin, getpid());
	assert_true(is_file(&origin, memory, 0)); /* not in memory yet, or read around the others */
	assert_false(is_file(&origin, memory, 1));
	assert_true(is_file(&origin, memory, 2));
	assert_true(is_file(&origin, memory, PAGES - 2));
	assert_false(is_file(&origin, memory, PAGES - 1));
	assert_false(is_file(&origin, memory, 1)); /* back again */
	page_origin__close(&origin);
	munmap(memory, PAGES * PAGE);
}

static void a_process_that_is_gone_is_unknown(void **state)
{
	unsigned char *memory = map_file();
	struct page_origin origin;

	(void)state;
	page_origin__open(&origin, 0x7ffffffe); /* above the kernel's largest pid */
	assert_false(is_file(&origin, memory, 0));
	page_origin__close(&origin);
	munmap(memory, PAGES * PAGE);
}

/* The kernel knows nothing of addresses above the process's. */
static void an_address_that_no_process_has_is_unknown(void **state)
{
	struct page_origin origin;

	(void)state;
	page_origin__open(&origin, getpid());
	assert_false(page_origin__is_file(&origin, ~(uint64_t)0xffff));
	assert_false(page_origin__is_file(&origin, UINT64_MAX));
	page_origin__close(&origin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_pages_are_the_process_s_own),
		cmocka_unit_test(a_process_that_is_gone_is_unknown),
		cmocka_unit_test(an_address_that_no_process_has_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
