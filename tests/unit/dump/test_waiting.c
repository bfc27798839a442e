// SPDX-License-Identifier: BSD-2-Clause
// What threads wait for: children of this test, each asleep in one system call.
#include <asm/unistd_64.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "dump/waiting_scene.h"
#include "no_valgrind.h"

#define LONG_MS 1000000

static int pipe_fd, socket_fd, event_fd, lock_fd, epoll_one, epoll_two;
static const struct timespec long_time = {.tv_sec = 1000};

static int open_descriptors(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pipe_fd = ends[0];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	socket_fd = ends[0];
	event_fd = eventfd(0, 0);
	lock_fd = memfd_create("lock", 0);
	assert_int_equal(flock(lock_fd, LOCK_EX), 0);
	epoll_one = epoll_create1(0);
	epoll_two = epoll_create1(0);
	assert_int_equal(epoll_ctl(epoll_one, EPOLL_CTL_ADD, socket_fd,
				   &(struct epoll_event){.events = EPOLLIN}),
			 0);
	assert_int_equal(epoll_ctl(epoll_two, EPOLL_CTL_ADD, socket_fd,
				   &(struct epoll_event){.events = EPOLLIN}),
			 0);
	assert_int_equal(epoll_ctl(epoll_two, EPOLL_CTL_ADD, pipe_fd,
				   &(struct epoll_event){.events = EPOLLIN}),
			 0);
	return 0;
}

/* --- the children's system calls --- */

static void read_from(int fd)
{
	char bytes[8];

	_exit(read(fd, bytes, sizeof(bytes)) > 0);
}

static void read_pipe(void)
{
	read_from(pipe_fd);
}

static void read_event(void)
{
	read_from(event_fd);
}

static void receive(void)
{
	char byte;

	_exit(recv(socket_fd, &byte, 1, 0) > 0);
}

static void poll_one(void)
{
	struct pollfd polled[] = {
		{.fd = -1}, {.fd = pipe_fd, .events = POLLIN}, {.fd = pipe_fd, .events = POLLPRI}};

	poll(polled, COUNT(polled), LONG_MS);
}

static void poll_two(void)
{
	struct pollfd polled[] = {{.fd = socket_fd, .events = POLLIN},
				  {.fd = pipe_fd, .events = POLLIN}};

	poll(polled, COUNT(polled), LONG_MS);
}

static void poll_none(void)
{
	poll(NULL, 0, LONG_MS);
}

static void select_them(int first, int second)
{
	struct timeval time = {.tv_sec = 1000};
	fd_set reads, failures;

	FD_ZERO(&reads);
	FD_ZERO(&failures);
	FD_SET(first, &reads);
	FD_SET(second, &failures);
	select((first > second ? first : second) + 1, &reads, NULL, &failures, &time);
}

static void select_one(void)
{
	select_them(pipe_fd, pipe_fd);
}

static void select_two(void)
{
	select_them(socket_fd, pipe_fd);
}

static void select_none(void)
{
	select(0, NULL, NULL, NULL, &(struct timeval){.tv_sec = 1000});
}

static void wait_epoll_one(void)
{
	struct epoll_event event;

	epoll_wait(epoll_one, &event, 1, LONG_MS);
}

static void wait_epoll_two(void)
{
	struct epoll_event event;

	epoll_wait(epoll_two, &event, 1, LONG_MS);
}

static void lock_file(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", lock_fd);
	flock(open(path, O_RDONLY), LOCK_EX);
}

static void sleep_relative(void)
{
	syscall(SYS_nanosleep, &long_time, NULL);
}

static void sleep_by_clock(void)
{
	clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL);
}

static void wait_for_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &long_time);
}

static int word = 1;

static void wait_for_futex(void)
{
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &long_time, NULL, 0);
}

/* --- what is reported about them --- */

struct sample {
	void (*work)(void);
	uint64_t number;
	enum dump_wait kind;
	const char *name;
	const int *fd; /* the one reported; NULL: none */
};

static void check_object(const struct dump_waiting *waiting, const int *fd)
{
	char path[64], object[sizeof(waiting->object)] = "";

	if (fd) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
		assert_true(readlink(path, object, sizeof(object) - 1) > 0);
	}
	assert_string_equal(waiting->object, object);
}

static void check(const struct sample *sample, pid_t pid, const struct thread_look *look)
{
	struct dump_waiting waiting = find_by(pid, look);

	assert_int_equal(waiting.kind, sample->kind);
	assert_string_equal(waiting.name, sample->name);
	check_object(&waiting, sample->fd);
}

static void each_call_is_reported(void **state)
{
	static const struct sample samples[] = {
		{read_pipe, __NR_read, DUMP_WAIT_PIPE, "read", &pipe_fd},
		{read_event, __NR_read, DUMP_WAIT_FILE, "read", &event_fd},
		{receive, __NR_recvfrom, DUMP_WAIT_SOCKET, "recvfrom", &socket_fd},
		{poll_one, __NR_poll, DUMP_WAIT_PIPE, "poll", &pipe_fd},
		{poll_two, __NR_poll, DUMP_WAIT_FILES, "poll", NULL},
		{poll_none, __NR_poll, DUMP_WAIT_SLEEP, "poll", NULL},
		{select_one, __NR_pselect6, DUMP_WAIT_PIPE, "pselect6", &pipe_fd},
		{select_two, __NR_pselect6, DUMP_WAIT_FILES, "pselect6", NULL},
		{select_none, __NR_pselect6, DUMP_WAIT_SLEEP, "pselect6", NULL},
		{wait_epoll_one, __NR_epoll_wait, DUMP_WAIT_SOCKET, "epoll_wait", &socket_fd},
		{wait_epoll_two, __NR_epoll_wait, DUMP_WAIT_FILES, "epoll_wait", NULL},
		{lock_file, __NR_flock, DUMP_WAIT_OTHER, "flock", &lock_fd},
		{sleep_relative, __NR_nanosleep, DUMP_WAIT_SLEEP, "nanosleep", NULL},
		{sleep_by_clock, __NR_clock_nanosleep, DUMP_WAIT_SLEEP, "clock_nanosleep", NULL},
		{wait_forever, __NR_pause, DUMP_WAIT_SIGNAL, "pause", NULL},
		{wait_for_signal, __NR_rt_sigtimedwait, DUMP_WAIT_SIGNAL, "rt_sigtimedwait", NULL},
		{wait_for_futex, __NR_futex, DUMP_WAIT_LOCK, "futex", NULL}};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		pid_t pid = start_child(samples[i].work);
		struct thread_look *look = look_at(pid, samples[i].number);

		check(&samples[i], pid, look);
		free(look);
		end_child(pid);
	}
}

