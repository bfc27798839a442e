// SPDX-License-Identifier: BSD-2-Clause
// What threads wait for: children of this test, each asleep in one system call.
#include <asm/unistd_64.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
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

#include "dump/look_of_child.h"
#include "dump/waiting.h"
#include "no_valgrind.h"
#include "target/proc.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
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

static void wait_forever(void)
{
	for (;;)
		pause();
}

/* The process ends with its parent, which may already be gone. */
static void end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

static pid_t start_grandchild(void)
{
	pid_t parent = getpid(), pid;

	/* Inherited by the grandchild: it may be looked at as soon as it exists. */
	prctl(PR_SET_NAME, "grandchild");
	pid = fork();
	if (pid == 0) {
		end_with(parent);
		wait_forever();
	}
	return pid;
}

static void wait_for_child(void)
{
	waitpid(start_grandchild(), NULL, 0);
}

static void wait_for_any_child(void)
{
	start_grandchild();
	waitpid(-1, NULL, 0);
}

static void wait_for_id(void)
{
	siginfo_t info;

	waitid(P_PID, (id_t)start_grandchild(), &info, WEXITED);
}

static void wait_for_pidfd(void)
{
	siginfo_t info;

	waitid((idtype_t)3 /* P_PIDFD */, (id_t)syscall(SYS_pidfd_open, start_grandchild(), 0),
	       &info, WEXITED);
}

static void clone_like_vfork(void)
{
	pid_t parent = getpid();

	if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
		end_with(parent);
		wait_forever();
	}
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

static struct dump_waiting find_by(pid_t pid, const struct thread_look *look)
{
	struct dump_thread thread = {.tid = pid};

	waiting__find(NULL, pid, &look, &thread, 1);
	return thread.waiting;
}

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

/* --- children --- */

static void check_grandchild(const struct dump_waiting *waiting, pid_t pid)
{
	struct process_info info;

	assert_int_equal(waiting->kind, DUMP_WAIT_CHILD);
	assert_int_equal(proc__info(waiting->other, &info), 0);
	assert_int_equal(info.parent, pid);
}

static void children_are_reported(void **state)
{
	static const struct {
		void (*work)(void);
		uint64_t number;
		bool which;
	} samples[] = {{wait_for_child, __NR_wait4, true},
		       {wait_for_any_child, __NR_wait4, false},
		       {wait_for_id, __NR_waitid, true},
		       {wait_for_pidfd, __NR_waitid, true},
		       {clone_like_vfork, __NR_clone, false}};

	(void)state;
	not_under_valgrind();
	for (size_t i = 0; i < COUNT(samples); i++) {
		pid_t pid = start_child(samples[i].work);
		struct thread_look *look = look_at(pid, samples[i].number);
		struct dump_waiting waiting = find_by(pid, look);

		if (samples[i].which)
			check_grandchild(&waiting, pid);
		assert_int_equal(waiting.kind, DUMP_WAIT_CHILD);
		assert_true(samples[i].which || (!waiting.other && !waiting.other_comm[0]));
		free(look);
		end_child(pid);
	}
}

static int inside_fd; /* where the process in its own pid namespace reports that it is running */

/*
 * The first process of a namespace ends with the one that waits for it, and so do all others
 * inside.
 */
