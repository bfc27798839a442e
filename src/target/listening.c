// SPDX-License-Identifier: BSD-2-Clause
// Listening sockets of a process; see listening.h. Fields of the tables:
// Documentation/networking/proc_net_tcp.rst.
#include "target/listening.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#define STATE_LISTEN 0x0a    /* TCP_LISTEN, include/net/tcp_states.h */
#define FLAG_ACCEPTS 0x10000 /* __SO_ACCEPTCON, include/uapi/linux/net.h */
#define LINE_SIZE 512

struct inodes {
	unsigned long items[LISTENING_MAX];
	size_t count;
};

/*
 * A line is "sl: local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout
 * inode".
 */
static bool listens_to_tcp(const char *line, unsigned long *inode)
{
	unsigned int state;

	return sscanf(line, " %*d: %*s %*s %x %*s %*s %*s %*u %*u %lu", &state, inode) == 2 &&
	       state == STATE_LISTEN;
}

/*
 * A line is "Num: RefCount Protocol Flags Type St Inode Path", as unix_seq_show of
 * net/unix/af_unix.c writes it.
 */
static bool listens_to_unix(const char *line, unsigned long *inode)
{
	unsigned int flags;

	return sscanf(line, "%*x: %*x %*x %x %*x %*x %lu", &flags, inode) == 2 &&
	       flags & FLAG_ACCEPTS;
}

size_t listening__parse(FILE *table, unsigned long inodes[], size_t count, size_t most)
{
	char line[LINE_SIZE];

	for (int lines = 0;
	     lines < LISTENING_LINES && count < most && fgets(line, sizeof(line), table); lines++) {
		unsigned long inode;

		if (listens_to_tcp(line, &inode) || listens_to_unix(line, &inode))
			inodes[count++] = inode;
	}
	return count;
}

static void read_table(pid_t pid, const char *name, struct inodes *inodes)
{
	char path[64];
	FILE *table;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, name);
	table = fopen(path, "re");
	if (!table)
		return;
	inodes->count = listening__parse(table, inodes->items, inodes->count, LISTENING_MAX);
	fclose(table);
}

/* Whether the descriptor is a socket: one of these; NULL: any. */
static bool is_one_of(const struct inodes *inodes, int folder, const char *name)
{
	char object[64];
	ssize_t n = readlinkat(folder, name, object, sizeof(object) - 1);
	unsigned long inode;

	object[n > 0 ? n : 0] = '\0';
	if (sscanf(object, "socket:[%lu]", &inode) != 1)
		return false;
	if (!inodes)
		return true;
	for (size_t i = 0; i < inodes->count; i++)
		if (inodes->items[i] == inode)
			return true;
	return false;
}

static bool has_one_of(pid_t pid, const struct inodes *inodes)
{
	const struct dirent *entry;
	bool found = false;
	char path[64];
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	files = opendir(path);
	if (!files)
		return false;
	for (int i = 0; !found && i < LISTENING_FILES && (entry = readdir(files)); i++)
		found = is_one_of(inodes, dirfd(files), entry->d_name);
	closedir(files);
	return found;
}

bool listening__of(pid_t pid)
{
	struct inodes inodes = {.count = 0};

	/* The tables have all sockets of the machine. */
	if (!has_one_of(pid, NULL))
		return false;
	read_table(pid, "tcp", &inodes);
	read_table(pid, "tcp6", &inodes);
	read_table(pid, "unix", &inodes);
	return inodes.count && has_one_of(pid, &inodes);
}
