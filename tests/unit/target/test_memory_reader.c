// SPDX-License-Identifier: BSD-2-Clause
// Another process's memory, read by a process that can be abandoned.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "fake_clock.h"
#include "no_valgrind.h"
#include "target/memory_reader.h"
#include "target/proc.h"

#define PAGE 4096ul
#define LARGE 200000ul
#define UNMAPPED 4096
#define TARGETS_MAX 16

static char large[LARGE];
static const char text[] = "_Z6kernelPf";
static char *last_page; /* the memory after it cannot be read */

/* --- time --- */

#define STEP_MS 10    /* of the memory reader: its socket's timeout */
#define ANSWER_MS 200 /* its wait for an answer */
#define SILENT UINT_MAX

/*
 * A requested page answers this many ms later by the memory reader's clock, which advances only
 * then. So nothing else is ever late, whatever delays this machine.
 */
static struct {
	/* Becomes readable when somebody waits for the page; 0: each page answers at once. */
	int asked_fd;
	int answer_fd;	       /* writing to it lets the page answer */
	unsigned int delay_ms; /* SILENT: never */
	unsigned int busy_ms;  /* each check for an answer comes so much later */
	unsigned int passed_ms;
} late;

static unsigned int requests;

/* In place of libc's. */
ssize_t send(int fd, const void *data, size_t size, int flags)
{
	requests++;
	return syscall(SYS_sendto, fd, data, size, flags, NULL, 0);
}

static ssize_t receive(int fd, struct msghdr *message, int flags)
{
	return syscall(SYS_recvmsg, fd, message, flags);
}

static void wait_until_asked(void)
{
	struct pollfd asked = {.fd = late.asked_fd, .events = POLLIN};

	assert_int_equal(poll(&asked, 1, -1), 1);
	assert_int_equal(asked.revents, POLLIN);
}

/* The same: a timeout comes at once if the reader waits for such a page, and never otherwise. */
ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t n;

	if (late.asked_fd) {
		wait_until_asked();
		if (late.delay_ms - late.passed_ms >= STEP_MS) {
			late.passed_ms += late.delay_ms == SILENT ? 0 : STEP_MS;
			pass_ms(STEP_MS + late.busy_ms);
			errno = EAGAIN;
			return -1;
		}
		pass_ms(late.delay_ms - late.passed_ms);
		late.passed_ms = 0;
		assert_int_equal(write(late.answer_fd, "", 1), 1);
	}
	do
		n = receive(fd, message, flags);
	while (n < 0 && (errno == EAGAIN || errno == EINTR));
	return n;
}

/* --- processes --- */

struct fixture {
	struct memory_reader *reader;
	pid_t target; /* answers */
	pid_t targets[TARGETS_MAX];
	size_t count;
};

/*
 * Runs a target, which reports through `ready` that it has begun: 0, or why it cannot. Does not
 * return.
 */
typedef void (*target_fn)(int ready);

static void report(int ready, int ret)
{
	if (write(ready, &ret, sizeof(ret)) != sizeof(ret) || ret < 0)
		_exit(1);
}

static void answer(int ready)
{
	report(ready, 0);
	for (;;)
		pause();
}

/* A copy of this process, which ends with it, or with the test. Negative: unavailable. */
static pid_t start_target(struct fixture *fixture, target_fn run)
{
	int ready[2], ret = -ECHILD;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(ready[1]);
	}
	assert_true(pid > 0 && fixture->count < TARGETS_MAX);
	fixture->targets[fixture->count++] = pid;
	close(ready[1]);
	assert_int_equal(read(ready[0], &ret, sizeof(ret)), sizeof(ret));
	close(ready[0]);
	return ret < 0 ? ret : pid;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->reader = memory_reader__new(NULL);
	assert_non_null(fixture->reader);
	fixture->target = start_target(fixture, answer);
	assert_true(fixture->target > 0);
	*state = fixture;
	return 0;
}

