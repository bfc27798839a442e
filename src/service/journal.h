/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of what a service has to say. The system's journal gets them with fields, by its own
 * protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL), if standard error leads there. Otherwise
 * each is a line of standard error.
 */
#ifndef SERVICE_JOURNAL_H
#define SERVICE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* Those of syslog(3), with their numbers. */
enum journal_priority {
	JOURNAL_ERROR = 3,
	JOURNAL_WARNING = 4,
	JOURNAL_NOTICE = 5,
	JOURNAL_INFO = 6,
};

/* The value must be escaped (base/escape.h). A line break in it becomes a blank. */
struct journal_field {
	const char *name; /* "GPUPROBE_FINDING"; capital letters and '_' */
	const char *value;
};

struct journal_record {
	enum journal_priority priority;
	const char *message; /* as a field's value */
	const struct journal_field *fields;
	size_t field_count;
};

struct journal;

/*
 * Whether the journal reads that descriptor: JOURNAL_STREAM has its device and inode, see
 * systemd.exec(5).
 */
bool journal__reads(int fd);

/*
 * `socket`: the journal's socket; NULL: records become lines. `out` gets the lines; it must outlive
 * the journal. With a socket a line begins with its priority ("<4>", see sd-daemon(3)). NULL
 * without memory.
 */
struct journal *journal__new(const char *socket, FILE *out);

/* Records go to this function instead, for another protocol. NULL without memory. */
struct journal *journal__to(void (*take)(void *arg, const struct journal_record *record),
			    void *arg);
void journal__free(struct journal *journal); /* NULL ok */

/* A record that the journal's socket does not take becomes a line. */
void journal__write(struct journal *journal, const struct journal_record *record);

#endif
