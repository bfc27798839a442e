// SPDX-License-Identifier: BSD-2-Clause
// Records to the journal or as lines, see journal.h.
#include "service/journal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text_stream.h"

struct journal {
	FILE *out;
	bool has_socket;
	int fd; /* -1: no socket could be made */
	struct sockaddr_un address;
	void (*take)(void *arg, const struct journal_record *record); /* NULL: none */
	void *arg;
};

bool journal__reads(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat file;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && !fstat(fd, &file) &&
	       file.st_dev == device && file.st_ino == inode;
}

struct journal *journal__new(const char *socket_path, FILE *out)
{
	struct journal *journal = calloc(1, sizeof(*journal));

	if (!journal)
		return NULL;
	journal->out = out;
	journal->fd = -1;
	journal->has_socket = socket_path;
	if (!socket_path)
		return journal;
	journal->address.sun_family = AF_UNIX;
	strncpy(journal->address.sun_path, socket_path, sizeof(journal->address.sun_path) - 1);
	journal->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return journal;
}

struct journal *journal__to(void (*take)(void *arg, const struct journal_record *record), void *arg)
{
	struct journal *journal = calloc(1, sizeof(*journal));

	if (!journal)
		return NULL;
	journal->fd = -1;
	journal->take = take;
	journal->arg = arg;
	return journal;
}

void journal__free(struct journal *journal)
{
	if (!journal)
		return;
	if (journal->fd >= 0)
		close(journal->fd);
	free(journal);
}

/* A field ends at a line break, and what follows would be taken for another field. */
static void put_value(FILE *out, const char *value)
{
	for (; *value; value++)
		fputc(*value == '\n' ? ' ' : *value, out);
	fputc('\n', out);
}

static void write_fields(FILE *out, const struct journal_record *record)
{
	fprintf(out, "PRIORITY=%d\nSYSLOG_IDENTIFIER=gpuprobe\nMESSAGE=", record->priority);
	put_value(out, record->message);
	for (size_t i = 0; i < record->field_count; i++) {
		fprintf(out, "%s=", record->fields[i].name);
		put_value(out, record->fields[i].value);
	}
}

static bool send_record(const struct journal *journal, const struct journal_record *record)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = journal->fd >= 0 ? text_stream__open(&text, &length) : NULL;
	bool sent = false;

	if (!out)
		return false;
	write_fields(out, record);
	if (!fclose(out))
		sent = sendto(journal->fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL,
			      (const struct sockaddr *)&journal->address,
			      sizeof(journal->address)) == (ssize_t)length;
	free(text);
	return sent;
}

void journal__write(struct journal *journal, const struct journal_record *record)
{
	if (journal->take) {
		journal->take(journal->arg, record);
		return;
	}
	if (send_record(journal, record))
		return;
	if (journal->has_socket)
		fprintf(journal->out, "<%d>", record->priority);
	else
		fputs("gpuprobe: ", journal->out);
	put_value(journal->out, record->message);
	fflush(journal->out);
}
