/* SPDX-License-Identifier: BSD-2-Clause */
/* A RAS service that behaves like that of NCCL 2.28.9, or misbehaves, for test_ras.c. */
#ifndef TESTS_NCCL_RAS_SERVER_H
#define TESTS_NCCL_RAS_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nccl/ras_texts.h"

#define MS 1000000ULL
#define SECOND 1000000000ULL
#define TEXT RAS_ANSWER(RAS_COMM("0x9f3ac1", 2, RAS_RANK(0, "127.0.0.1", 1, 0, 7, false), ""))

enum behaviour {
	BEHAVES,
	IS_OLDER,    /* knows no format */
	IS_STRANGER, /* some other service */
	IS_SILENT,
	SENDS_BYTES, /* one by one, with pauses */
	CLOSES_FIRST,
	CLOSES_LATER,
	CUTS,
	NEVER_ENDS,
	LONG_LINE,
};

/* --- the server --- */

static inline void say(int fd, const char *text)
{
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static inline void send_answer(int fd, enum behaviour behaviour)
{
	static char block[65536];

	memset(block, ' ', sizeof(block));
	switch (behaviour) {
	case CUTS: (void)!send(fd, TEXT, 100, MSG_NOSIGNAL); break;
	case NEVER_ENDS:
		while (send(fd, block, sizeof(block), MSG_NOSIGNAL) > 0)
			;
		break;
	case SENDS_BYTES:
		for (const char *at = TEXT; *at; at++) {
			(void)!send(fd, at, 1, MSG_NOSIGNAL);
			if (!((at - TEXT) % 100))
				usleep(1000);
		}
		break;
	default: say(fd, TEXT); break;
	}
}

/* False: the conversation is over. */
static inline bool reply(int fd, const char *line, enum behaviour behaviour)
{
	if (behaviour == IS_SILENT)
		return true;
	if (behaviour == LONG_LINE) {
		for (unsigned int i = 0; i < 100; i++)
			say(fd, "SERVER PROTOCOL ");
		return true;
	}
	if (behaviour == IS_STRANGER)
		say(fd, "HTTP/1.1 400 Bad Request\r\n");
	else if (!strcmp(line, "CLIENT PROTOCOL 2"))
		say(fd, "SERVER PROTOCOL 2\n");
	else if (!strncmp(line, "TIMEOUT ", 8))
		say(fd, "OK\n");
	else if (!strcmp(line, "SET FORMAT json"))
		say(fd, behaviour == IS_OLDER ? "ERROR: Unknown command\n" : "OK\n");
	else if (!strcmp(line, "VERBOSE STATUS") && behaviour != CLOSES_LATER)
		send_answer(fd, behaviour);
	else
		return false;
	return strcmp(line, "VERBOSE STATUS");
}

static inline void serve(int fd, enum behaviour behaviour)
{
	char line[256];
	size_t length = 0;

	while (behaviour != CLOSES_FIRST && length < sizeof(line) - 1 &&
	       recv(fd, line + length, 1, 0) == 1) {
		if (line[length++] != '\n')
			continue;
		line[length - 1] = '\0';
		length = 0;
		if (!reply(fd, line, behaviour))
			break;
	}
	close(fd);
}

struct server {
	int fd;
	enum behaviour behaviour;
};

static inline void *run_server(void *arg)
{
	const struct server *server = arg;

	serve(server->fd, server->behaviour);
	return NULL;
}

#endif
