// SPDX-License-Identifier: BSD-2-Clause
// BPF_LINK_CREATE for uprobe_multi; see multi_link.h.
#include "probe/multi_link.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sigkill_safe.h"

#define FLAG_RETURN 1 /* BPF_F_UPROBE_MULTI_RETURN */

/* The part of union bpf_attr that BPF_LINK_CREATE reads for these types. */
struct link_create_attr {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t pad;
};

_Static_assert(sizeof(struct link_create_attr) == 64, "layout of the kernel's union bpf_attr");

/* struct bpf_link_info, with its uprobe_multi part. */
struct link_info {
	uint32_t type, id, prog_id, pad;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t path_size, count, flags, pid;
};

_Static_assert(sizeof(struct link_info) == 64, "layout of the kernel's struct bpf_link_info");

/* The part of union bpf_attr that BPF_OBJ_GET_INFO_BY_FD reads. */
struct get_info_attr {
	uint32_t fd, size;
	uint64_t info;
};

struct creation {
	const struct link_create_attr *attr;
	int result; /* a descriptor or a negative errno */
};

static void create(void *arg)
{
	struct creation *creation = arg;
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, creation->attr, sizeof(*creation->attr));

	creation->result = fd < 0 ? -errno : (int)fd;
}

int multi_link__create_at(pid_t pid, int program, int type, const char *path,
			  const struct multi_link_sites *sites, bool on_return)
{
	const struct link_create_attr attr = {
		.prog_fd = (uint32_t)program,
		.attach_type = (uint32_t)type,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)sites->offsets,
		.ref_ctr_offsets = (uintptr_t)sites->counters,
		.cookies = (uintptr_t)sites->cookies,
		.count = (uint32_t)sites->count,
		.multi_flags = on_return ? FLAG_RETURN : 0,
		.pid = (uint32_t)pid,
	};
	struct creation creation = {.attr = &attr};

	sigkill_safe__run(create, &creation, 1);
	return creation.result;
}

int multi_link__create_in(pid_t pid, int program, int type, const char *path,
			  const uint64_t *offsets, const uint64_t *cookies, size_t count,
			  bool on_return)
{
	const struct multi_link_sites sites = {
		.offsets = offsets, .cookies = cookies, .count = count};

	return multi_link__create_at(pid, program, type, path, &sites, on_return);
}

int multi_link__create(int program, int type, const char *path, const uint64_t *offsets,
		       const uint64_t *cookies, size_t count, bool on_return)
{
	return multi_link__create_in(0, program, type, path, offsets, cookies, count, on_return);
}

bool multi_link__is_orphaned(int link_fd)
{
	struct link_info info = {.pid = 0};
	const struct get_info_attr attr = {
		.fd = (uint32_t)link_fd, .size = sizeof(info), .info = (uintptr_t)&info};

	return !syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) && !info.pid;
}
