// SPDX-License-Identifier: BSD-2-Clause
// Attaches the files that a process maps; see attacher__add_process in attacher.h.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "api/api.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/table.h"
#include "probe/attacher_private.h"
#include "probe/stack_switcher.h"
#include "target/elf_file.h"
#include "target/mounts.h"
#include "target/proc_maps.h"
#include "target/proc.h"
#include "target/root_file.h"

#define CANDIDATES_MAX 64    /* per process: each is opened, and may get several hundred probes */
#define KERNEL_MINOR_BITS 20 /* of a device number inside the kernel */
#define KERNEL_MINOR_MASK ((1u << KERNEL_MINOR_BITS) - 1)
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
#define SEEN_MAX 65536 /* files remembered as scanned; at the limit all are forgotten */

/*
 * A scanned file: the inode that the kernel would probe, and the numbers in /proc/PID/maps. Those
 * numbers can be the same for two files on btrfs, and differ between overlay mounts of one file.
 * Probes pin an inode. An inode without probes may be freed and another get its address and number,
 * but with another change time.
 */
struct seen_key {
	uint64_t address, number, on;  /* from struct file_identity */
	uint64_t device, inode;	       /* as maps shows them */
	int64_t changed_s, changed_ns; /* 0 with probes */
};

struct seen_file {
	struct seen_key key;
	uint64_t file; /* its number among those with probes; 0 if it got none */
	UT_hash_handle hh;
};

void attacher__forget_seen(struct attacher *attacher)
{
	TABLE_CLEAR(attacher->seen, free);
}

/* A mapped file to attach. */
struct candidate {
	struct mapping mapping; /* owns its path */
	enum file_role role;
	/*
	 * maps shows no name, because the mount, which was of that file alone, has been detached.
	 */
	bool is_nameless;
	struct file_identity identity; /* .inode 0: unknown */
};

struct scan {
	struct attacher *attacher;
	pid_t pid;
	char program[PATH_MAX]; /* as maps shows it */
	struct candidate *candidates;
	size_t count;
	bool maps_coroutines; /* the process has a coroutine library */
	bool maps_cuda;	      /* the process has a file named like a CUDA library */
	bool maps_allocator;  /* the process has the library of an allocator */
	bool maps_nameless;   /* it has a nameless file that may be one */
	bool has_probes;      /* one of its files has probes */
	int late[FILE_ROLES]; /* files without probes at since_ns */
	const char *at_risk;  /* a file with return probes that may end the process */
	bool is_cut;	      /* its mappings were read only in part */
	uint64_t began_ns;    /* of scanning new files; 0: there was none yet */
	uint64_t took_ns;     /* time charged for new files */
	uint64_t since_ns;
	struct attach_failure *attach_failure;
};

/* `fd`: the open file if it has no probes; otherwise -1. */
static struct seen_key key_of(const struct candidate *candidate, int fd)
{
	struct seen_key key = {
		.address = candidate->identity.inode,
		.number = candidate->identity.number,
		.on = candidate->identity.device,
		.device = candidate->mapping.device,
		.inode = candidate->mapping.inode,
	};
	struct stat status;

	if (fd >= 0 && !fstat(fd, &status)) {
		key.changed_s = status.st_ctim.tv_sec;
		key.changed_ns = status.st_ctim.tv_nsec;
	}
	return key;
}

static struct seen_file *find_seen(const struct attacher *attacher, const struct seen_key *key)
{
	return TABLE_FIND(attacher->seen, key, key);
}

static void remember_seen(struct attacher *attacher, const struct seen_key *key, uint64_t file)
{
	struct seen_file *seen = find_seen(attacher, key);

	if (!seen && HASH_COUNT(attacher->seen) >= SEEN_MAX)
		attacher__forget_seen(attacher);
	if (!seen)
		seen = TABLE_ADD_NEW(attacher->seen, key, key);
	if (seen) /* else it will be scanned again */
		seen->file = file;
}

bool attacher__is_late(const struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode,
		       uint64_t since_ns)
{
	const struct attached_file *file;
	const struct seen_file *seen, *next;

	HASH_ITER (hh, attacher->seen, seen, next) {
		if (seen->key.device != device || seen->key.inode != inode || !seen->file)
			continue;
		file = attacher__find_file(attacher, seen->file);
		if (file && attacher__probed_ns(attacher, file, pid) > since_ns)
			return true;
	}
	return false;
}

