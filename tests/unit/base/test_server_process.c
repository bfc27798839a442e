// SPDX-License-Identifier: BSD-2-Clause
// A forked process that answers requests, and messages with a descriptor.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/server_process.h"
#include "base/socket_message.h"

/* What the process says of itself. */
struct answer {
	char name[16];
	int kept;    /* the descriptor that it was asked about is open there */
	int blocked; /* SIGINT is blocked */
};

static int inherited;

static void serve(int socket)
{
	struct answer answer = {.kept = fcntl(inherited, F_GETFD) >= 0};
	int number, ends[2];
	sigset_t mask;

	prctl(PR_GET_NAME, answer.name);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	answer.blocked = sigismember(&mask, SIGINT);
	while (!socket_message__receive(socket, &number, sizeof(number), NULL, 0)) {
		if (pipe(ends))
			_exit(1);
		dprintf(ends[1], "%d", number);
		if (socket_message__send(socket, &answer, sizeof(answer), number ? ends[0] : -1))
			_exit(2);
		close(ends[0]);
		close(ends[1]);
	}
	_exit(7);
}

static void test_requests(void **state)
{
	struct answer answer;
	char text[8] = "";
	int socket, fd, status, number = 42;
	pid_t pid;

	(void)state;
	inherited = dup(0);
	assert_true(inherited > 0);
	assert_int_equal(server_process__start("a-name", serve, &pid, &socket), 0);
	assert_int_equal(socket_message__send(socket, &number, sizeof(number), -1), 0);
	assert_int_equal(socket_message__receive(socket, &answer, sizeof(answer), &fd, 0), 0);
	assert_string_equal(answer.name, "a-name");
	assert_false(answer.kept);
	assert_true(answer.blocked);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(read(fd, text, sizeof(text) - 1), 2);
	assert_string_equal(text, "42");
	close(fd);

	number = 0;
	assert_int_equal(socket_message__send(socket, &number, sizeof(number), -1), 0);
	assert_int_equal(socket_message__receive(socket, &answer, sizeof(answer), &fd, 0), 0);
	assert_int_equal(fd, -1);

	assert_int_equal(
		socket_message__receive(socket, &answer, sizeof(answer), &fd, MSG_DONTWAIT),
		-EAGAIN);
	close(socket);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	close(inherited);
}

/* Its signals are blocked in the process only. */
static void test_own_signals(void **state)
{
	sigset_t mask;
	int socket;
	pid_t pid;

	(void)state;
	assert_int_equal(server_process__start("b", serve, &pid, &socket), 0);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	assert_false(sigismember(&mask, SIGINT));
	close(socket);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_short_message(void **state)
{
	int ends[2], number = 1, fd;
	uint64_t longer;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(socket_message__send(ends[0], &number, sizeof(number), -1), 0);
	assert_int_equal(socket_message__receive(ends[1], &longer, sizeof(longer), &fd, 0), -EPIPE);
	close(ends[1]);
	assert_int_equal(socket_message__send(ends[0], &number, sizeof(number), -1), -EPIPE);
	assert_int_equal(socket_message__receive(ends[0], &number, sizeof(number), &fd, 0), -EPIPE);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_own_signals),
		cmocka_unit_test(test_short_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
