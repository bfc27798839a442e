// SPDX-License-Identifier: BSD-2-Clause
// Runs the task iterator on threads; see thread_reader.h.
#include "dump/thread_reader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/dump.skel.h"
#include "target/proc.h"
#include "target/task_iterator.h"

struct thread_reader {
	struct dump_bpf *skeleton;
};

int thread_reader__new(struct thread_reader **out, struct error *err)
{
	struct thread_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return error__set(err, -ENOMEM, "out of memory");
	reader->skeleton = dump_bpf__open_and_load();
	if (!reader->skeleton) {
		int code = -errno;

		free(reader);
		return error__set(err, code,
				  "the kernel refused the iterator that looks at threads: %s; it "
				  "needs Linux 6.1, CAP_BPF and "
				  "CAP_PERFMON",
				  strerror(-code));
	}
	*out = reader;
	return 0;
}

void thread_reader__free(struct thread_reader *reader)
{
	if (!reader)
		return;
	dump_bpf__destroy(reader->skeleton);
	free(reader);
}

void thread_reader__set_python(struct thread_reader *reader, const struct python_target *target)
{
	if (target)
		reader->skeleton->bss->python = *target;
	else
		memset(&reader->skeleton->bss->python, 0, sizeof(reader->skeleton->bss->python));
}

struct thread_look *thread_reader__take(struct thread_reader *reader, pid_t pid, pid_t tid)
{
	struct thread_look *found = &reader->skeleton->bss->look, *look = NULL;
	struct bpf_link *link =
		task_iterator__attach(reader->skeleton->progs.look_at_thread, 0, tid);

	if (!link)
		return NULL;
	found->taken = 0;
	task_iterator__run_link(link); /* leaves any result in its data section */
	bpf_link__destroy(link);
	/*
	 * Checked after the read: a reused tid may belong to another process by now, or may have
	 * then.
	 */
	if (found->taken && proc__of_thread(tid) == pid)
		look = malloc(sizeof(*look));
	if (!look)
		return NULL;
	memcpy(look, found, sizeof(*look));
	look->stack.pid = pid;
	return look;
}
