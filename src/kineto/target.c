// SPDX-License-Identifier: BSD-2-Clause
// A process whose profiler makes a trace, see target.h.
#include "kineto/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kineto/protocol.h"
#include "target/process_root.h"
#include "target/text_file.h"

#define STATUS_SIZE 4096
#define USUAL_FOLDER "/tmp" /* newer versions of Kineto write requested traces nowhere else */

/* The last of four numbers behind `name`: the one for files. */
static bool read_file_id(const char *status, const char *name, unsigned int *id)
{
	const char *at = strstr(status, name);

	return at && sscanf(at + strlen(name), "%*u %*u %*u %u", id) == 1;
}

static int read_user(struct kineto_target *target, struct error *err)
{
	char path[64], status[STATUS_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)target->pid);
	if (!text_file__read("", path, status, sizeof(status)) &&
	    read_file_id(status, "\nUid:", &target->uid) &&
	    read_file_id(status, "\nGid:", &target->gid))
		return 0;
	return error__set(err, -ESRCH, "process %d: its user is unknown: it may have ended",
			  (int)target->pid);
}

/* If the variables have been overwritten, asking shows whether it uses a daemon. */
static int check_variables(const struct kineto_environment *environment, pid_t pid,
			   struct error *err)
{
	if (environment->known && !environment->uses_daemon)
		return error__set(
			err, -ENOTSUP,
			"process %d was not started with KINETO_USE_DAEMON=1, so its "
			"profiler takes no requests: start the program with this variable",
			(int)pid);
	if (environment->other_socket)
		return error__set(err, -ENOTSUP,
				  "process %d waits for requests at a socket in a folder, which "
				  "gpuprobe does not serve: start it without KINETO_IPC_SOCKET_DIR",
				  (int)pid);
	if (environment->folder_cut)
		return error__set(err, -ENAMETOOLONG,
				  "process %d: its KINETO_ONDEMAND_TRACE_DIR is too long",
				  (int)pid);
	return 0;
}

/* A folder that does not exist, or that Kineto cannot be told, is none. */
static void open_folder(struct kineto_folder *folder, struct process_root *root, const char *path)
{
	struct statx status;
	int fd;

	if (!kineto_protocol__takes_path(path))
		return;
	fd = process_root__find(root, path, &status);
	if (fd < 0)
		return;
	if (!S_ISDIR(status.stx_mode)) {
		close(fd);
		return;
	}
	folder->fd = fd;
	snprintf(folder->path, sizeof(folder->path), "%s", path);
}

static int open_folders(struct kineto_target *target, const struct kineto_environment *environment,
			struct error *err)
{
	struct process_root *root;
	int ret = process_root__open(target->pid, &root);

	if (ret)
		return error__set(err, ret, "process %d: cannot open its root directory: %s",
				  (int)target->pid, strerror(-ret));
	open_folder(&target->folders[0], root,
		    *environment->folder ? environment->folder : USUAL_FOLDER);
	/* Older versions of Kineto take any folder. */
	if (!*environment->folder)
		open_folder(&target->folders[1], root, environment->temporary);
	process_root__free(root);
	return 0;
}

int kineto_target__open(struct kineto_target *target, pid_t pid, struct error *err)
{
	struct kineto_environment environment;
	int ret;

	*target = (struct kineto_target){.pid = pid};
	for (size_t i = 0; i < KINETO_FOLDERS; i++)
		target->folders[i].fd = -1;
	target->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (target->pidfd < 0)
		return error__set(err, -errno, "process %d: %s", (int)pid, strerror(errno));
	ret = kineto_environment__read(pid, &environment);
	if (ret)
		return error__set(err, ret, "process %d: cannot read its environment: %s%s",
				  (int)pid, strerror(-ret),
				  ret == -EACCES ? "; run gpuprobe as root" : "");
	ret = check_variables(&environment, pid, err);
	if (!ret)
		ret = read_user(target, err);
	if (!ret)
		ret = open_folders(target, &environment, err);
	/* Otherwise all of that was the same process's. */
	if (!ret && kineto_target__has_ended(target))
		ret = error__set(err, -ESRCH, "process %d has ended", (int)pid);
	return ret;
}

void kineto_target__close(struct kineto_target *target)
{
	for (size_t i = 0; i < KINETO_FOLDERS; i++)
		if (target->folders[i].fd >= 0)
			close(target->folders[i].fd);
	if (target->pidfd >= 0)
		close(target->pidfd);
}

const struct kineto_folder *kineto_target__folder(const struct kineto_target *target,
						  struct error *err)
{
	for (size_t i = 0; i < KINETO_FOLDERS; i++)
		if (target->folders[i].fd >= 0 &&
		    !faccessat(target->folders[i].fd, ".", W_OK | X_OK, AT_EACCESS))
			return &target->folders[i];
	error__set(err, -EACCES,
		   "process %d has no folder for its trace that it may write to: make " USUAL_FOLDER
		   " writable for it, or start it with KINETO_ONDEMAND_TRACE_DIR=FOLDER",
		   (int)target->pid);
	return NULL;
}

bool kineto_target__has_ended(const struct kineto_target *target)
{
	struct pollfd poll_for = {.fd = target->pidfd, .events = POLLIN};

	return poll(&poll_for, 1, 0) > 0 && poll_for.revents & POLLIN;
}
