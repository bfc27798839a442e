// SPDX-License-Identifier: BSD-2-Clause
// Why gpuprobe cannot watch something; see attach_failure.h.
#include "probe/attach_failure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>

#include "privilege/capabilities.h"
#include "probe/candidates.h"
#include "target/proc.h"

struct file_attach_failure file_attach_failure__of(int code, bool deleted)
{
	struct file_attach_failure file = {.advice = NULL};

	if (deleted) {
		/*
		 * map_files checks permission on the process first, so EPERM means that this
		 * capability is missing.
		 */
		if (code == -EPERM)
			file.advice = "run it as root, or with CAP_CHECKPOINT_RESTORE; or restart "
				      "the program";
		snprintf(file.what, sizeof(file.what),
			 " was deleted or replaced while in use, and cannot be read: %s",
			 strerror(-code));
	} else if (code == -EREMOTE) {
		file.advice = "name that file with --libcuda-path or --libcudart-path";
		snprintf(file.what, sizeof(file.what),
			 " is on a FUSE file system, which may never answer: it gets no probes");
	} else if (code == -EOVERFLOW) {
		file.advice = "name that file with --libcuda-path or --libcudart-path";
		snprintf(file.what, sizeof(file.what),
			 " may be on a FUSE file system, as the list of mounts is longer than 16 "
			 "MiB: it gets no "
			 "probes");
	} else if (code == -ESTALE) {
		file.advice = "calls of that library are not seen there; restart the program";
		snprintf(file.what, sizeof(file.what), " is no longer the file in use");
	} else if (code == -ENOEXEC || code == -EINVAL) {
		file.advice = "reinstall that library for x86-64";
		snprintf(file.what, sizeof(file.what), " is not an x86-64 ELF file");
	} else {
		/* Other errors are not about permission. */
		if (code != -EACCES && code != -EPERM)
			file.advice = "calls of that library are not seen there";
		snprintf(file.what, sizeof(file.what), " cannot be read: %s", strerror(-code));
	}
	return file;
}

const char *attach_failure__advice(uint64_t effective, bool files)
{
	bool traces = capabilities__suffice(effective, CAP_SYS_PTRACE);
	bool searches = !files || capabilities__suffice(effective, CAP_DAC_READ_SEARCH);

	if (traces && searches)
		return "run gpuprobe where the process runs: it has a sandbox that is closed even "
		       "to root";
	if (traces)
		return "run it as root (sudo), or with CAP_DAC_READ_SEARCH";
	return searches ? "run it as root (sudo), or with CAP_SYS_PTRACE" :
			  "run it as root (sudo), or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH";
}

static struct process_info who(pid_t pid)
{
	struct process_info info;

	if (proc__info(pid, &info))
		snprintf(info.comm, sizeof(info.comm), "?");
	return info;
}

int attach_failure__of_process(pid_t pid, int code, struct attach_failure *attach_failure)
{
	attach_failure->whole = true;
	return error__set(
		&attach_failure->text, code,
		"process %d (%s): cannot read its mappings: %s: only libraries that the loader or "
		"--libcuda-path names have probes there; %s",
		pid, who(pid).comm, strerror(-code),
		attach_failure__advice(capabilities__effective(), false));
}

void attach_failure__of_limit(pid_t pid, int code, struct attach_failure *attach_failure)
{
	if (*attach_failure->text.text)
		return;
	if (code == -E2BIG)
		error__set(&attach_failure->text, code,
			   "process %d (%s) maps too many files that are named like CUDA's: "
			   "gpuprobe looks at the first %d only",
			   pid, who(pid).comm, CANDIDATES_MAX);
	else
		error__set(&attach_failure->text, code,
			   "process %d (%s): its list of mappings is longer than 16 MiB: libraries "
			   "beyond that have no probes, unless another process maps them or "
			   "--libcuda-path names them",
			   pid, who(pid).comm);
}

void attach_failure__of_crowd(pid_t pid, const char *path, struct attach_failure *attach_failure)
{
	attach_failure->of_file = true;
	error__set(&attach_failure->text, -EDQUOT,
		   "process %d (%s): %.200s gets no probes: programs of its user have too many "
		   "CUDA libraries to "
		   "leave room for other users; end some, or raise ulimit -n",
		   pid, who(pid).comm, path);
}

int attach_failure__of_file(pid_t pid, const char *path, bool deleted, int code,
			    struct attach_failure *attach_failure)
{
	const struct file_attach_failure file = file_attach_failure__of(code, deleted);

	attach_failure->of_file = true;
	return error__set(&attach_failure->text, code, "process %d (%s): %.200s%s: %s", pid,
			  who(pid).comm, path, file.what,
			  file.advice ? file.advice :
					attach_failure__advice(capabilities__effective(), true));
}