/* No child of this process may be left, ended or not. */
static int teardown(void **state)
{
	struct fixture *fixture = *state;

	memory_reader__free(fixture->reader);
	for (size_t i = 0; i < fixture->count; i++) {
		kill(fixture->targets[i], SIGKILL);
		assert_int_equal(waitpid(fixture->targets[i], NULL, 0), fixture->targets[i]);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	free(fixture);
	memset(&late, 0, sizeof(late));
	return 0;
}

static bool is_target(const struct fixture *fixture, pid_t pid)
{
	size_t i = 0;

	while (i < fixture->count && fixture->targets[i] != pid)
		i++;
	return i < fixture->count;
}

/* The reader's process; 0: there is none. */
static pid_t process_of(const struct fixture *fixture)
{
	struct pid_list list;
	pid_t found = 0;

	assert_int_equal(proc__descendants(getpid(), &list), 0);
	for (size_t i = 0; i < list.count; i++)
		if (!is_target(fixture, list.pids[i]) && proc__exists(list.pids[i]))
			found = list.pids[i];
	pid_list__clear(&list);
	return found;
}

static int read_text(struct fixture *fixture, char *buffer, size_t size)
{
	return memory_reader__read_string(fixture->reader, fixture->target, (uintptr_t)text, buffer,
					  size);
}

static void reads(void **state)
{
	struct fixture *fixture = *state;
	char buffer[sizeof(text)];

	assert_int_equal(process_of(fixture), 0);
	assert_int_equal(memory_reader__read(fixture->reader, fixture->target, (uintptr_t)text,
					     buffer, sizeof(text)),
			 0);
	assert_string_equal(buffer, text);
	assert_int_equal(
		memory_reader__read(fixture->reader, fixture->target, (uintptr_t)text, buffer, 0),
		0);
	assert_int_equal(memory_reader__read(fixture->reader, fixture->target, UNMAPPED, buffer, 8),
			 -EFAULT);
	assert_int_equal(
		memory_reader__read(fixture->reader, 999999999, (uintptr_t)text, buffer, 8),
		-ESRCH);
	/* Half of it can be read. */
	assert_int_equal(memory_reader__read(fixture->reader, fixture->target,
					     (uintptr_t)last_page + PAGE - 4, buffer, 8),
			 -EFAULT);
}

static void reads_strings(void **state)
{
	struct fixture *fixture = *state;
	char buffer[PAGE];
	uint64_t end = (uintptr_t)last_page + PAGE;

	assert_int_equal(read_text(fixture, buffer, sizeof(buffer)), 0);
	assert_string_equal(buffer, text);
	assert_int_equal(read_text(fixture, buffer, 5), -ENAMETOOLONG);
	/* Up to the last readable byte, and starting there. */
	assert_int_equal(
		memory_reader__read_string(fixture->reader, fixture->target, end - 4, buffer, PAGE),
		0);
	assert_string_equal(buffer, "end");
	assert_int_equal(memory_reader__read_string(fixture->reader, fixture->target, end - PAGE,
						    buffer, 100),
			 -ENAMETOOLONG);
	assert_int_equal(memory_reader__read_string(fixture->reader, fixture->target, UNMAPPED,
						    buffer, PAGE),
			 -EFAULT);
	assert_int_equal(memory_reader__read_string(fixture->reader, 999999999, end, buffer, PAGE),
			 -ESRCH);
}

static void reads_much(void **state)
{
	struct fixture *fixture = *state;
	char *buffer = malloc(LARGE);

	assert_non_null(buffer);
	for (size_t size = LARGE; size > 1000; size = size * 2 / 3) {
		memset(buffer, 0, LARGE);
		assert_int_equal(memory_reader__read(fixture->reader, fixture->target,
						     (uintptr_t)large, buffer, size),
				 0);
		assert_memory_equal(buffer, large, size);
	}
	free(buffer);
}

static void reads_environment(void **state)
{
	struct fixture *fixture = *state;
	char path[64], direct[PAGE], buffer[PAGE];
	size_t length = 0, expected;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)fixture->target);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	expected = (size_t)read(fd, direct, sizeof(direct));
	close(fd);
	for (int i = 0; i < 2; i++) {
		for (length = 0; length < expected; length += (size_t)n) {
			n = memory_reader__read_environment(fixture->reader, fixture->target,
							    length, buffer + length,
							    i ? expected - length : 1);
			assert_true(n > 0);
		}
		assert_memory_equal(buffer, direct, expected);
	}
	assert_int_equal(
		memory_reader__read_environment(fixture->reader, 999999999, 0, buffer, PAGE),
		-ENOENT);
}