/*
 * Whether the file had probes at `since_ns`: a file given by name is probed before any process maps
 * it. The kernel's device number has 20 bits for the minor number.
 */
static bool had_probes(const struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode,
		       uint64_t since_ns)
{
	for (size_t i = 0; i < attacher->file_count; i++) {
		const struct attached_file *file = &attacher->files[i];
		const struct file_identity *identity = &file->identity;

		if (identity->number == inode &&
		    makedev(identity->device >> 20, identity->device & 0xfffff) == device)
			return attacher__probed_ns(attacher, file, pid) <= since_ns;
	}
	return false;
}

bool attacher__has_missed(struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode,
			  uint64_t since_ns)
{
	const struct seen_file *seen, *next;

	if (had_probes(attacher, pid, device, inode, since_ns))
		return false;

	HASH_ITER (hh, attacher->seen, seen, next) {
		if (seen->key.device == device && seen->key.inode == inode)
			return false;
	}
	attacher->counts.skipped++;
	return true;
}

/* Counts each file once, whichever process maps it. */
static void count_skipped(struct attacher *attacher, const struct mapping *mapping)
{
	const struct seen_key key = {.device = mapping->device, .inode = mapping->inode};

	if (find_seen(attacher, &key))
		return;
	remember_seen(attacher, &key, 0);
	attacher->counts.skipped++;
}

/*
 * It is unknown whether the file is CUDA's. One line for all such files: a program may have any
 * number of them.
 */
static void note_long_path(struct scan *scan, const struct mapping *mapping)
{
	struct attacher *attacher = scan->attacher;

	count_skipped(attacher, mapping);
	if (!attacher->long_path_reported)
		log__warn(attacher->log,
			  "process %d maps code from files whose paths are longer than %d bytes: "
			  "such "
			  "files get no probes",
			  scan->pid, PATH_MAX - 1);
	attacher->long_path_reported = true;
}

/* Sets the role of a CUDA file by its name; returns false for others. */
static bool has_role_by_name(const char *base, enum file_role *role)
{
	if (!strncmp(base, "libcuda.so", 10))
		*role = ROLE_OF_DRIVER;
	else if (!strncmp(base, "libcuda", 7))
		*role = ROLE_OF_LIBRARY;
	else
		return false;
	return true;
}

/* Sets the role of a mapped file; returns false if it is not to be attached. */
static bool has_role(const struct scan *scan, const struct mapping *mapping, enum file_role *role)
{
	const char *base = mapping__base_name(mapping->path);

	if (!mapping->executable || !mapping__is_file(mapping) || !base)
		return false;
	if (has_role_by_name(base, role))
		return true;
	*role = ROLE_OF_ALLOCATOR;
	if (scan->attacher->selection.tensors && api__has_allocator(base))
		return true;
	*role = ROLE_OF_PROGRAM;
	return !*base || !strcmp(scan->program, mapping->path);
}

/* Whether the file is CUDA's by its name. */
static bool is_of_cuda(enum file_role role)
{
	return role == ROLE_OF_DRIVER || role == ROLE_OF_LIBRARY;
}

static int gather(const struct mapping *mapping, void *arg)
{
	struct scan *scan = arg;
	struct candidate candidate = {.mapping = *mapping};

	if (mapping->executable && mapping->path_too_long)
		note_long_path(scan, mapping);
	scan->maps_coroutines |= !scan->attacher->always_follows && mapping->executable &&
				 stack_switcher__is_library(mapping->path);
	if (!has_role(scan, mapping, &candidate.role))
		return 0;
	scan->maps_cuda |= is_of_cuda(candidate.role);
	scan->maps_allocator |= candidate.role == ROLE_OF_ALLOCATOR;
	if (scan->count == CANDIDATES_MAX)
		return -E2BIG;
	candidate.is_nameless = !strcmp(mapping->path, "/");
	scan->maps_nameless |= candidate.is_nameless;
	candidate.mapping.path = strdup(mapping->path);
	if (candidate.mapping.path && !ARRAY_APPEND(scan->candidates, scan->count, candidate))
		return 0;
	free((char *)candidate.mapping.path);
	return -ENOMEM;
}

