// SPDX-License-Identifier: BSD-2-Clause
// Whether a socket serves or asks: by the texts of the kernel's tables, and for sockets of this
// process itself, alone and in an epoll.
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/socket_role.h"

#define REST " 00000000:00000000 00:00000000 00000000  1000        0 "
#define TCP \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  " \
	"timeout inode\n" \
	"   0: 0100007F:1F90 0100007F:D2F0 01" REST "101 1 0000000000000000 20 4 30 10 -1\n" \
	"   1: 0100007F:D2F0 0100007F:1F90 01" REST "102 1 0000000000000000 20 4 30 10 -1\n" \
	"   2: 0100007F:1F90 00000000:0000 0A" REST "100 1 0000000000000000 100 0 0 10 0\n"
#define TCP6 \
	"   0: 00000000000000000000000001000000:0050 00000000000000000000000001000000:C000 " \
	"08" REST "201 1\n" \
	"   1: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:C000 " \
	"01" REST "202 1\n"
#define UNIX \
	"Num       RefCount Protocol Flags    Type St Inode Path\n" \
	"0000000000000000: 00000002 00000000 00010000 0001 01 300 /run/server.sock\n" \
	"0000000000000000: 00000003 00000000 00000000 0001 03 301 /run/server.sock\n" \
	"0000000000000000: 00000003 00000000 00000000 0001 03 302\n"

static enum socket_role role_in(const char *tcp, const unsigned long inodes[], size_t count)
{
	const char *texts[] = {tcp, TCP6, UNIX};
	FILE *tables[4] = {NULL};
	enum socket_role role;

	for (int i = 0; i < 3; i++)
		tables[i] = fmemopen((void *)texts[i], strlen(texts[i]), "r");
	role = socket_role__from_tables(tables, 4, inodes, count);
	for (int i = 0; i < 3; i++)
		fclose(tables[i]);
	return role;
}

static enum socket_role role_of(unsigned long inode)
{
	return role_in(TCP, &inode, 1);
}

static void by_the_port(void **state)
{
	(void)state;
	assert_int_equal(role_of(100), SOCKET_SERVES);
	assert_int_equal(role_of(101), SOCKET_SERVES);
	assert_int_equal(role_of(102), SOCKET_ASKS);
	assert_int_equal(role_of(201), SOCKET_ASKS);
	assert_int_equal(role_of(202), SOCKET_SERVES); /* the port of an IPv4 socket */
	assert_int_equal(role_of(999), SOCKET_UNKNOWN);
}

/* A socket without a name may be a client's, or one of a pair. */
static void of_unix_by_the_name(void **state)
{
	(void)state;
	assert_int_equal(role_of(300), SOCKET_SERVES);
	assert_int_equal(role_of(301), SOCKET_SERVES);
	assert_int_equal(role_of(302), SOCKET_UNKNOWN);
}

static void one_that_serves_is_enough(void **state)
{
	(void)state;
	assert_int_equal(role_in(TCP, (unsigned long[]){302, 102, 999}, 3), SOCKET_ASKS);
	assert_int_equal(role_in(TCP, (unsigned long[]){102, 101, 201}, 3), SOCKET_SERVES);
}

/* With too many listening ports, a port that is not known may be one of theirs. */
static void does_not_guess(void **state)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	unsigned long inode = 102;

	(void)state;
	for (unsigned int i = 0; i <= SOCKET_ROLE_PORTS; i++)
		fprintf(out, "%u: 00000000:%04X 00000000:0000 0A" REST "%u 1\n", i, i + 1,
			i + 1000);
	fputs(TCP, out);
	fclose(out);
	assert_int_equal(role_in(text, &inode, 1), SOCKET_UNKNOWN);
	free(text);
}

static void survives_other_texts(void **state)
{
	unsigned long inode = 102;

	(void)state;
	assert_int_equal(role_in("   1: 0100007F:D2F0 0100007F", &inode, 1), SOCKET_UNKNOWN);
	assert_int_equal(role_in("\n\n", &inode, 1), SOCKET_UNKNOWN);
}

static int listen_locally(struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(*address);

	*address = (struct sockaddr_in){.sin_family = AF_INET};
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_false(bind(fd, (struct sockaddr *)address, size));
	assert_false(listen(fd, 4));
	assert_false(getsockname(fd, (struct sockaddr *)address, &size));
	return fd;
}

static void watch_in(int epoll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	assert_false(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
}

static void of_this_process(void **state)
{
	struct sockaddr_in address;
	int server = listen_locally(&address), epoll = epoll_create1(EPOLL_CLOEXEC), pair[2],
	    pipes[2];
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), accepted;

	(void)state;
	assert_false(connect(client, (struct sockaddr *)&address, sizeof(address)));
	accepted = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	assert_false(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	assert_false(pipe2(pipes, 0));
	assert_int_equal(socket_role__of(getpid(), server), SOCKET_SERVES);
	assert_int_equal(socket_role__of(getpid(), accepted), SOCKET_SERVES);
	assert_int_equal(socket_role__of(getpid(), client), SOCKET_ASKS);
	assert_int_equal(socket_role__of(getpid(), pair[0]), SOCKET_UNKNOWN);
	assert_int_equal(socket_role__of(getpid(), pipes[0]), SOCKET_UNKNOWN);
	assert_int_equal(socket_role__of(getpid(), 12345), SOCKET_UNKNOWN);

	assert_int_equal(socket_role__of(getpid(), epoll), SOCKET_UNKNOWN);
	watch_in(epoll, pipes[0]);
	watch_in(epoll, client);
	assert_int_equal(socket_role__of(getpid(), epoll), SOCKET_ASKS);
	watch_in(epoll, server);
	assert_int_equal(socket_role__of(getpid(), epoll), SOCKET_SERVES);
	close(server);
	close(accepted);
	close(client);
	close(epoll);
	for (int i = 0; i < 2; i++) {
		close(pair[i]);
		close(pipes[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_port),
		cmocka_unit_test(of_unix_by_the_name),
		cmocka_unit_test(one_that_serves_is_enough),
		cmocka_unit_test(does_not_guess),
		cmocka_unit_test(survives_other_texts),
		cmocka_unit_test(of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