static void wait_in_namespace(void)
{
	int ready[2];
	pid_t pid;
	char byte;

	if (unshare(CLONE_NEWPID) || pipe(ready))
		_exit(1);
	pid = fork();
	if (pid == 0) {
		/* Its parent, outside the namespace, has pid 0 for it, gone or not. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		wait_for_child();
		_exit(1);
	}
	if (read(ready[0], &byte, 1) != 1)
		_exit(1);
	if (write(inside_fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	wait_forever();
}

/* Such a process's own pid is 2 or so; gpuprobe sees another number. */
static void pids_of_a_namespace_are_translated(void **state)
{
	struct dump_waiting waiting;
	struct thread_look *look;
	pid_t pid, inside;
	int ends[2];

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(pipe(ends), 0);
	inside_fd = ends[1];
	pid = start_child(wait_in_namespace);
	assert_int_equal(read(ends[0], &inside, sizeof(inside)), sizeof(inside));
	look = look_at(inside, __NR_wait4);
	assert_int_equal(look->argument[0], 2);
	waiting = find_by(inside, look);
	check_grandchild(&waiting, inside);
	assert_string_equal(waiting.other_comm, "grandchild");
	look->argument[0] = 77;
	waiting = find_by(inside, look);
	assert_int_equal(waiting.kind, DUMP_WAIT_CHILD);
	assert_int_equal(waiting.other, 0);
	free(look);
	end_child(pid);
	close(ends[0]);
	close(ends[1]);
}

/* --- Python's lock --- */

static struct {
	char before[256];
	unsigned long interval;
	uint64_t last_holder;
	int locked;
	unsigned long switch_number;
	char cond[48];
} gil = {.last_holder = 0x7f0000002000, .locked = 1};

static void wait_for_gil(void)
{
	syscall(SYS_futex, gil.cond + 40, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

/* Two threads of one process: one waits for the lock, the other holds it and sleeps. */
struct pair {
	pid_t pid;
	struct thread_look *waits, *holds;
	struct dump_thread threads[2];
};

static void find_pair(struct pair *pair)
{
	const struct thread_look *looks[] = {pair->waits, pair->holds};

	waiting__find(NULL, pair->pid, looks, pair->threads, 2);
}

static void start_pair(struct pair *pair, uint64_t waits_state, uint64_t holds_state)
{
	*pair = (struct pair){.pid = start_child(wait_for_gil)};
	pair->waits = look_at(pair->pid, __NR_futex);
	pair->holds = calloc(1, sizeof(*pair->holds));
	assert_non_null(pair->holds);
	*pair->holds = (struct thread_look){
		.taken = 1, .state = TASK_SLEEPS, .system_call = __NR_nanosleep};
	pair->waits->python_state = waits_state;
	pair->holds->python_state = holds_state;
	pair->threads[0] = (struct dump_thread){.tid = pair->pid, .comm = "waits"};
	pair->threads[1] = (struct dump_thread){.tid = 4711, .comm = "holds"};
	find_pair(pair);
}

static void end_pair(struct pair *pair)
{
	end_child(pair->pid);
	free(pair->waits);
	free(pair->holds);
}

static void holder_of_the_gil_is_reported(void **state)
{
	struct pair pair;

	(void)state;
	start_pair(&pair, 0x7f0000001000, gil.last_holder);
	assert_int_equal(pair.threads[0].waiting.kind, DUMP_WAIT_GIL);
	assert_int_equal(pair.threads[0].waiting.other, 4711);
	assert_string_equal(pair.threads[0].waiting.other_comm, "holds");
	assert_int_equal(pair.threads[1].waiting.kind, DUMP_WAIT_SLEEP);
	assert_int_equal(pair.threads[1].waiting.other, 0);
	end_pair(&pair);
}

static void a_free_gil_has_no_holder(void **state)
{
	struct pair pair;

	(void)state;
	gil.locked = 0;
	start_pair(&pair, 0x7f0000001000, gil.last_holder);
	gil.locked = 1;
	assert_int_equal(pair.threads[0].waiting.kind, DUMP_WAIT_GIL);
	assert_int_equal(pair.threads[0].waiting.other, 0);
	assert_string_equal(pair.threads[0].waiting.other_comm, "");
	end_pair(&pair);
}

/*
 * The waiting thread has no thread state, the holder is none of the threads, or the holder is the
 * waiting thread itself.
 */
static void what_is_no_gil_is_a_lock(void **state)
{
	struct pair pair;

	(void)state;
	start_pair(&pair, 0, gil.last_holder);
	assert_int_equal(pair.threads[0].waiting.kind, DUMP_WAIT_LOCK);
	assert_int_equal(pair.threads[0].waiting.other, 0);
	pair.waits->python_state = 0x7f0000001000;
	pair.holds->python_state = 0x7f0000003000;
	find_pair(&pair);
	assert_int_equal(pair.threads[0].waiting.kind, DUMP_WAIT_LOCK);
	pair.waits->python_state = gil.last_holder;
	find_pair(&pair);
	assert_int_equal(pair.threads[0].waiting.other, 0);
	end_pair(&pair);
}

/* --- hostile input --- */

static uint64_t random_number(void)
{
	static const uint64_t odd[] = {0,	   1,	       3,	   64,	      1024,
				       0x7fffffff, 0x80000000, UINT32_MAX, INT64_MAX, UINT64_MAX};
	long choice = random();

	return choice % 3 ? odd[(size_t)choice % COUNT(odd)] :
			    (uint64_t)(uintptr_t)&gil + (uint64_t)(choice % 4096);
}

static void any_arguments_are_withstood(void **state)
{
	pid_t pid = start_child(wait_forever);
	struct thread_look *look = look_at(pid, __NR_pause);

	(void)state;
	srandom(1);
	for (int i = 0; i < 5000; i++) {
		struct dump_waiting waiting;

		look->system_call = (uint64_t)(i % 500);
		look->python_state = gil.last_holder;
		look->stack.registers.ip = random_number();
		for (size_t k = 0; k < COUNT(look->argument); k++)
			look->argument[k] = random_number();
		waiting = find_by(pid, look);
		assert_in_range(waiting.kind, DUMP_WAIT_LOCK, DUMP_WAIT_OTHER);
		assert_non_null(memchr(waiting.object, '\0', sizeof(waiting.object)));
		assert_non_null(memchr(waiting.other_comm, '\0', sizeof(waiting.other_comm)));
	}
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
		cmocka_unit_test(children_are_reported),
		cmocka_unit_test(pids_of_a_namespace_are_translated),
		cmocka_unit_test(holder_of_the_gil_is_reported),
		cmocka_unit_test(a_free_gil_has_no_holder),
		cmocka_unit_test(what_is_no_gil_is_a_lock),
		cmocka_unit_test(any_arguments_are_withstood),
		cmocka_unit_test(ended_processes_are_withstood),
	};

	return cmocka_run_group_tests(tests, open_descriptors, NULL);
}
