// SPDX-License-Identifier: BSD-2-Clause
// A process's environment variables and device nodes; see cuda_environment.h.
#include "device/cuda_environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/proc.h"
#include "target/process_root.h"

#define MAX_ENVIRONMENT (4 * 1024 * 1024)
#define MAX_MOUNTS (1024 * 1024)
#define NVIDIA_MAJOR 195 /* of /dev/nvidiaN: Documentation/admin-guide/devices.txt */
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *value_of(const char *variable, size_t length, const char *name)
{
	size_t name_length = strlen(name);

	if (length <= name_length || memcmp(variable, name, name_length) ||
	    variable[name_length] != '=')
		return NULL;
	return variable + name_length + 1;
}

/* Returns false if the value is longer than any meaningful one. */
static bool keep(char *to, size_t size, const char *value)
{
	return snprintf(to, size, "%s", value) < (int)size;
}

void cuda_environment__parse(const char *bytes, size_t length, struct cuda_environment *environment)
{
	const char *value;

	environment->known = true;
	while (length) {
		size_t used = strnlen(bytes, length);

		/*
		 * An unterminated last variable may be cut. Programs that set their title
		 * (setproctitle) overwrite what /proc shows and keep their variables elsewhere.
		 */
		if (used == length || !memchr(bytes, '=', used)) {
			environment->known = false;
			return;
		}
		/* If a name is repeated, getenv takes the first. */
		value = value_of(bytes, used, "CUDA_VISIBLE_DEVICES");
		if (value && !environment->has_visible) {
			environment->has_visible = true;
			environment->known &= keep(environment->visible, VISIBLE_SIZE, value);
		}
		value = value_of(bytes, used, "CUDA_DEVICE_ORDER");
		if (value && !environment->has_order) {
			environment->has_order = true;
			environment->known &=
				keep(environment->order, sizeof(environment->order), value);
		}
		if (value_of(bytes, used, "SLURM_JOB_ID"))
			environment->batch_job = true;
		bytes += used + 1;
		length -= used + 1;
	}
}

/* The source of a text of unknown length. */
struct text_source {
	int fd;			      /* a file, or -1 */
	struct memory_reader *memory; /* reads the environment of `pid` */
	pid_t pid;
};

static ssize_t read_some(const struct text_source *source, size_t offset, char *bytes, size_t size)
{
	ssize_t n;

	if (source->memory)
		return memory_reader__read_environment(source->memory, source->pid, offset, bytes,
						       size);
	do {
		n = read(source->fd, bytes, size);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/*
 * Reads the whole text (malloc), at most `limit` bytes. Returns 0, -EFBIG or another negative
 * errno.
 */
static int read_source(const struct text_source *source, size_t limit, char **bytes, size_t *length)
{
	size_t size = 0;
	ssize_t n = 1;

	while (n > 0) {
		if (*length == size) {
			char *grown =
				size < limit ? realloc(*bytes, size ? size * 2 : 16384) : NULL;

			if (!grown)
				return size < limit ? -ENOMEM : -EFBIG;
			*bytes = grown;
			size = size ? size * 2 : 16384;
		}
		n = read_some(source, *length, *bytes + *length, size - *length);
		if (n > 0)
			*length += (size_t)n;
	}
	return (int)n;
}

static int read_whole(const char *path, size_t limit, char **bytes, size_t *length)
{
	const struct text_source file = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
	int ret;

	*bytes = NULL;
	*length = 0;
	if (file.fd < 0)
		return -errno;
	ret = read_source(&file, limit, bytes, length);
	close(file.fd);
	return ret;
}

/* The environment is in the process's memory, so `memory` reads it. */
static void read_variables(struct memory_reader *memory, pid_t pid,
			   struct cuda_environment *environment)
{
	const struct text_source source = {.fd = -1, .memory = memory, .pid = pid};
	char path[64], *bytes = NULL;
	size_t length = 0;
	int ret;

	proc__path(pid, "environ", path, sizeof(path));
	ret = memory ? read_source(&source, MAX_ENVIRONMENT, &bytes, &length) :
		       read_whole(path, MAX_ENVIRONMENT, &bytes, &length);
	if (!ret)
		cuda_environment__parse(bytes, length, environment);
	free(bytes);
}

/* Whether the process shares gpuprobe's mounts and root directory. */
static bool shares_root(pid_t pid)
{
	struct stat own, other;
	char path[64], root[8];
	ssize_t n;

	proc__path(pid, "ns/mnt", path, sizeof(path));
	if (stat("/proc/self/ns/mnt", &own) || stat(path, &other) || own.st_ino != other.st_ino)
		return false;
	proc__path(pid, "root", path, sizeof(path));
	n = readlink(path, root, sizeof(root));
	return n == 1 && root[0] == '/';
}

static bool is_local(const char *type)
{
	static const char *const types[] = {"overlay", "tmpfs", "devtmpfs", "ext4",
					    "ext3",    "ext2",	"xfs",	    "btrfs",
					    "zfs",     "f2fs",	"squashfs", "erofs"};

	for (size_t i = 0; i < COUNT(types); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

/*
 * Whether / and /dev of the process are on file systems that the kernel serves itself. One that a
 * program or another machine serves could block gpuprobe forever. The lines of mountinfo: proc(5).
 */
static bool answers(pid_t pid)
{
	char path[64], *text = NULL, *line, *rest;
	bool root = false, dev = true;
	size_t length;

	proc__path(pid, "mountinfo", path, sizeof(path));
	if (read_whole(path, MAX_MOUNTS, &text, &length) || !length) {
		free(text);
		return false;
	}
	text[length - 1] = '\0';
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char point[8], type[16], *types = strstr(line, " - ");

		if (sscanf(line, "%*s %*s %*s %*s %7s", point) != 1 || !types ||
		    sscanf(types + 3, "%15s", type) != 1)
			continue;
		if (!strcmp(point, "/"))
			root = is_local(type);
		else if (!strcmp(point, "/dev"))
			dev = is_local(type);
	}
	free(text);
	return root && dev;
}

static void read_nodes(pid_t pid, struct cuda_environment *environment)
{
	struct process_root *root;
	struct statx node;
	char path[64];

	if (shares_root(pid)) {
		environment->nodes = NODES_ALL;
		return;
	}
	if (!answers(pid))
		return;
	if (process_root__open(pid, &root))
		return;
	for (unsigned int minor = 0; minor < NODES_MAX; minor++) {
		int fd;

		snprintf(path, sizeof(path), "/dev/nvidia%u", minor);
		fd = process_root__find(root, path, &node);
		if (fd < 0)
			continue;
		close(fd);
		if (S_ISCHR(node.stx_mode) && node.stx_rdev_major == NVIDIA_MAJOR &&
		    node.stx_rdev_minor == minor)
			environment->minors |= 1ull << minor;
	}
	process_root__free(root);
	/*
	 * If no node is visible, CUDA can only work if it is not NVIDIA's; the nodes then stay
	 * unknown.
	 */
	if (environment->minors)
		environment->nodes = NODES_LISTED;
}

void cuda_environment__read(struct memory_reader *memory, pid_t pid,
			    struct cuda_environment *environment)
{
	*environment = (struct cuda_environment){0};
	read_variables(memory, pid, environment);
	read_nodes(pid, environment);
}