static void reads_itself_without(void **state)
{
	char buffer[sizeof(text)];

	(void)state;
	assert_int_equal(memory_reader__read(NULL, getpid(), (uintptr_t)text, buffer, sizeof(text)),
			 0);
	assert_string_equal(buffer, text);
	assert_int_equal(
		memory_reader__read_string(NULL, getpid(), (uintptr_t)text, buffer, sizeof(text)),
		0);
	assert_string_equal(buffer, text);
	memory_reader__free(NULL);
}

static size_t count_descriptors(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	size_t count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)))
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

static void has_nothing_else_open(void **state)
{
	struct fixture *fixture = *state;
	struct process_info info;
	char buffer[sizeof(text)];

	not_under_valgrind();
	assert_int_equal(read_text(fixture, buffer, sizeof(buffer)), 0);
	assert_int_equal(count_descriptors(process_of(fixture)), 1);
	assert_int_equal(proc__info(process_of(fixture), &info), 0);
	assert_string_equal(info.comm, "gpuprobe-reader");
}

static void is_replaced(void **state)
{
	struct fixture *fixture = *state;
	char buffer[sizeof(text)];
	pid_t before;

	for (int i = 0; i < 20; i++) {
		assert_int_equal(read_text(fixture, buffer, sizeof(buffer)), 0);
		assert_string_equal(buffer, text);
		before = process_of(fixture);
		assert_true(before > 0);
		/* A terminal's signal to all does not end it. */
		kill(before, SIGINT);
		kill(before, SIGTERM);
		assert_int_equal(read_text(fixture, buffer, sizeof(buffer)), 0);
		assert_int_equal(process_of(fixture), before);
		kill(before, SIGKILL);
		if (i % 2)
			assert_int_equal(
				waitid(P_PID, (id_t)before, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
		memset(buffer, 0, sizeof(buffer));
	}
}

/* Pages whose readers block until this descriptor is closed. */
static int make_silent(char *pages, size_t size)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
		.range = {.start = (uintptr_t)pages, .len = size},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	assert_int_equal(ioctl(fd, UFFDIO_API, &api), 0);
	assert_int_equal(ioctl(fd, UFFDIO_REGISTER, &range), 0);
	return fd;
}

/* This process does not answer, its child does. */
static void gives_up(void **state)
{
	struct fixture *fixture = *state;
	char buffer[sizeof(text)], *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t begin = clock__boot_ns();
	unsigned int before;
	int fd;

	assert_ptr_not_equal(page, MAP_FAILED);
	fd = make_silent(page, PAGE);
	if (fd < 0)
		skip();
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0); /* as poll(2) requires */
	late.asked_fd = fd;
	late.delay_ms = SILENT;
	assert_int_equal(memory_reader__read(fixture->reader, getpid(), (uintptr_t)page, buffer, 8),
			 -ETIMEDOUT);
	assert_int_equal(clock__boot_ns() - begin, ANSWER_MS * NS_PER_MS);
	/* No further request is made to it, for anything. */
	late.asked_fd = 0;
	before = requests;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(
			memory_reader__read(fixture->reader, getpid(), (uintptr_t)text, buffer, 8),
			-ETIMEDOUT);
	assert_int_equal(requests, before);
	assert_int_equal(read_text(fixture, buffer, sizeof(buffer)), 0);
	assert_string_equal(buffer, text);
	close(fd);
	munmap(page, PAGE);
}

