// SPDX-License-Identifier: BSD-2-Clause
// What valgrind 3.19 does not know of Linux. For bpf(2) commands on many elements of a map at once
// it does not know which memory the kernel has written: syscall(2) here replaces the C library's,
// which libbpf calls. It refuses pidfd_open(2): another program opens the descriptor instead.
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/memcheck.h>

/* For arrays and hash tables, the only maps that gpuprobe reads in batches. */
#define IN_BATCH_BYTES 4

long syscall(long number, ...);

static long call(long number, const long args[6])
{
	register long fourth __asm__("r10") = args[3];
	register long fifth __asm__("r8") = args[4];
	register long sixth __asm__("r9") = args[5];
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(args[0]), "S"(args[1]), "d"(args[2]), "r"(fourth),
			   "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
	return ret;
}

static size_t value_bytes(const struct bpf_map_info *info)
{
	switch (info->type) {
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		return (info->value_size + 7) / 8 * 8 * (size_t)sysconf(_SC_NPROCESSORS_CONF);
	default: return info->value_size;
	}
}

/* The counted elements have been written with these errors, too. */
static void note_batch(const union bpf_attr *attr, long ret)
{
	struct bpf_map_info info;
	union bpf_attr ask;
	const long args[6] = {BPF_OBJ_GET_INFO_BY_FD, (long)&ask, sizeof(ask)};

	if (ret && ret != -ENOENT && ret != -ENOSPC)
		return;
	memset(&info, 0, sizeof(info));
	memset(&ask, 0, sizeof(ask));
	ask.info.bpf_fd = attr->batch.map_fd;
	ask.info.info_len = sizeof(info);
	ask.info.info = (uintptr_t)&info;
	if (call(SYS_bpf, args))
		abort();
	VALGRIND_MAKE_MEM_DEFINED(attr->batch.out_batch, IN_BATCH_BYTES);
	VALGRIND_MAKE_MEM_DEFINED(attr->batch.keys, (size_t)attr->batch.count * info.key_size);
	VALGRIND_MAKE_MEM_DEFINED(attr->batch.values, attr->batch.count * value_bytes(&info));
}

long syscall(long number, ...)
{
	long args[6], ret;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	ret = call(number, args);
	if (number == SYS_bpf &&
	    (args[0] == BPF_MAP_LOOKUP_BATCH || args[0] == BPF_MAP_LOOKUP_AND_DELETE_BATCH))
		note_batch((const union bpf_attr *)args[1], ret);
	if (ret < 0 && ret > -4096) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}

static void __attribute__((noreturn)) run_asker(pid_t pid, int to)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	dup2(to, STDIN_FILENO);
	execl(PIDFD_PROGRAM, PIDFD_PROGRAM, text, NULL);
	_exit(ENOENT);
}

/* The descriptor that arrives with a byte, or -1. */
static int receive(int from)
{
	char byte, room[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = room,
				 .msg_controllen = sizeof(room)};
	int fd;

	if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	VALGRIND_MAKE_MEM_DEFINED(&fd, sizeof(fd));
	return fd;
}

int pidfd_open(pid_t pid, unsigned int flags)
{
	int pair[2], status, fd;
	pid_t child;

	(void)flags;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -1;
	child = fork();
	if (!child)
		run_asker(pid, pair[1]);
	close(pair[1]);
	fd = receive(pair[0]);
	close(pair[0]);
	if (child < 0 || waitpid(child, &status, 0) != child)
		abort();
	if (fd < 0)
		errno = WEXITSTATUS(status);
	return fd;
}
