// SPDX-License-Identifier: BSD-2-Clause
// Attaches the files that a process maps; see attacher__add_process in attacher.h.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/attacher_private.h"
#include "probe/candidates.h"
#include "probe/seen_files.h"
#include "probe/stack_switcher.h"
#include "target/elf_file.h"
#include "target/mounts.h"
#include "target/proc_maps.h"
#include "target/proc.h"
#include "target/root_file.h"

/*
 * The time for a process's new files in one turn: CPU time as charged to its user, and wall-clock
 * time, because the kernel may take 100 ms for one file. The rest waits until others have had their
 * turn.
 */
#define TURN_NS (100 * NS_PER_MS)
#define TURN_LASTS_NS (150 * NS_PER_MS)
/*
 * Estimated time for attaching a file's probes, in addition to the CPU time of reading it. An
 * estimate does not depend on how busy the machine is.
 */
#define PROBES_NS (10 * NS_PER_MS)
#define SKIPS_TOLD_MAX 16

struct scan {
	struct attacher *attacher;
	pid_t pid;
	struct candidates found;
	bool has_probes;      /* one of its files has probes */
	bool has_nccl;	      /* one of these has functions of NCCL */
	int late[FILE_ROLES]; /* files without probes at since_ns */
	const char *at_risk;  /* a file with return probes that may end the process */
	uint64_t began_ns;    /* of scanning new files; 0: there was none yet */
	uint64_t took_ns;     /* time charged for new files */
	uint64_t since_ns;
	struct attach_failure *attach_failure;
};

/*
 * Notes the code that the file's probes would replace. A process that is held right after it mapped
 * a file has not run since, and the libraries of expected processes have been noted already.
 */
static void note_code(struct scan *scan, enum process_scan what)
{
	struct attacher *attacher = scan->attacher;

	for (size_t i = 0; i < scan->found.count && what != SCAN_HELD; i++)
		if (!attacher->expects || scan->found.items[i].role == ROLE_OF_PROGRAM)
			hooks__note(attacher->hooks, scan->pid, &scan->found.items[i].mapping,
				    &scan->found.items[i].identity);
}

/* `file` is NULL if it has no probes. */
static void note_file(struct scan *scan, enum file_role role, struct attached_file *file)
{
	if (!file)
		return;
	file->unmapped_ns = 0;
	scan->has_probes = true;
	scan->has_nccl |= file->has_nccl;
	scan->late[role] += attacher__probed_ns(scan->attacher, file, scan->pid) > scan->since_ns;
}

/* Reports only the first of several files, which is the driver if that is among them. */
static void note_unopened(struct scan *scan, const struct candidate *candidate, int code)
{
	const struct mapping *mapping = &candidate->mapping;

	if (code != -ESRCH && candidate__is_of_cuda(candidate->role))
		seen_files__count_skipped(scan->attacher, mapping);
	log__debug(scan->attacher->log, "process %d: %s: %s", scan->pid, mapping->path,
		   root_file__why(code));
	if (code != -ESRCH && !*scan->attach_failure->text.text &&
	    candidate__is_of_cuda(candidate->role))
		attach_failure__of_file(scan->pid, mapping->path, mapping->deleted, code,
					scan->attach_failure);
}

/* Warns once: what is missing for one process will be missing for the next. */
static void report_lack(struct scan *scan, int code, const char *what)
{
	struct attacher *attacher = scan->attacher;

	attacher->counts.skipped++;
	if (attacher->lack_reported)
		log__info(attacher->log, "process %d: %s: %s", scan->pid, what, strerror(-code));
	else
		log__warn(attacher->log,
			  "process %d: %s: %s; it and others may be watched only in part, or not "
			  "at all",
			  scan->pid, what, strerror(-code));
	attacher->lack_reported = true;
}

/* Failures that no process causes: gpuprobe itself lacks memory or descriptors. */
static bool is_lack(int code)
{
	return code == -ENOMEM || code == -EMFILE || code == -ENFILE;
}