#define SLOW_PAGES 256

static char *slow_pages;
static int asked[2], may_answer[2]; /* pipes */

/* Reports that somebody waits for one of its pages, and lets it answer on request. */
static void answer_late(int ready)
{
	int fd = make_silent(slow_pages, SLOW_PAGES * PAGE);
	struct uffd_msg message;
	char byte;

	report(ready, fd);
	while (read(fd, &message, sizeof(message)) == sizeof(message)) {
		struct uffdio_zeropage zero = {.range = {.len = PAGE}};

		zero.range.start = message.arg.pagefault.address & ~(PAGE - 1);
		if (write(asked[1], "", 1) != 1 || read(may_answer[0], &byte, 1) != 1 ||
		    read(asked[0], &byte, 1) != 1)
			_exit(1);
		ioctl(fd, UFFDIO_ZEROPAGE, &zero);
	}
	_exit(1);
}

/* Negative: unavailable. */
static pid_t start_late(struct fixture *fixture, unsigned int delay_ms)
{
	late.asked_fd = asked[0];
	late.answer_fd = may_answer[1];
	late.delay_ms = delay_ms;
	return start_target(fixture, answer_late);
}

/* A process that does not answer at all, and whose state does not affect the next one. */
static int read_silent(struct fixture *fixture, pid_t pid)
{
	char buffer[8], byte;
	int ret = memory_reader__read(fixture->reader, pid, (uintptr_t)slow_pages, buffer,
				      sizeof(buffer));

	assert_int_equal(read(asked[0], &byte, 1), 1);
	return ret;
}

/* Killed readers may be gone at once. Even so, many of them must not hold up anybody. */
static void waits_for_a_few_only(void **state)
{
	struct fixture *fixture = *state;
	pid_t silent[10] = {0};
	char buffer[sizeof(text)];
	unsigned int before;
	uint64_t begin;

	for (int i = 0; i < 10; i++) {
		silent[i] = start_late(fixture, SILENT);
		if (silent[i] < 0)
			skip();
	}
	for (int i = 0; i < 8; i++)
		assert_int_equal(read_silent(fixture, silent[i]), -ETIMEDOUT);
	before = requests;
	begin = clock__boot_ns();
	for (int i = 8; i < 10; i++)
		assert_int_equal(memory_reader__read(fixture->reader, silent[i],
						     (uintptr_t)slow_pages, buffer, 8),
				 -EAGAIN);
	assert_int_equal(read_text(fixture, buffer, sizeof(buffer)), -EAGAIN);
	assert_int_equal(requests, before);
	assert_int_equal(clock__boot_ns(), begin);
}

/* Reads each page: returns how many answered; `ret` is the result of the read after them. */
static size_t read_late_pages(struct fixture *fixture, pid_t pid, int *ret)
{
	char buffer[8];
	size_t i;

	*ret = 0;
	for (i = 0; i < SLOW_PAGES && !*ret; i++)
		*ret = memory_reader__read(fixture->reader, pid, (uintptr_t)slow_pages + i * PAGE,
					   buffer, sizeof(buffer));
	return *ret ? i - 1 : i;
}

/* A process that answers each time within the answer timeout does not hold up anybody either. */
static void late_answers_are_bounded(void **state)
{
	struct fixture *fixture = *state;
	pid_t slow = start_late(fixture, 60);
	char buffer[sizeof(text)];
	uint64_t begin = clock__boot_ns();
	int ret;

	if (slow < 0)
		skip();
	assert_int_equal(read_late_pages(fixture, slow, &ret), 7);
	assert_int_equal(ret, -ETIMEDOUT);
	assert_int_equal(clock__boot_ns() - begin, 7 * 60 * NS_PER_MS);
	/* No further request is made to it, but to others. */
	late.asked_fd = 0;
	assert_int_equal(memory_reader__read(fixture->reader, slow, (uintptr_t)text, buffer, 8),
			 -ETIMEDOUT);
	assert_int_equal(read_text(fixture, buffer, sizeof(buffer)), 0);
}

