// SPDX-License-Identifier: BSD-2-Clause
// Asking NCCL's RAS service: a server that behaves like 2.28.9's or misbehaves, over a socket pair,
// and over TCP by the variables and in the network namespace of a process.
#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "nccl/ras.h"
#include "nccl/ras_client.h"
#include "nccl/ras_server.h"

/* --- over a pair of sockets --- */

struct told {
	struct event_base *loop;
	int ret;
	char *text;
	bool finds; /* the communicator that the service knows */
	struct error err;
};

static void on_done(void *arg, int ret, char *text, size_t length, const struct error *err)
{
	struct told *told = arg;

	told->ret = ret;
	told->text = text;
	told->err = *err;
	if (text)
		text[length] = '\0';
	event_base_loopbreak(told->loop);
}

static int ask(enum behaviour behaviour, uint64_t timeout_ns, char **text, struct error *err)
{
	struct server server = {.behaviour = behaviour};
	struct told told = {.loop = event_base_new()};
	struct ras_client *client;
	pthread_t thread;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(evutil_make_socket_nonblocking(ends[0]), 0);
	server.fd = ends[1];
	assert_int_equal(pthread_create(&thread, NULL, run_server, &server), 0);
	client = ras_client__new(told.loop, ends[0], timeout_ns, on_done, &told);
	assert_non_null(client);
	assert_int_equal(event_base_dispatch(told.loop), 0);
	ras_client__free(client);
	pthread_join(thread, NULL);
	event_base_free(told.loop);
	*text = told.text;
	*err = told.err;
	return told.ret;
}

static void sound_answers(void **state)
{
	const enum behaviour behaviours[] = {BEHAVES, SENDS_BYTES};
	struct error err;
	char *text;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(ask(behaviours[i], 60 * SECOND, &text, &err), 0);
		assert_string_equal(text, TEXT);
		free(text);
	}
}

static void misbehaviour(void **state)
{
	static const struct {
		enum behaviour behaviour;
		int ret;
		const char *why;
	} cases[] = {
		{IS_OLDER, -EOPNOTSUPP, "RAS: NCCL is older than 2.28.7 and answers only in text"},
		{IS_STRANGER, -EPROTO, "RAS: it is no RAS service of NCCL"},
		{LONG_LINE, -EPROTO, "RAS: it is no RAS service of NCCL"},
		{CLOSES_FIRST, -ECONNRESET, "RAS: it closed the connection"},
		{NEVER_ENDS, -EFBIG, "RAS: its answer is too long"},
	};
	struct error err;
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret = ask(cases[i].behaviour, 60 * SECOND, &text, &err);

		/* A peer that is gone may be noticed when sending. */
		if (cases[i].behaviour == CLOSES_FIRST && ret == -EPIPE)
			continue;
		assert_int_equal(ret, cases[i].ret);
		assert_string_equal(err.text, cases[i].why);
		assert_null(text);
	}
}

static void silence_ends_in_time(void **state)
{
	struct error err;
	char *text;

	(void)state;
	assert_int_equal(ask(IS_SILENT, 50 * MS, &text, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "RAS: no answer in time");
}

/* What is cut is no JSON; nothing at all, too. */
static void cut_answers_are_refused_later(void **state)
{
	const enum behaviour behaviours[] = {CUTS, CLOSES_LATER};
	struct ras_answer *answer;
	struct error err;
	char *text;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(ask(behaviours[i], 60 * SECOND, &text, &err), 0);
		assert_int_equal(ras_answer__read(text, strlen(text), &answer, &err), -EINVAL);
	}
}

/* --- over TCP --- */

static int listen_at(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(port),
				      .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 8))
		return -1;
	return fd;
}

static uint16_t port_of(int fd)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	return ntohs(address.sin_port);
}