/*
 * Notes a file whose return probes were attached for other processes, while this one may switch
 * stacks.
 */
static void note_risk(struct scan *scan, const struct candidate *candidate,
		      struct attached_file *file)
{
	if (!scan->attacher->unfollows || !file || !file->is_followed || file->risk_reported)
		return;
	file->risk_reported = true;
	scan->at_risk = candidate->mapping.path;
}

/* Whether to scan a new file now. */
static bool has_turn(struct scan *scan)
{
	struct attacher *attacher = scan->attacher;
	uint64_t now_ns = clock__boot_ns();

	if (!attacher->is_patient)
		return true;
	if (!scan->began_ns)
		scan->began_ns = now_ns;
	if (scan->took_ns < TURN_NS && now_ns - scan->began_ns < TURN_LASTS_NS &&
	    file_shares__ready_ns(attacher->shares, attacher->user, now_ns) <= now_ns)
		return true;
	attacher->is_unfinished = true;
	return false;
}

/* Root's files count for root, whichever process maps them. */
static bool has_room(struct scan *scan, const struct candidate *candidate, int fd)
{
	struct attacher *attacher = scan->attacher;
	struct stat status;

	if (!fstat(fd, &status) && !status.st_uid)
		attacher->user = 0;
	if (!attacher->is_patient || file_shares__have_room(attacher->shares, attacher->user))
		return true;
	attacher->counts.skipped++;
	if (!*scan->attach_failure->text.text && candidate__is_of_cuda(candidate->role))
		attach_failure__of_crowd(scan->pid, candidate->mapping.path, scan->attach_failure);
	return false;
}

static void charge(struct scan *scan, uid_t user, uint64_t began_ns, bool has_new)
{
	uint64_t took_ns = clock__thread_ns() - began_ns + (has_new ? PROBES_NS : 0);

	scan->took_ns += took_ns;
	file_shares__charge(scan->attacher->shares, user, took_ns, clock__boot_ns());
}

/* A file that was probed for another process need not be opened again. */
static bool has_probes(struct scan *scan, const struct candidate *candidate)
{
	struct attacher *attacher = scan->attacher;
	const struct seen_key key = seen_files__key(&candidate->mapping, &candidate->identity, -1);
	struct attached_file *file;

	if (!candidate->identity.inode || !attacher__find_inode(attacher, &candidate->identity))
		return false;
	attacher__claim(attacher);
	file = attacher__find_inode(attacher, &candidate->identity);
	if (!file)
		return false; /* the probes were for another process, which is gone */
	seen_files__remember(attacher, &key, file->number);
	note_file(scan, candidate->role, file);
	note_risk(scan, candidate, file);
	return true;
}

static void report_skip(struct attacher *attacher, const struct error *error)
{
	if (attacher->skips_reported++ < SKIPS_TOLD_MAX)
		log__warn(attacher->log, "%s", error->text);
	else
		log__info(attacher->log, "%s", error->text);
}

/* Takes ownership of `fd`. Returns whether the file has new probes. */
static bool attach_new(struct scan *scan, const struct candidate *candidate, int fd,
		       const struct seen_key *key)
{
	struct attacher *attacher = scan->attacher;
	const struct seen_key probed =
		seen_files__key(&candidate->mapping, &candidate->identity, -1);
	char name[PATH_MAX + 32];
	const struct open_file open = {.fd = fd,
				       .name = name,
				       .base = mapping__base_name(candidate->mapping.path),
				       .expected = &candidate->identity};
	struct attached_file *file;
	struct error error = {""};
	int ret;

	snprintf(name, sizeof(name), "%s (process %d)", candidate->mapping.path, scan->pid);
	ret = attacher__add_open_file(attacher, &open, candidate->role, &file, &error);
	if (is_lack(ret)) {
		report_lack(scan, ret, candidate->mapping.path);
		return false;
	}
	if (ret == -ESTALE) {
		note_unopened(scan, candidate, ret);
		return false;
	}
	if (ret > 0)
		attacher__name_driver(attacher, file, candidate->mapping.path);
	if (candidate->identity.inode)
		seen_files__remember(attacher, file ? &probed : key, file ? file->number : 0);
	note_file(scan, candidate->role, file);
	if (ret == -ENOEXEC && candidate->role == ROLE_OF_ALLOCATOR)
		report_skip(attacher, &error);
	else if (ret == -ENOEXEC)
		log__debug(attacher->log, "%s", error.text);
	if (ret >= 0 || ret == -ENOEXEC)
		return ret > 0;
	attacher->counts.skipped++;
	report_skip(attacher, &error);
	return false;
}

