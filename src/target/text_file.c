// SPDX-License-Identifier: BSD-2-Clause
// Reads short texts below a root; see text_file.h.
#include "target/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int join(const char *root, const char *path, char full[PATH_MAX])
{
	return snprintf(full, PATH_MAX, "%s%s", root, path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int text_file__read(const char *root, const char *path, char *text, size_t size)
{
	char full[PATH_MAX];
	int ret = join(root, path, full), fd;
	ssize_t n;

	text[0] = '\0';
	if (ret)
		return ret;
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	ret = n < 0 ? -errno : 0;
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (n > 0 && text[n - 1] == '\n')
		text[n - 1] = '\0';
	return ret;
}

int text_file__number(const char *root, const char *path, long *number)
{
	char text[32], *end;
	int ret = text_file__read(root, path, text, sizeof(text));

	if (ret)
		return ret;
	errno = 0;
	*number = strtol(text, &end, 10);
	return end == text || *end || errno ? -EBADMSG : 0;
}

unsigned long text_file__namespace(const char *root, const char *path)
{
	char full[PATH_MAX], text[64];
	const char *bracket;
	ssize_t n;

	if (join(root, path, full))
		return 0;
	n = readlink(full, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	bracket = strchr(text, '[');
	return bracket ? strtoul(bracket + 1, NULL, 10) : 0;
}

int text_file__access(const char *root, const char *path, int mode)
{
	char full[PATH_MAX];
	int ret = join(root, path, full);

	if (ret)
		return ret;
	return access(full, mode) ? -errno : 0;
}
