// SPDX-License-Identifier: BSD-2-Clause
// Probes a function of gpuprobe itself; see probe_selftest.h.
#include "probe/probe_selftest.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/multi_link.h"
#include "probe/tracefs.h"
#include "target/proc_maps.h"

#define CALLS 64
#define NR_URETPROBE 335 /* system calls that probes make in a process, since Linux 6.11 and 6.18 */
#define NR_UPROBE 336

/*
 * The probed function. The call with value CALLS does not return, so it only hits the entry probe.
 */
static __attribute__((noinline)) int called(int value)
{
	if (value == CALLS)
		_exit(0);
	return value + 1;
}

struct attached {
	int map;
	int programs[2]; /* for entries and for returns; with sessions only the first */
	int links[2];
	int events[2]; /* with LINKS_TRACEFS */
	int file;
	struct tracefs *tracefs;
};

static void close_all(const int fds[2])
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void detach(struct attached *attached)
{
	close_all(attached->links);
	close_all(attached->events);
	if (attached->tracefs)
		tracefs__close(attached->tracefs, 0);
	for (unsigned int i = 0; attached->tracefs && i < 2; i++)
		tracefs__remove(attached->tracefs, i);
	tracefs__free(attached->tracefs);
	close_all(attached->programs);
	if (attached->map >= 0)
		close(attached->map);
	if (attached->file >= 0)
		close(attached->file);
}

/* Loads a program that adds one to the map's only number. */
static int load_counter(int map, int type)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -4, .imm = 0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD, .dst_reg = BPF_REG_2, .imm = -4},
		{.code = BPF_LD | BPF_DW,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_FD,
		 .imm = map},
		{.code = 0},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem},
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 2, .imm = 0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .dst_reg = BPF_REG_0,
		 .src_reg = BPF_REG_1,
		 .imm = BPF_ADD},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options,
		    .expected_attach_type = (enum bpf_attach_type)type);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "trial", "Dual BSD/GPL", insns,
			       sizeof(insns) / sizeof(*insns), &options);

	return fd < 0 ? -errno : fd;
}

static int load(enum link_kind kind, struct attached *attached)
{
	const int type = kind == LINKS_SESSION ? ATTACH_UPROBE_SESSION :
			 kind == LINKS_MULTI   ? ATTACH_UPROBE_MULTI :
						 0;
	const int count = kind == LINKS_SESSION ? 1 : 2;

	attached->map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "trial", sizeof(uint32_t),
				       sizeof(uint64_t), 1, NULL);
	if (attached->map < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		attached->programs[i] = load_counter(attached->map, type);
		if (attached->programs[i] < 0)
			return attached->programs[i];
	}
	return 0;
}

/* --- attaching --- */

static int note_offset(const struct mapping *mapping, void *arg)
{
	uintptr_t address = (uintptr_t)called;

	if (address < mapping->start || address >= mapping->end)
		return 0;
	*(uint64_t *)arg = address - mapping->start + mapping->file_offset;
	return 1;
}

static int attach_event(struct attached *attached, unsigned int i, uint64_t offset,
			struct error *err)
{
	const struct tracefs_sites sites = {.offsets = &offset, .count = 1};
	int fd = tracefs__add(attached->tracefs, i, i == 1, attached->file, &sites, err);

	if (fd < 0)
		return fd;
	attached->events[i] = fd;
	attached->links[i] = bpf_link_create(attached->programs[i], fd, BPF_PERF_EVENT, NULL);
	return attached->links[i] < 0 ?
		       error__set(err, -errno, "cannot attach to a uprobe event: %s",
				  strerror(errno)) :
		       0;
}

static int attach_events(struct attached *attached, uint64_t offset, struct error *err)
{
	int ret = tracefs__new(&attached->tracefs, err);

	for (unsigned int i = 0; i < 2 && !ret; i++)
		ret = attach_event(attached, i, offset, err);
	return ret;
}

static int attach_multi(struct attached *attached, enum link_kind kind, uint64_t offset,
			struct error *err)
{
	const int type = kind == LINKS_SESSION ? ATTACH_UPROBE_SESSION : ATTACH_UPROBE_MULTI;

	for (int i = 0; i < 2 && attached->programs[i] >= 0; i++) {
		attached->links[i] = multi_link__create(attached->programs[i], type,
							"/proc/self/exe", &offset, NULL, 1, i == 1);
		if (attached->links[i] < 0)
			return error__set(err, attached->links[i], "cannot attach a probe: %s",
					  strerror(-attached->links[i]));
	}
	return 0;
}

static int attach(struct attached *attached, enum link_kind kind, struct error *err)
{
	uint64_t offset;
	int ret = load(kind, attached);

	if (ret)
		return error__set(err, ret, "the kernel refused a probe's program: %s",
				  strerror(-ret));
	if (proc_maps__each(getpid(), note_offset, &offset) != 1)
		return error__set(err, -ENOENT,
				  "cannot find gpuprobe's own functions: is /proc mounted?");
	attached->file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (attached->file < 0)
		return error__set(err, -errno, "/proc/self/exe: %s", strerror(errno));
	return kind == LINKS_TRACEFS ? attach_events(attached, offset, err) :
				       attach_multi(attached, kind, offset, err);
}

/* --- calling --- */

/* Does what container filters do with system calls that are newer than the filter. */
static int refuse_unknown_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_URETPROBE, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_UPROBE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter),
					   .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

/* Runs in a child, which may be killed; it leaves no core file. */
static void call_and_exit(bool filtered)
{
	int (*volatile probed)(int) = called; /* so that the compiler calls no clone of it */
	int sum = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	if (filtered && refuse_unknown_calls())
		_exit(1);
	for (int i = 0; i <= CALLS; i++)
		sum = probed(sum);
	_exit(1);
}

static enum trial_end call_in_child(bool filtered)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return TRIAL_NOT_MADE;
	if (!child)
		call_and_exit(filtered);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return TRIAL_NOT_MADE;
	if (WIFSIGNALED(status))
		return TRIAL_KILLED;
	return WEXITSTATUS(status) ? TRIAL_NOT_MADE : TRIAL_RETURNED;
}

int probe_selftest__run(enum link_kind kind, struct probe_selftest *trial, struct error *err)
{
	struct attached attached = {
		.map = -1, .programs = {-1, -1}, .links = {-1, -1}, .events = {-1, -1}, .file = -1};
	uint32_t zero = 0;
	int ret = attach(&attached, kind, err);

	*trial = (struct probe_selftest){.calls = CALLS};
	if (ret)
		goto out;
	trial->plain = call_in_child(false);
	if (bpf_map_lookup_elem(attached.map, &zero, &trial->hits))
		ret = error__set(err, -errno, "cannot read a map: %s", strerror(errno));
	trial->filtered = call_in_child(true);
out:
	detach(&attached);
	return ret;
}