/*
 * Notes the code that the file's probes would replace. A process that is held right after it mapped
 * a file has not run since, and the libraries of expected processes have been noted already.
 */
static void note_code(struct scan *scan, enum process_scan what)
{
	struct attacher *attacher = scan->attacher;

	for (size_t i = 0; i < scan->count && what != SCAN_HELD; i++)
		if (!attacher->expects || scan->candidates[i].role == ROLE_OF_PROGRAM)
			hooks__note(attacher->hooks, scan->pid, &scan->candidates[i].mapping,
				    &scan->candidates[i].identity);
}

static int gather_all(struct scan *scan)
{
	uint64_t began = clock__thread_ns();
	int ret = proc_maps__each(scan->pid, gather, scan);

	scan->attacher->reading_ns += clock__thread_ns() - began;
	scan->is_cut = ret == -EFBIG;
	if (scan->is_cut)
		return 0;
	if (ret != -E2BIG)
		return ret;
	scan->attacher->counts.skipped++;
	log__warn(scan->attacher->log,
		  "process %d maps too many files that are named like CUDA's: gpuprobe looks at "
		  "the first %d only",
		  scan->pid, CANDIDATES_MAX);
	return 0;
}

/*
 * Gives a nameless file its role: CUDA's by its name in its directory, or the program if that is
 * nameless.
 */
static bool take_name(const struct scan *scan, struct candidate *candidate, const char *name)
{
	char *path;

	if (!has_role_by_name(name, &candidate->role))
		return !strcmp(scan->program, candidate->mapping.path);
	if (asprintf(&path, "/%s", name) < 0)
		return false;
	free((char *)candidate->mapping.path);
	candidate->mapping.path = path;
	candidate->mapping.deleted = true;
	return true;
}

static void take_identity(struct scan *scan, struct candidate *candidate,
			  const struct mapped_file *file)
{
	candidate->identity = file->identity;
	candidate->mapping.is_local = file->identity.inode && !file->is_fuse;
	if (!candidate->is_nameless)
		return;
	if (!take_name(scan, candidate, file->name))
		candidate->role = FILE_ROLES;
	scan->maps_cuda |= is_of_cuda(candidate->role);
}

/* Finds the inodes of the files that the kernel would probe. */
static void identify(struct scan *scan)
{
	struct mapped_file files[CANDIDATES_MAX] = {{.start = 0}};
	uint64_t began = clock__thread_ns();
	int ret;

	for (size_t i = 0; i < scan->count; i++)
		files[i].start = scan->candidates[i].mapping.start;
	ret = identity_reader__of_process(scan->attacher->identities, scan->pid, files,
					  scan->count);
	scan->attacher->reading_ns += clock__thread_ns() - began;
	if (ret)
		log__debug(scan->attacher->log, "process %d: cannot identify the files it maps: %s",
			   scan->pid, strerror(-ret));
	for (size_t i = 0; i < scan->count; i++)
		take_identity(scan, &scan->candidates[i], &files[i]);
}

/* `file` is NULL if it has no probes. */
static void note_file(struct scan *scan, enum file_role role, struct attached_file *file)
{
	if (!file)
		return;
	file->unmapped_ns = 0;
	scan->has_probes = true;
	scan->late[role] += attacher__probed_ns(scan->attacher, file, scan->pid) > scan->since_ns;
}

/* Reports only the first of several files, which is the driver if that is among them. */
static void note_unopened(struct scan *scan, const struct candidate *candidate, int code)
{
	const struct mapping *mapping = &candidate->mapping;

	if (code != -ESRCH && is_of_cuda(candidate->role))
		count_skipped(scan->attacher, mapping);
	log__debug(scan->attacher->log, "process %d: %s: %s", scan->pid, mapping->path,
		   root_file__why(code));
	if (code != -ESRCH && !*scan->attach_failure->text.text && is_of_cuda(candidate->role))
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
	if (!*scan->attach_failure->text.text && is_of_cuda(candidate->role))
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
	const struct seen_key key = key_of(candidate, -1);
	struct attached_file *file;

	if (!candidate->identity.inode || !attacher__find_inode(attacher, &candidate->identity))
		return false;
	attacher__claim(attacher);
	file = attacher__find_inode(attacher, &candidate->identity);
	if (!file)
		return false; /* the probes were for another process, which is gone */
	remember_seen(attacher, &key, file->number);
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
	const struct seen_key probed = key_of(candidate, -1);
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
		remember_seen(attacher, file ? &probed : key, file ? file->number : 0);
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
	key = key_of(candidate, fd);
	if (!find_seen(attacher, &key) && has_turn(scan) && has_room(scan, candidate, fd))
		attach_in_turn(scan, candidate, fd, &key, user);
	else
		close(fd);
	attacher->user = user;
}