/*
 * As in a container: /dev is a separate mount. A FIFO stands in for the device, which offers
 * nothing to wait for.
 */
static void read_device(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		_exit(1);
	if (mount("none", "/dev", "tmpfs", 0, NULL) || mkfifo("/dev/nvidia0", 0600))
		_exit(1);
	read_from(open("/dev/nvidia0", O_RDWR));
}

static void devices_of_nvidia_are_the_drivers(void **state)
{
	struct dump_waiting waiting;
	struct thread_look *look;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	pid = start_child(read_device);
	look = look_at(pid, __NR_read);
	waiting = find_by(pid, look);
	assert_int_equal(waiting.kind, DUMP_WAIT_DRIVER);
	assert_string_equal(waiting.object, "/dev/nvidia0");
	look->system_call = __NR_ioctl;
	waiting = find_by(pid, look);
	assert_int_equal(waiting.kind, DUMP_WAIT_DRIVER);
	assert_string_equal(waiting.name, "ioctl");
	look->argument[0] = (uint64_t)pipe_fd;
	waiting = find_by(pid, look);
	assert_int_equal(waiting.kind, DUMP_WAIT_OTHER);
	check_object(&waiting, &pipe_fd);
	free(look);
	end_child(pid);
}

/* A stopped child continues in restart_syscall(2), which hides its original call. */
static void restarted_calls_are_reported(void **state)
{
	static const struct sample samples[] = {
		{poll_one, __NR_poll, DUMP_WAIT_PIPE, "poll", &pipe_fd},
		{poll_none, __NR_poll, DUMP_WAIT_SLEEP, "poll", NULL},
		{sleep_relative, __NR_nanosleep, DUMP_WAIT_SLEEP, "nanosleep", NULL},
		{sleep_by_clock, __NR_clock_nanosleep, DUMP_WAIT_SLEEP, "clock_nanosleep", NULL},
		{wait_for_futex, __NR_futex, DUMP_WAIT_LOCK, "futex", NULL}};

	(void)state;
	not_under_valgrind();
	for (size_t i = 0; i < COUNT(samples); i++) {
		pid_t pid = start_child(samples[i].work);
		struct thread_look *look = look_at(pid, samples[i].number);

		free(look);
		assert_int_equal(kill(pid, SIGSTOP), 0);
		assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
		assert_int_equal(kill(pid, SIGCONT), 0);
		look = look_at(pid, __NR_restart_syscall);
		check(&samples[i], pid, look);
		free(look);
		end_child(pid);
	}
}

static void who_runs_waits_for_nothing(void **state)
{
	pid_t pid = start_child(read_pipe);
	struct thread_look *look = look_at(pid, __NR_read);
	struct dump_thread thread = {.tid = pid, .waiting = {.kind = DUMP_WAIT_LOCK}};
	const struct thread_look *looks[] = {look};

	(void)state;
	look->on_cpu = 1;
	waiting__find(NULL, pid, looks, &thread, 1);
	assert_int_equal(thread.run, DUMP_RUNS);
	assert_int_equal(thread.waiting.kind, DUMP_WAIT_NONE);
	look->on_cpu = 0;
	look->state = 0;
	waiting__find(NULL, pid, looks, &thread, 1);
	assert_int_equal(thread.run, DUMP_READY);
	assert_int_equal(thread.waiting.kind, DUMP_WAIT_NONE);
	look->state = TASK_SLEEPS;
	look->system_call = NO_SYSTEM_CALL;
	waiting__find(NULL, pid, looks, &thread, 1);
	assert_int_equal(thread.run, DUMP_SLEEPS);
	assert_int_equal(thread.waiting.kind, DUMP_WAIT_NONE);
	looks[0] = NULL;
	waiting__find(NULL, pid, looks, &thread, 1);
	assert_int_equal(thread.waiting.kind, DUMP_WAIT_NONE);
	free(look);
	end_child(pid);
}

/* The process ends, and its pid with it, before it is examined. */
static void ended_processes_are_withstood(void **state)
{
	pid_t pid = start_child(read_pipe);
	struct thread_look *look = look_at(pid, __NR_read);
	struct dump_waiting waiting;

	(void)state;
	end_child(pid);
	waiting = find_by(pid, look);
	assert_int_equal(waiting.kind, DUMP_WAIT_OTHER);
	assert_string_equal(waiting.name, "read");
	assert_string_equal(waiting.object, "");
	free(look);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_reported),
		cmocka_unit_test(devices_of_nvidia_are_the_drivers),
		cmocka_unit_test(restarted_calls_are_reported),
		cmocka_unit_test(who_runs_waits_for_nothing),
		cmocka_unit_test(ended_processes_are_withstood),
	};

	return cmocka_run_group_tests(tests, open_descriptors, NULL);
}
