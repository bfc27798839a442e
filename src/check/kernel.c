// SPDX-License-Identifier: BSD-2-Clause
// The kernel itself; see kernel.h.
#include "check/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "target/text_file.h"

#define OLDEST_MAJOR 5
#define OLDEST_MINOR 17 /* has bpf_loop and bpf_find_vma; may have been backported */

void kernel_facts__parse_lockdown(const char *text, char word[32])
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	word[0] = '\0';
	if (close && close - open <= 31)
		snprintf(word, 32, "%.*s", (int)(close - open - 1), open + 1);
}

void kernel_facts__read(const char *root, struct kernel_facts *facts)
{
	char text[128];
	struct utsname name;

	*facts = (struct kernel_facts){.jit = -1};
	if (!uname(&name)) {
		snprintf(facts->release, sizeof(facts->release), "%s", name.release);
		snprintf(facts->machine, sizeof(facts->machine), "%s", name.machine);
	}
	facts->btf = text_file__access(root, "/sys/kernel/btf/vmlinux", R_OK);
	facts->types_read = kernel_types__read(&facts->types);
	text_file__read(root, "/sys/kernel/security/lockdown", text, sizeof(text));
	kernel_facts__parse_lockdown(text, facts->lockdown);
	if (text_file__number(root, "/proc/sys/net/core/bpf_jit_enable", &facts->jit))
		facts->jit = -1;
}

static bool is_too_old(const char *release)
{
	unsigned int major, minor;

	/* Not judged if the release cannot be parsed: the trials show what works. */
	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return false;
	return major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR);
}

static void judge_version(const struct kernel_facts *facts, struct check_list *list)
{
	bool has_helpers = !facts->types_read && facts->types.loops && facts->types.finds_mappings;

	if (strcmp(facts->machine, "x86_64") != 0)
		check_list__lacks(list, "kernel", CHECK_MISSING, "use it on an x86-64 machine",
				  "Linux %s on %s: gpuprobe supports x86-64 only", facts->release,
				  facts->machine);
	else if (is_too_old(facts->release) && !has_helpers)
		check_list__lacks(list, "kernel", CHECK_MISSING, "boot Linux 5.17 or newer",
				  "Linux %s is too old: it lacks BPF helper functions",
				  facts->release);
	else
		check_list__ok(list, "kernel", "Linux %s on %s", facts->release, facts->machine);
	check_list__text(list, "release", facts->release);
	check_list__text(list, "machine", facts->machine);
}

static void judge_btf(const struct kernel_facts *facts, struct check_list *list)
{
	if (facts->btf == -ENOENT)
		check_list__lacks(list, "btf", CHECK_MISSING,
				  "boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as distributions "
				  "have; in a sandbox "
				  "without /sys, mount it",
				  "there is no /sys/kernel/btf/vmlinux: BPF programs cannot be "
				  "adapted to this kernel");
	else if (facts->btf || facts->types_read)
		check_list__lacks(list, "btf", CHECK_MISSING, "let gpuprobe read that file",
				  "cannot read /sys/kernel/btf/vmlinux: %s",
				  strerror(facts->btf ? -facts->btf : -facts->types_read));
	else
		check_list__ok(list, "btf",
			       "the kernel describes its types in /sys/kernel/btf/vmlinux");
}

static void judge_helpers(const struct kernel_facts *facts, struct check_list *list)
{
	const struct kernel_types *types = &facts->types;

	if (facts->types_read)
		return; /* reported with the types */
	if (!types->loops || !types->finds_mappings)
		check_list__lacks(list, "helpers", CHECK_MISSING, "boot Linux 5.17 or newer",
				  "this kernel has no %s: it refuses gpuprobe's BPF programs",
				  types->loops		? "bpf_find_vma" :
				  types->finds_mappings ? "bpf_loop" :
							  "bpf_loop and no bpf_find_vma");
	else
		check_list__ok(list, "helpers", "this kernel has bpf_loop and bpf_find_vma");
}

static void judge_lockdown(const struct kernel_facts *facts, struct check_list *list)
{
	if (!strcmp(facts->lockdown, "confidentiality"))
		check_list__lacks(list, "lockdown", CHECK_MISSING,
				  "boot with lockdown=integrity, or without lockdown",
				  "confidentiality: BPF programs may not read the kernel's memory");
	else if (!*facts->lockdown)
		check_list__ok(list, "lockdown",
			       "unknown: the kernel has none, or securityfs is not mounted here");
	else
		check_list__ok(list, "lockdown", "%s%s", facts->lockdown,
			       strcmp(facts->lockdown, "none") ?
				       ": gpuprobe changes nothing in the kernel" :
				       "");
}

static void judge_jit(const struct kernel_facts *facts, struct check_list *list)
{
	if (facts->jit < 0)
		return; /* readable only by root in the initial network namespace */
	if (facts->jit == 0)
		check_list__lacks(
			list, "jit", CHECK_DEGRADED, "sysctl -w net.core.bpf_jit_enable=1",
			"BPF programs are interpreted, not compiled: probed calls take longer");
	else
		check_list__ok(list, "jit",
			       "BPF programs are compiled (net.core.bpf_jit_enable=%ld)",
			       facts->jit);
}

void check_kernel__judge(const struct kernel_facts *facts, struct check_list *list)
{
	judge_version(facts, list);
	judge_btf(facts, list);
	judge_helpers(facts, list);
	judge_lockdown(facts, list);
	judge_jit(facts, list);
}
