// SPDX-License-Identifier: BSD-2-Clause
// Whether a process is a server: by the text of the kernel's table, and for this process itself.
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/listening.h"

#define HEAD \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  " \
	"timeout inode\n"
#define REST " 00000000:00000000 00:00000000 00000000  1000        0 "

static size_t parse(const char *text, unsigned long inodes[], size_t count, size_t most)
{
	FILE *table = fmemopen((void *)text, strlen(text), "r");
	size_t found;

	assert_non_null(table);
	found = listening__parse(table, inodes, count, most);
	fclose(table);
	return found;
}

static void by_the_state(void **state)
{
	unsigned long inodes[4] = {1};

	(void)state;
	assert_int_equal(parse(HEAD "   0: 0100007F:1F90 00000000:0000 0A" REST
				    "4711 1 0000000000000000 100 0 0 10 0\n"
				    "   1: 0100007F:1F90 0100007F:D2F0 01" REST
				    "4712 1 0000000000000000 20 4 30 10 -1\n"
				    "  12: 00000000000000000000000000000000:0016 "
				    "00000000000000000000000000000000:0000 0A" REST "99 1\n",
			       inodes, 1, 4),
			 3);
	assert_int_equal(inodes[1], 4711);
	assert_int_equal(inodes[2], 99);
}

static void of_unix_by_the_flags(void **state)
{
	unsigned long inodes[4];

	(void)state;
	assert_int_equal(parse("Num       RefCount Protocol Flags    Type St Inode Path\n"
			       "0000000000000000: 00000002 00000000 00010000 0001 01 29011 "
			       "/run/server.sock\n"
			       "00000000abcdef12: 00000003 00000000 00000000 0001 03 29012\n"
			       "00000000abcdef13: 00000002 00000000 00010000 0005 01 29013 @name\n",
			       inodes, 0, 4),
			 2);
	assert_int_equal(inodes[0], 29011);
	assert_int_equal(inodes[1], 29013);
}

static void lines_that_are_none(void **state)
{
	unsigned long inodes[2];

	(void)state;
	assert_int_equal(parse(HEAD, inodes, 0, 2), 0);
	assert_int_equal(
		parse("   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n\n   1: x\n", inodes,
		      0, 2),
		0);
}

static void no_more_than_there_is_room_for(void **state)
{
	unsigned long inodes[2];

	(void)state;
	assert_int_equal(parse("0: a b 0A" REST "1 1\n1: a b 0A" REST "2 1\n2: a b 0A" REST "3 1\n",
			       inodes, 0, 2),
			 2);
}

static void of_this_process(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	assert_true(fd >= 0);
	assert_false(listening__of(getpid()));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_true(listening__of(getpid()));
	close(fd);
	assert_false(listening__of(getpid()));
	assert_false(listening__of(0x7fffffff));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_state),
		cmocka_unit_test(of_unix_by_the_flags),
		cmocka_unit_test(lines_that_are_none),
		cmocka_unit_test(no_more_than_there_is_room_for),
		cmocka_unit_test(of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
