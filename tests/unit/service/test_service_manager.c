// SPDX-License-Identifier: BSD-2-Clause
// Messages to the service manager: sockets by path and by abstract name, the watchdog's time.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "service/manager.h"

static int setup(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return 0;
}

/* A manager's socket with that name, as NOTIFY_SOCKET has it. */
static int listen_at(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path, name, length);
	if (*name == '@')
		address.sun_path[0] = '\0';
	assert_int_equal(
		bind(fd, (struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (*name == '/'))),
		0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static void expect_message(int fd, const char *expected)
{
	char text[256];
	ssize_t length = recv(fd, text, sizeof(text) - 1, 0);

	assert_true(length >= 0);
	text[length] = '\0';
	assert_string_equal(text, expected);
}

static void send_to(const char *name)
{
	struct service_manager manager;
	struct error err = {""};
	int fd = listen_at(name);

	assert_int_equal(service_manager__open(&manager, &err), 0);
	service_manager__notify(&manager, "READY=1\nSTATUS=watching");
	expect_message(fd, "READY=1\nSTATUS=watching");
	/* The manager has gone: nothing to be done, and no signal. */
	close(fd);
	service_manager__notify(&manager, "WATCHDOG=1");
	service_manager__close(&manager);
}

static void test_path(void **state)
{
	char path[] = "/tmp/gpuprobe-manager-XXXXXX", name[64];

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(name, sizeof(name), "%s/notify", path);
	send_to(name);
	unlink(name);
	rmdir(path);
}

static void test_abstract_name(void **state)
{
	char name[64];

	(void)state;
	snprintf(name, sizeof(name), "@gpuprobe/test/%d", (int)getpid());
	send_to(name);
}

/* A manager that reads nothing must not stop gpuprobe. */
static void test_full_socket(void **state)
{
	struct service_manager manager;
	struct error err = {""};
	char name[64];
	int fd;

	(void)state;
	snprintf(name, sizeof(name), "@gpuprobe/full/%d", (int)getpid());
	fd = listen_at(name);
	assert_int_equal(service_manager__open(&manager, &err), 0);
	for (int i = 0; i < 10000; i++)
		service_manager__notify(&manager, "WATCHDOG=1");
	service_manager__close(&manager);
	close(fd);
}

static void test_no_manager(void **state)
{
	struct service_manager manager;
	struct error err = {""};

	(void)state;
	setenv("WATCHDOG_USEC", "1000000", 1);
	assert_int_equal(service_manager__open(&manager, &err), 0);
	assert_int_equal(manager.fd, -1);
	assert_int_equal(manager.watchdog_ns, 0);
	service_manager__notify(&manager, "READY=1");
	service_manager__close(&manager);
}

static void test_bad_names(void **state)
{
	static const char *const names[] = {"", "/", "@", "notify", "vsock:2:1234"};
	char too_long[200];
	struct service_manager manager;

	(void)state;
	for (size_t i = 0; i <= sizeof(names) / sizeof(*names); i++) {
		struct error err = {""};

		memset(too_long, '/', sizeof(too_long) - 1);
		too_long[sizeof(too_long) - 1] = '\0';
		setenv("NOTIFY_SOCKET", i < sizeof(names) / sizeof(*names) ? names[i] : too_long,
		       1);
		assert_int_equal(service_manager__open(&manager, &err), -EINVAL);
		assert_non_null(strstr(err.text, "NOTIFY_SOCKET"));
		service_manager__close(&manager);
	}
}

static void expect_watchdog(const char *microseconds, const char *pid, uint64_t expected_ns)
{
	struct service_manager manager;
	struct error err = {""};

	setenv("WATCHDOG_USEC", microseconds, 1);
	if (pid)
		setenv("WATCHDOG_PID", pid, 1);
	else
		unsetenv("WATCHDOG_PID");
	assert_int_equal(service_manager__open(&manager, &err), 0);
	assert_int_equal(manager.watchdog_ns, expected_ns);
	service_manager__close(&manager);
}

static void test_watchdog(void **state)
{
	char pid[16];

	(void)state;
	setenv("NOTIFY_SOCKET", "@gpuprobe/nobody", 1);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	expect_watchdog("2500000", pid, 2500000000);
	expect_watchdog("2500000", NULL, 2500000000);
	/* the watchdog of another process */
	expect_watchdog("2500000", "1", 0);
	expect_watchdog("soon", NULL, 0);
	expect_watchdog("", NULL, 0);
	expect_watchdog("99999999999999999999", NULL, 0);
	expect_watchdog("18446744073709551", NULL, 18446744073709551000ull);
	expect_watchdog("18446744073709552", NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_path, setup),
		cmocka_unit_test_setup(test_abstract_name, setup),
		cmocka_unit_test_setup(test_full_socket, setup),
		cmocka_unit_test_setup(test_no_manager, setup),
		cmocka_unit_test_setup(test_bad_names, setup),
		cmocka_unit_test_setup(test_watchdog, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
