// SPDX-License-Identifier: BSD-2-Clause
// Xids from the kernel's log, see kernel_log.h.
#include "xid/kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "xid/log_line.h"

#define LOG_PATH "/dev/kmsg"
#define RECORD_SIZE 8192 /* the kernel's limit; a read returns one record */
#define RECORDS_AT_ONCE 256

int kernel_log__open(struct error *err)
{
	int fd = open(LOG_PATH, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	int ret = -errno;

	if (fd < 0)
		return error__set(err, ret, "cannot read the kernel's log " LOG_PATH ": %s%s",
				  strerror(-ret),
				  ret == -EPERM || ret == -EACCES ?
					  ": run gpuprobe as root, or with CAP_SYSLOG" :
					  "");
	/* Xids of before are not counted. */
	lseek(fd, 0, SEEK_END);
	return fd;
}

/* A record is a line. Lines that begin with a blank have more about it. */
static void take(const char *records, size_t length, struct xids *xids)
{
	const char *end = records + length;

	while (records < end) {
		const char *newline = memchr(records, '\n', (size_t)(end - records));
		size_t line = (size_t)((newline ? newline : end) - records);
		struct xid_report report;

		if (log_line__parse_record(records, line, &report))
			xids__add(xids, &report, clock__boot_ns());
		records += line + 1;
	}
}

int kernel_log__read(int fd, struct xids *xids)
{
	char record[RECORD_SIZE];

	for (int i = 0; i < RECORDS_AT_ONCE; i++) {
		ssize_t length = read(fd, record, sizeof(record));

		if (length > 0)
			take(record, (size_t)length, xids);
		else if (!length)
			return -ENODATA;
		else if (errno == EAGAIN)
			return 0;
		else if (errno == EPIPE) /* overwritten before they were read */
			xids->lost++;
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}
