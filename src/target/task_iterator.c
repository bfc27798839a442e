// SPDX-License-Identifier: BSD-2-Clause
// Iterators over some tasks; see task_iterator.h.
#include "target/task_iterator.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct bpf_link *task_iterator__attach(const struct bpf_program *program, pid_t pid, pid_t tid)
{
	struct bpf_iter_attach_opts options;
	union bpf_iter_link_info info;

	/*
	 * Not LIBBPF_OPTS: the compiler need not clear the padding after the last member, and
	 * libbpf refuses what is not zero.
	 */
	memset(&options, 0, sizeof(options));
	memset(&info, 0, sizeof(info));
	if (pid)
		info.task.pid = (uint32_t)pid;
	else
		info.task.tid = (uint32_t)tid;
	options.sz = sizeof(options);
	options.link_info = &info;
	options.link_info_len = sizeof(info);
	return bpf_program__attach_iter(program, &options);
}

int task_iterator__run_link(const struct bpf_link *link)
{
	int iter = bpf_iter_create(bpf_link__fd(link)), ret = 0;
	char nothing;

	if (iter < 0)
		return iter;
	while (read(iter, &nothing, sizeof(nothing)) < 0 && !ret)
		ret = errno == EAGAIN || errno == EINTR ? 0 : -errno;
	close(iter);
	return ret;
}

int task_iterator__run(const struct bpf_program *program, pid_t pid)
{
	struct bpf_link *link = task_iterator__attach(program, pid, 0);
	int ret = link ? task_iterator__run_link(link) : -errno;

	bpf_link__destroy(link);
	return ret;
}
