// SPDX-License-Identifier: BSD-2-Clause
// The kernel tells who asks, late questions get no answer, and there is one daemon in a namespace.
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kineto/sockets.h"

#define LATE_US 80000 /* more than Kineto's patience that is counted on */

static struct sockaddr_un daemon_address = {.sun_family = AF_UNIX};
static const socklen_t daemon_length =
	offsetof(struct sockaddr_un, sun_path) + 1 + sizeof(KINETO_DAEMON_NAME);

struct fixture {
	struct kineto_sockets sockets;
	int client;
};

/* Names of other tests, and of the machine's own daemon, are in other namespaces. */
static int set_up(void **state)
{
	static struct fixture fixture;
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0client"};
	struct error err;

	memcpy(daemon_address.sun_path + 1, KINETO_DAEMON_NAME, sizeof(KINETO_DAEMON_NAME));
	memset(&fixture, 0, sizeof(fixture));
	*state = &fixture;
	if (unshare(CLONE_NEWNET))
		return -1;
	fixture.client = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fixture.client < 0 || bind(fixture.client, (struct sockaddr *)&name,
				       offsetof(struct sockaddr_un, sun_path) + 8))
		return -1;
	return kineto_sockets__add(&fixture.sockets, getpid(), &err);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	kineto_sockets__close(&fixture->sockets);
	return close(fixture->client);
}

static void ask(const struct fixture *fixture, int32_t type, size_t more)
{
	char datagram[KINETO_DATAGRAM_MAX + 64] = {0};
	const uint64_t size = 16 + more;

	memcpy(datagram, &size, sizeof(size));
	memcpy(datagram + 8, "req", 3);
	memcpy(datagram + 40, &type, sizeof(type));
	assert_int_equal(sendto(fixture->client, datagram, 40 + size, 0,
				(struct sockaddr *)&daemon_address, daemon_length),
			 40 + size);
}

static void test_question_and_answer(void **state)
{
	const struct fixture *fixture = *state;
	int fd = fixture->sockets.list[0].fd, ret;
	struct kineto_asker asker;
	char answer[64] = "";

	/* On a busy machine the question may have become old. */
	do {
		ask(fixture, 2, 0);
		ret = kineto_sockets__receive(fd, &asker);
	} while (ret == -EBADMSG);
	assert_int_equal(ret, 0);
	assert_int_equal(asker.pid, getpid());
	assert_int_equal(asker.question, KINETO_REQUEST);
	assert_true(asker.idle);
	assert_int_equal(kineto_sockets__answer(fd, &asker, "A=1"), 0);
	assert_int_equal(recv(fixture->client, answer, sizeof(answer), MSG_DONTWAIT), 43);
	assert_memory_equal(answer + 40, "A=1", 3);
	assert_int_equal(kineto_sockets__receive(fd, &asker), -EAGAIN);
}

static void test_no_questions(void **state)
{
	const struct fixture *fixture = *state;
	int fd = fixture->sockets.list[0].fd;
	struct kineto_asker asker;

	ask(fixture, 2, 0);
	usleep(LATE_US);
	assert_int_equal(kineto_sockets__receive(fd, &asker), -EBADMSG);
	/* It is cut. */
	ask(fixture, 2, KINETO_DATAGRAM_MAX);
	assert_int_equal(kineto_sockets__receive(fd, &asker), -EBADMSG);
	assert_int_equal(send(fixture->client, "", 1, 0), -1);
	assert_int_equal(sendto(fixture->client, "x", 1, 0, (struct sockaddr *)&daemon_address,
				daemon_length),
			 1);
	assert_int_equal(kineto_sockets__receive(fd, &asker), -EBADMSG);
	assert_int_equal(kineto_sockets__receive(fd, &asker), -EAGAIN);
}

/* Another one that wants the name; this one, for another process of the namespace, has it. */
static void test_one_daemon(void **state)
{
	struct fixture *fixture = *state;
	struct kineto_sockets other = {0};
	struct error err;

	assert_int_equal(kineto_sockets__add(&fixture->sockets, getpid(), &err), 0);
	assert_int_equal(fixture->sockets.count, 1);
	assert_int_equal(kineto_sockets__add(&other, getpid(), &err), -EADDRINUSE);
	assert_non_null(strstr(err.text, "dyno gputrace --pids"));
	kineto_sockets__close(&fixture->sockets);
	assert_int_equal(kineto_sockets__add(&other, getpid(), &err), 0);
	kineto_sockets__close(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_question_and_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_questions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_daemon, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