/* Charges the user for the time. */
static void attach_in_turn(struct scan *scan, const struct candidate *candidate, int fd,
			   const struct seen_key *key, uid_t user)
{
	uint64_t began_ns = clock__thread_ns();
	bool has_new = attach_new(scan, candidate, fd, key);

	charge(scan, user, began_ns, has_new);
}

static void attach_candidate(struct scan *scan, const struct candidate *candidate)
{
	struct attacher *attacher = scan->attacher;
	const uid_t user = attacher->user;
	struct seen_key key;
	int fd;

	if (has_probes(scan, candidate))
		return;
	fd = mapping__open(&candidate->mapping, scan->pid);
	if (is_lack(fd)) {
		report_lack(scan, fd, candidate->mapping.path);
		return;
	}
	if (fd < 0) {
		note_unopened(scan, candidate, fd);
		return;
	}
	key = seen_files__key(&candidate->mapping, &candidate->identity, fd);
	if (!seen_files__have(attacher, &key) && has_turn(scan) && has_room(scan, candidate, fd))
		attach_in_turn(scan, candidate, fd, &key, user);
	else
		close(fd);
	attacher->user = user;
}

static void attach_role(struct scan *scan, enum file_role role)
{
	for (size_t i = 0; i < scan->found.count; i++)
		if (scan->found.items[i].role == role)
			attach_candidate(scan, &scan->found.items[i]);
}

/*
 * Whether the file needs libcuda. Returns false if it cannot be opened: it then gets its probes, or
 * none, at once.
 */
static bool needs_driver(const struct scan *scan, const struct candidate *candidate)
{
	struct elf_file *file;
	struct error error;
	bool needs;
	int fd = mapping__open(&candidate->mapping, scan->pid);

	if (fd < 0 || elf_file__open_fd(fd, candidate->mapping.path, &file, &error))
		return false;
	needs = elf_file__needs(file, "libcuda.so");
	elf_file__free(file);
	return needs;
}

/*
 * Whether the loader is about to map the first libcuda, for the program or for a CUDA library: only
 * then is it known which probes the runtime needs.
 */
static bool awaits_driver(const struct scan *scan)
{
	bool awaits = false;

	if (!scan->attacher->selection.no_driver)
		return false;
	for (size_t i = 0; i < scan->found.count && !awaits; i++)
		awaits = needs_driver(scan, &scan->found.items[i]);
	return awaits;
}

/* Whether the process may switch stacks inside calls, and its links cannot skip returns. */
static bool is_switcher(const struct scan *scan)
{
	const struct attacher *attacher = scan->attacher;

	if (attacher->always_follows || attacher->selection.no_returns || !scan->found.maps_cuda)
		return false;
	return scan->found.maps_coroutines || stack_switcher__is_program(scan->pid);
}

/*
 * Warns about the first such process that brings new files, and about each that has a file with
 * return probes for other processes.
 */
static void warn_of_switcher(const struct scan *scan, bool has_new)
{
	struct attacher *attacher = scan->attacher;

	if (scan->at_risk)
		log__warn(attacher->log,
			  "process %d may switch stacks inside a call, and %s has return probes "
			  "for other processes, "
			  "which may kill it on this kernel; see --no-return-probes",
			  scan->pid, scan->at_risk);
	else if (has_new && !attacher->switcher_reported)
		log__warn(attacher->log,
			  "process %d may switch stacks inside a call, where this kernel's return "
			  "probes would kill "
			  "it: gpuprobe watches only the start of its calls, without results and "
			  "durations; Linux "
			  "6.13 can follow them",
			  scan->pid);
	attacher->switcher_reported |= has_new;
}