static void find_program(struct scan *scan)
{
	char link[64];
	ssize_t n;

	proc__exe_path(scan->pid, link, sizeof(link));
	n = readlink(link, scan->program, sizeof(scan->program) - 1);
	if (n > 10 && !strncmp(scan->program + n - 10, " (deleted)", 10))
		n -= 10;
	scan->program[n > 0 ? n : 0] = '\0';
}

static void forget_candidates(struct scan *scan)
{
	for (size_t i = 0; i < scan->count; i++)
		free((char *)scan->candidates[i].mapping.path);
	free(scan->candidates);
	scan->candidates = NULL;
	scan->count = 0;
}

static void attach_role(struct scan *scan, enum file_role role)
{
	for (size_t i = 0; i < scan->count; i++)
		if (scan->candidates[i].role == role)
			attach_candidate(scan, &scan->candidates[i]);
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
	for (size_t i = 0; i < scan->count && !awaits; i++)
		awaits = needs_driver(scan, &scan->candidates[i]);
	return awaits;
}

/* Whether the process may switch stacks inside calls, and its links cannot skip returns. */
static bool is_switcher(const struct scan *scan)
{
	const struct attacher *attacher = scan->attacher;

	if (attacher->always_follows || attacher->selection.no_returns || !scan->maps_cuda)
		return false;
	return scan->maps_coroutines || stack_switcher__is_program(scan->pid);
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

/* Notes that the mappings were read in part; the files that were read have their probes. */
static void note_cut(struct scan *scan)
{
	scan->attacher->counts.skipped++;
	attach_failure__of_cut(scan->pid, scan->attach_failure);
}

int attacher__add_process(struct attacher *attacher, pid_t pid, enum process_scan what,
			  uint64_t since_ns, struct attach_failure *attach_failure)
{
	struct scan scan = {.attacher = attacher,
			    .pid = pid,
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
	find_program(&scan);
	ret = gather_all(&scan);
	if (ret)
		goto out;
	if (what == SCAN_FORKED || (what == SCAN_PROGRAM && attacher->has_unlisted))
		attacher__claim(attacher);
	if (what == SCAN_FORKED)
		scan.late[ROLE_OF_LIBRARY] += attacher->shared_ns > since_ns;
	if (scan.count &&
	    (scan.maps_cuda || scan.maps_allocator || scan.maps_nameless || what == SCAN_PROGRAM))
		identify(&scan);
	note_code(&scan, what);
	attacher->unfollows = is_switcher(&scan);
	before = attacher->last_number;
	attach_role(&scan, ROLE_OF_DRIVER);
	if (what != SCAN_HELD || !awaits_driver(&scan))
		attach_role(&scan, ROLE_OF_LIBRARY);
	if (what == SCAN_PROGRAM || scan.maps_cuda)
		attach_role(&scan, ROLE_OF_PROGRAM);
	attach_role(&scan, ROLE_OF_ALLOCATOR);
	if (attacher->unfollows)
		warn_of_switcher(&scan, attacher->last_number != before);
	attacher->unfollows = false;
	if (scan.is_cut)
		note_cut(&scan);
	attach_failure->whole = *attach_failure->text.text && !scan.has_probes;
	ret = scan.late[ROLE_OF_PROGRAM];
	if (what != SCAN_PROGRAM)
		ret += scan.late[ROLE_OF_DRIVER] + scan.late[ROLE_OF_LIBRARY];
out:
	if (is_lack(ret))
		report_lack(&scan, ret, "cannot read its mappings");
	else if (ret < 0 && ret != -ESRCH)
		attach_failure__of_process(pid, ret, attach_failure);
	if (!attacher->expects)
		hooks__forget(attacher->hooks);
	mounts__forget();
	forget_candidates(&scan);
	return ret;
}