/* Three use up a process's limit, and the fourth the rest of the limit for all. */
static void late_answers_of_many_are_bounded(void **state)
{
	struct fixture *fixture = *state;
	pid_t slow[8] = {0};
	uint64_t begin = clock__boot_ns();
	size_t answers = 0;
	int ret = 0;

	for (int i = 0; i < 8; i++) {
		slow[i] = start_late(fixture, 60);
		if (slow[i] < 0)
			skip();
	}
	for (int i = 0; i < 8; i++)
		answers += read_late_pages(fixture, slow[i], &ret);
	assert_int_equal(ret, -EAGAIN);
	assert_int_equal(answers, 27);
	assert_int_equal(clock__boot_ns() - begin, 27 * 60 * NS_PER_MS);
}

/* Short delays do not count, however many: a busy machine has them. */
static void moments_are_no_lateness(void **state)
{
	struct fixture *fixture = *state;
	pid_t target = start_late(fixture, 2);
	uint64_t begin = clock__boot_ns();
	int ret;

	if (target < 0)
		skip();
	assert_int_equal(read_late_pages(fixture, target, &ret), SLOW_PAGES);
	assert_int_equal(ret, 0);
	assert_int_equal(clock__boot_ns() - begin, SLOW_PAGES * 2 * NS_PER_MS);
}

/* The process may have answered quickly, once the machine let it. */
static void a_late_check_is_no_late_answer(void **state)
{
	struct fixture *fixture = *state;
	pid_t target = start_late(fixture, 45);
	char buffer[8];
	uint64_t begin = clock__boot_ns();

	if (target < 0)
		skip();
	late.busy_ms = 500;
	assert_int_equal(memory_reader__read(fixture->reader, target, (uintptr_t)slow_pages, buffer,
					     sizeof(buffer)),
			 0);
	assert_true(clock__boot_ns() - begin > 4 * 500 * NS_PER_MS);
}

static void one_process_reads_all(void **state)
{
	struct fixture *fixture = *state;
	char buffer[64];
	pid_t process;

	assert_int_equal(
		memory_reader__read(fixture->reader, fixture->target, (uintptr_t)large, buffer, 64),
		0);
	process = process_of(fixture);
	for (int i = 0; i < 10000; i++) {
		size_t at = (size_t)i * 7 % (LARGE - 64);

		assert_int_equal(memory_reader__read(fixture->reader, fixture->target,
						     (uintptr_t)large + at, buffer, 64),
				 0);
		assert_memory_equal(buffer, large + at, 64);
	}
	assert_int_equal(process_of(fixture), process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_strings, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_much, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_environment, setup, teardown),
		cmocka_unit_test(reads_itself_without),
		cmocka_unit_test_setup_teardown(has_nothing_else_open, setup, teardown),
		cmocka_unit_test_setup_teardown(is_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(gives_up, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_for_a_few_only, setup, teardown),
		cmocka_unit_test_setup_teardown(late_answers_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(late_answers_of_many_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(moments_are_no_lateness, setup, teardown),
		cmocka_unit_test_setup_teardown(a_late_check_is_no_late_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(one_process_reads_all, setup, teardown),
	};

	for (size_t i = 0; i < LARGE; i++)
		large[i] = (char)(i * 2654435761u >> 24);
	last_page =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(last_page + PAGE, PAGE, PROT_NONE);
	memset(last_page, 'x', PAGE);
	memcpy(last_page + PAGE - 4, "end", 4);
	slow_pages = mmap(NULL, SLOW_PAGES * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pipe(asked) || pipe(may_answer))
		return 1;
	/*
	 * A shell that started this in the background has them ignored, and they would end nobody.
	 */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