/*
 * Notes that not all mappings were looked at; those that were have their probes. A look that is to
 * go on counts when it ends.
 */
static void note_limit(struct scan *scan)
{
	if (!scan->attacher->is_unfinished)
		seen_files__count_cut(scan->attacher, scan->pid);
	attach_failure__of_limit(scan->pid, scan->found.limit, scan->attach_failure);
}

static int add_process(struct attacher *attacher, pid_t pid, enum process_scan what,
		       uint64_t since_ns, struct attach_failure *attach_failure)
{
	struct scan scan = {.attacher = attacher,
			    .pid = pid,
			    .found = {.attacher = attacher, .pid = pid},
			    .since_ns = since_ns,
			    .attach_failure = attach_failure};
	uint64_t before;
	int ret;

	*attach_failure = (struct attach_failure){.whole = false};
	attacher->reading_ns = 0;
	attacher->scanned = pid;
	attacher->claimed = false;
	attacher->is_unfinished = false;
	attacher->is_patient = !attacher->hurries && what != SCAN_HELD;
	if (proc__user(pid, &attacher->user))
		attacher->user = (uid_t)-1;
	mounts__keep();
	ret = candidates__gather(&scan.found);
	if (ret)
		goto out;
	if (what == SCAN_FORKED || (what == SCAN_PROGRAM && attacher->has_unlisted))
		attacher__claim(attacher);
	if (what == SCAN_FORKED)
		scan.late[ROLE_OF_LIBRARY] += attacher->shared_ns > since_ns;
	if (scan.found.count && (scan.found.maps_cuda || scan.found.maps_others ||
				 scan.found.maps_nameless || what == SCAN_PROGRAM))
		candidates__identify(&scan.found);
	note_code(&scan, what);
	attacher->unfollows = is_switcher(&scan);
	before = attacher->last_number;
	attach_role(&scan, ROLE_OF_DRIVER);
	if (what != SCAN_HELD || !awaits_driver(&scan))
		attach_role(&scan, ROLE_OF_LIBRARY);
	if (what == SCAN_PROGRAM || scan.found.maps_cuda)
		attach_role(&scan, ROLE_OF_PROGRAM);
	attach_role(&scan, ROLE_OF_ALLOCATOR);
	attach_role(&scan, ROLE_OF_HANDLES);
	if (attacher->unfollows)
		warn_of_switcher(&scan, attacher->last_number != before);
	attacher->unfollows = false;
	if (scan.found.limit)
		note_limit(&scan);
	/* Of too many files, not all were looked at: a library may be among the rest. */
	attach_failure->whole =
		*attach_failure->text.text && !scan.has_probes && scan.found.limit != -E2BIG;
	ret = scan.late[ROLE_OF_PROGRAM];
	if (what != SCAN_PROGRAM)
		ret += scan.late[ROLE_OF_DRIVER] + scan.late[ROLE_OF_LIBRARY];
	if (scan.has_nccl && attacher->nccl)
		attacher->nccl(pid, what, since_ns, attacher->nccl_arg);
out:
	if (is_lack(ret))
		report_lack(&scan, ret, "cannot read its mappings");
	else if (ret < 0 && ret != -ESRCH)
		attach_failure__of_process(pid, ret, attach_failure);
	if (!attacher->expects)
		hooks__forget(attacher->hooks);
	mounts__forget();
	candidates__clear(&scan.found);
	return ret;
}

int attacher__add_process(struct attacher *attacher, pid_t pid, enum process_scan what,
			  uint64_t since_ns, struct attach_failure *attach_failure)
{
	int ret = add_process(attacher, pid, what, since_ns, attach_failure), late;
	struct attach_failure same;

	if (!attacher->beside)
		return ret;
	late = add_process(attacher->beside, pid, what, since_ns, &same);
	return late > ret && ret >= 0 ? late : ret;
}
