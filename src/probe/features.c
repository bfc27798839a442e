// SPDX-License-Identifier: BSD-2-Clause
// Tries out the kernel's features; see features.h.
#include "probe/features.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "privilege/capabilities.h"
#include "probe/multi_link.h"

/*
 * More than the 88 that the monitor opens. If libbpf runs out of descriptors for a map of
 * constants, it reports EINVAL.
 */
#define DESCRIPTORS 128
#define OLDEST_MAJOR 5
#define OLDEST_MINOR 17 /* bpf_loop, bpf_find_vma */

/*
 * Whether the running kernel is at least this version; returns `unknown` if its release cannot be
 * read.
 */
static bool kernel_is(unsigned int major, unsigned int minor, bool unknown)
{
	unsigned int own_major = 0, own_minor = 0;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &own_major, &own_minor) != 2)
		return unknown;
	return own_major > major || (own_major == major && own_minor >= minor);
}

static int check_kernel_version(struct error *err)
{
	struct utsname name;

	/* If the release is unknown, the other trials decide. */
	if (kernel_is(OLDEST_MAJOR, OLDEST_MINOR, true))
		return 0;
	return error__set(err, -ENOSYS, "kernel %s is too old: gpuprobe needs Linux %d.%d or newer",
			  uname(&name) ? "" : name.release, OLDEST_MAJOR, OLDEST_MINOR);
}

static int check_btf(struct error *err)
{
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return 0;
	return error__set(err, -ENOENT,
			  "cannot read /sys/kernel/btf/vmlinux: mount /sys, or boot a kernel with "
			  "CONFIG_DEBUG_INFO_BTF");
}

/* Loads an empty program. Returns its descriptor or a negative errno. */
static int load_empty_program(enum bpf_attach_type type)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = type);
	int fd;

	fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "Dual BSD/GPL", insns, 2, &options);
	return fd < 0 ? -errno : fd;
}

int features__try_program(void)
{
	int fd = load_empty_program(0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Under lockdown=confidentiality the kernel does not offer the helper. */
int features__try_reading(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD, .dst_reg = BPF_REG_1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = 0},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "reading", "Dual BSD/GPL", insns,
			       sizeof(insns) / sizeof(*insns), NULL);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/*
 * Names the missing capabilities. Even root may be refused, by lockdown or in a container; then
 * there are none to name.
 */
static int report_lacking(struct error *err)
{
	char names[128] = "";
	struct capabilities now;

	if (!capabilities__read(&now, NULL))
		capabilities__lacking(now.effective, false, names, sizeof(names));
	return capabilities__refused(names, err);
}

int features__refused(int code, struct error *err)
{
	struct rlimit limit;

	if (code == -EMFILE || code == -ENFILE)
		return error__set(err, code, "the BPF programs could not be loaded: %s: raise %s",
				  strerror(-code),
				  code == -EMFILE ? "ulimit -n" : "fs.file-max by sysctl");
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < DESCRIPTORS)
		return error__set(err, code,
				  "the BPF programs could not be loaded with %llu descriptors: "
				  "raise ulimit -n",
				  (unsigned long long)limit.rlim_cur);
	return error__set(
		err, code,
		"the kernel refused the BPF programs: %s (run with --verbose for its reasons)",
		strerror(-code));
}

static int check_privileges(struct error *err)
{
	int fd = features__try_program();

	if (!fd)
		return 0;
	if (fd == -EPERM || fd == -EACCES)
		return report_lacking(err);
	return error__set(err, fd, "cannot load a BPF program: %s", strerror(-fd));
}

/*
 * Kernels without a link type accept the program and refuse only the link, with EINVAL. Kernels
 * that have it check the path next, and "/" is not a regular file: EBADF.
 */
static bool has_link_type(enum bpf_attach_type type)
{
	uint64_t offset = 0;
	int program, link;

	program = load_empty_program(type);
	if (program < 0)
		return false;
	link = multi_link__create(program, type, "/", &offset, NULL, 1, false);
	if (link >= 0)
		close(link);
	close(program);
	return link == -EBADF;
}

void features__try_links(struct features *features)
{
	features->uprobe_multi = has_link_type(ATTACH_UPROBE_MULTI);
	features->uprobe_session = has_link_type(ATTACH_UPROBE_SESSION);
}

/*
 * Hash maps that allocate from BPF's own allocator (Linux 6.1) can safely grow in a probe. Older
 * kernels may have a backport: then BTF decides, and reading it takes 5 % of gpuprobe's startup.
 */
static bool has_bpf_allocator(void)
{
	struct btf *btf;
	bool found;

	if (kernel_is(6, 1, false))
		return true;
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return false;
	found = btf__find_by_name_kind(btf, "bpf_mem_alloc", BTF_KIND_STRUCT) > 0;
	btf__free(btf);
	return found;
}

int features__probe(struct features *features, struct error *err)
{
	int ret;

	memset(features, 0, sizeof(*features));
	ret = check_kernel_version(err);
	if (!ret)
		ret = check_privileges(err);
	if (!ret)
		ret = check_btf(err);
	if (ret)
		return ret;
	features__try_links(features);
	features->lazy_maps = has_bpf_allocator();
	return 0;
}

int features__choose_links(const struct features *features, const char *forced,
			   enum link_kind *kind, struct error *err)
{
	bool available = true;

	if (!forced || !*forced) {
		*kind = features->uprobe_session ? LINKS_SESSION :
			features->uprobe_multi	 ? LINKS_MULTI :
						   LINKS_TRACEFS;
		return 0;
	}
	if (!strcmp(forced, "session")) {
		*kind = LINKS_SESSION;
		available = features->uprobe_session;
	} else if (!strcmp(forced, "multi")) {
		*kind = LINKS_MULTI;
		available = features->uprobe_multi;
	} else if (!strcmp(forced, "perf")) {
		*kind = LINKS_TRACEFS;
	} else {
		return error__set(err, -EINVAL,
				  "GPUPROBE_LINKS is '%s': use session, multi or perf", forced);
	}
	if (!available)
		return error__set(err, -ENOTSUP,
				  "GPUPROBE_LINKS is '%s': this kernel has no such links", forced);
	return 0;
}