/* A process with this value of NCCL_RAS_ADDR, until it is killed. */
static pid_t start_process(const char *address)
{
	char variable[128];
	char *const arguments[] = {"sleep", "600", NULL};
	char *const environment[] = {"A=1", variable, NULL};
	int ready[2];
	char byte;
	pid_t pid;

	snprintf(variable, sizeof(variable), "NCCL_RAS_ADDR=%s", address);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execve("/bin/sleep", arguments, environment);
		_exit(1);
	}
	close(ready[1]);
	/* Its environment is the new one once exec has closed the pipe. */
	assert_int_equal(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

struct asker {
	struct event_base *loop;
	struct ras_connector *connector;
	struct memory_reader *memory;
	struct ras *ras;
};

static struct asker new_asker(void)
{
	struct asker asker = {.loop = event_base_new(), .memory = memory_reader__new(NULL)};
	struct error err;

	assert_int_equal(ras_connector__new(&asker.connector, &err), 0);
	asker.ras = ras__new(asker.loop, asker.connector, asker.memory);
	return asker;
}

static void free_asker(struct asker *asker)
{
	ras__free(asker->ras);
	ras_connector__free(asker->connector);
	memory_reader__free(asker->memory);
	event_base_free(asker->loop);
}

static void on_answer(void *arg, int ret, const struct ras_answer *answer, const struct error *err)
{
	struct told *told = arg;

	told->ret = ret;
	told->err = *err;
	told->finds = answer && ras_answer__find(answer, 0x9f3ac1, 2);
	event_base_loopbreak(told->loop);
}

/* Whether it is known is in *finds. */
static int ask_process(const struct asker *asker, pid_t pid, bool *finds, struct error *err)
{
	struct told told = {.loop = asker->loop};

	ras__ask(asker->ras, pid, on_answer, &told);
	assert_true(ras__is_busy(asker->ras));
	assert_int_equal(event_base_dispatch(asker->loop), 0);
	assert_false(ras__is_busy(asker->ras));
	*finds = told.finds;
	*err = told.err;
	return told.ret;
}

static void *accept_one(void *arg)
{
	int *listener = arg, fd = accept(*listener, NULL, NULL);

	if (fd >= 0)
		serve(fd, BEHAVES);
	return NULL;
}

static void by_the_processs_variable(void **state)
{
	struct asker asker = new_asker();
	int listener = listen_at(0);
	bool finds;
	struct error err;
	pthread_t thread;
	char address[64];
	pid_t pid;

	(void)state;
	assert_true(listener >= 0);
	snprintf(address, sizeof(address), "localhost:%u", port_of(listener));
	pid = start_process(address);
	assert_int_equal(pthread_create(&thread, NULL, accept_one, &listener), 0);
	assert_int_equal(ask_process(&asker, pid, &finds, &err), 0);
	assert_true(finds);
	pthread_join(thread, NULL);
	close(listener);
	/* Nothing listens there any more. */
	assert_int_equal(ask_process(&asker, pid, &finds, &err), -ECONNREFUSED);
	end_process(pid);
	free_asker(&asker);
}

static void other_places_are_refused(void **state)
{
	static const struct {
		const char *address;
		int ret;
	} cases[] = {
		{"192.0.2.77:80", -EADDRNOTAVAIL}, /* of another machine */
		{"example.org:80", -EDESTADDRREQ},
		{"", -EDESTADDRREQ},
	};
	struct asker asker = new_asker();
	bool finds;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t pid = start_process(cases[i].address);

		assert_int_equal(ask_process(&asker, pid, &finds, &err), cases[i].ret);
		assert_non_null(strstr(err.text, "NCCL_RAS_ADDR"));
		end_process(pid);
	}
	assert_true(ask_process(&asker, INT32_MAX, &finds, &err) < 0);
	free_asker(&asker);
}

/* The port is another user's, who may be anybody. */
static void another_users_port(void **state)
{
	struct asker asker = new_asker();
	int listener = listen_at(0);
	bool finds;
	struct error err;
	char address[64];
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	snprintf(address, sizeof(address), "127.0.0.1:%u", port_of(listener));
	pid = fork();
	if (!pid) {
		char variable[128];
		char *const arguments[] = {"sleep", "600", NULL};
		char *const environment[] = {variable, NULL};

		snprintf(variable, sizeof(variable), "NCCL_RAS_ADDR=%s", address);
		if (!setgid(65534) && !setuid(65534) && !prctl(PR_SET_PDEATHSIG, SIGKILL))
			execve("/bin/sleep", arguments, environment);
		_exit(1);
	}
	/* Until exec, it has this process's variables: nothing listens at the usual port. */
	for (unsigned int i = 0; i < 600; i++) {
		int ret = ask_process(&asker, pid, &finds, &err);

		if (ret == -EACCES)
			break;
		assert_int_equal(ret, -ECONNREFUSED);
		usleep(100000);
	}
	assert_non_null(strstr(err.text, "another user"));
	end_process(pid);
	close(listener);
	free_asker(&asker);
}

/* The child's own network, in which loopback is up and the service is at its usual port. */
static void run_namespace(int ready)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int control, listener = -1;

	if (!unshare(CLONE_NEWNET)) {
		control = socket(AF_INET, SOCK_DGRAM, 0);
		if (!ioctl(control, SIOCSIFFLAGS, &request))
			listener = listen_at(RAS_PORT);
	}
	(void)!write(ready, listener >= 0 ? "y" : "n", 1);
	for (;;)
		accept_one(&listener);
}

static void in_another_namespace(void **state)
{
	struct asker asker = new_asker();
	bool finds;
	union ras_address address;
	struct error err;
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_namespace(ready[1]);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	if (byte == 'y') {
		for (unsigned int i = 0; i < 2; i++) {
			assert_int_equal(ask_process(&asker, pid, &finds, &err), 0);
			assert_true(finds);
		}
		assert_true(ras_address__of_host("127.0.0.9", &address));
		assert_true(ras_connector__is_local(asker.connector, pid, &address));
		assert_true(ras_address__of_host("192.0.2.77", &address));
		assert_false(ras_connector__is_local(asker.connector, pid, &address));
	}
	end_process(pid);
	close(ready[0]);
	close(ready[1]);
	free_asker(&asker);
	if (byte != 'y')
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_answers),
		cmocka_unit_test(misbehaviour),
		cmocka_unit_test(silence_ends_in_time),
		cmocka_unit_test(cut_answers_are_refused_later),
		cmocka_unit_test(by_the_processs_variable),
		cmocka_unit_test(other_places_are_refused),
		cmocka_unit_test(another_users_port),
		cmocka_unit_test(in_another_namespace),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
