/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which files have probes, and for which processes. A file is identified by the inode that the
 * kernel probes, so it is attached once, whatever paths lead to it. CUDA libraries get probes on
 * the selected functions.
 */
#ifndef PROBE_ATTACHER_H
#define PROBE_ATTACHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"
#include "gpuprobe/state.h"
#include "probe/attach_failure.h"
#include "probe/programs.h"
#include "probe/selection.h"

struct attacher;

/* The files that have probes now (except `skipped`). */
struct attacher_counts {
	uint64_t sites[LAYER_COUNT]; /* functions with probes */
	uint64_t missing;	     /* selected functions that a library does not have */
	/*
	 * By row of api_functions: its probe is single-stepped in some file. The attacher owns the
	 * array.
	 */
	const bool *slow;
	size_t libraries; /* files with probed functions */
	/*
	 * Files left without probes: counted once each, or on every attempt if memory or
	 * descriptors were missing.
	 */
	uint64_t skipped;
};

/* Which of a process's mapped files to scan. */
enum process_scan {
	SCAN_NAMED = 0, /* files named like a CUDA library; if there are any, the program too */
	/*
	 * As SCAN_NAMED, for a process that is held while its loader maps libraries, and that is
	 * scanned again when all are mapped. A runtime that needs a driver gets its probes once the
	 * driver is mapped.
	 */
	SCAN_HELD,
	SCAN_PROGRAM, /* the program in any case: it may have the runtime linked in */
	/*
	 * As SCAN_NAMED, for a child of the one process that has all probes: probed files that it
	 * maps have probes there, too.
	 */
	SCAN_FORKED,
};

/* A process maps a probed file that has NCCL's functions. It may be told again. */
typedef void (*attacher_nccl_fn)(pid_t pid, enum process_scan scan, uint64_t since_ns, void *arg);

/* `log` must outlive the attacher. */
int attacher__new(const struct selection *selection, enum link_kind links,
		  const struct probe_programs *programs, const struct log *log,
		  struct attacher **out, struct error *err);

/* Detaches everything. */
void attacher__free(struct attacher *attacher);

/*
 * From now on attacher__add_process ends with this call if the process uses NCCL, with what it was
 * itself called with. A held process is still held.
 */
void attacher__tell_nccl(struct attacher *attacher, attacher_nccl_fn fn, void *arg);

/*
 * Takes `beside` over, which has the programs of another BPF object: from now on it attaches the
 * same files for the same processes at the same time. What is told about files and processes is of
 * both; attacher__count, attacher__watch and the like are of `attacher` alone. Call it before the
 * first file is attached.
 */
void attacher__set_beside(struct attacher *attacher, struct attacher *beside);

/* As attacher__count; zeros if there is none. */
void attacher__count_beside(const struct attacher *attacher, struct attacher_counts *counts);

/* Whether libraries of frameworks' allocators get probes. */
bool attacher__wants_tensors(const struct attacher *attacher);

/* The same for libraries above CUDA that make handles. */
bool attacher__wants_handles(const struct attacher *attacher);

/*
 * Call before the first file is attached for a process that runs already, so that its hooks on
 * CUDA's libraries are known by then (hooks.h). Call attacher__forget_expected when the files of
 * all such processes are attached.
 */
void attacher__expect_process(struct attacher *attacher, pid_t pid);
void attacher__forget_expected(struct attacher *attacher);

/*
 * Attaches the library at `path`: only for the expected process if there is exactly one and it maps
 * CUDA libraries or this file, otherwise for the whole machine. Returns 1 if the library has new
 * probes, 0 if its inode had them already, or a negative errno with the reason in `err`, for
 * example -ENOEXEC for a file that is not a CUDA library.
 */
int attacher__add_library(struct attacher *attacher, const char *path, struct error *err);

/*
 * Registers a library without attaching probes. A runtime that is mapped before a known driver then
 * only gets the probes that the driver does not cover. Returns 0 or a negative errno.
 */
int attacher__meet_library(struct attacher *attacher, const char *path, struct error *err);

/*
 * Attaches the files that the process maps, through its own mount namespace. Returns how many of
 * them had no probes at `since_ns` (CLOCK_BOOTTIME), when the process was running already: earlier
 * calls may be missing. Right after exec (SCAN_PROGRAM) libraries are not counted, because each is
 * reported when it is mapped. Returns a negative errno if the process cannot be read (-ESRCH:
 * gone). Files that cannot be attached are logged. Files that cannot be opened, and processes that
 * cannot be read or not completely, are reported in `attach_failure` instead.
 */
int attacher__add_process(struct attacher *attacher, pid_t pid, enum process_scan scan,
			  uint64_t since_ns, struct attach_failure *attach_failure);

/*
 * Whether files of the last scanned process were postponed to give others their turn: because they
 * took long, or because its user's programs have used more than their share of time. If so, call
 * attacher__add_process again at `ready_ns` (CLOCK_BOOTTIME), which may be now. Never true after
 * SCAN_HELD, nor while processes wait (attacher__hurry).
 */
bool attacher__is_unfinished(const struct attacher *attacher, uint64_t *ready_ns);

/*
 * Sets whether processes passed to attacher__add_process wait for it and must get their probes at
 * once; initially false.
 */
void attacher__hurry(struct attacher *attacher, bool waits);

/*
 * Whether the file that /proc/PID/maps shows by these numbers has probes, but had none for that
 * process at `since_ns` (CLOCK_BOOTTIME). False for a file that no process was seen to map.
 */
bool attacher__is_late(const struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode,
		       uint64_t since_ns);

/*
 * A process that has ended had mapped a CUDA file, shown by these numbers, at `since_ns`. Returns
 * whether the file had no probes then and was never scanned, so that the process's calls were
 * missed; the file then counts as skipped.
 */
bool attacher__has_missed(struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode,
			  uint64_t since_ns);

/*
 * Whether probes are confined to one process, which they are until a second watched process has
 * CUDA functions.
 */
bool attacher__confines(const struct attacher *attacher);

/* The one process that has the probes; 0 if all have them, or there are none. */
pid_t attacher__only_process(const struct attacher *attacher);

/* From now on files have probes for all processes of the machine. */
void attacher__widen(struct attacher *attacher);

/*
 * Removes the probes of the one process once those for all have been attached for five seconds.
 * Call it about once a second with the time of CLOCK_BOOTTIME.
 */
void attacher__finish_sharing(struct attacher *attacher, uint64_t now_ns);

/*
 * Whether the process maps a probed library whose allocator says when it is out of memory, as
 * PyTorch's does. Reads the process's mappings. False if they cannot be read.
 */
bool attacher__has_exhaustion(const struct attacher *attacher, pid_t pid);

/*
 * CPU time spent on reading the mappings of the last scanned process, without the time for its
 * files.
 */
uint64_t attacher__reading_ns(const struct attacher *attacher);

/*
 * Attaches the probes of `families` (1 << enum rate_family) on all present and future files, and
 * detaches those of the other families, like family_links__watch; RATE_EXACT stays attached.
 * Returns -EOPNOTSUPP without selection.by_family, or if the kernel's links do not support it.
 */
int attacher__watch(struct attacher *attacher, unsigned int families, struct error *err);

/* The same for the probes on functions that ask for errors (selection.asks). */
int attacher__watch_asks(struct attacher *attacher, bool in, struct error *err);

/*
 * Removes the probes from a file that was found in a process and that no process has mapped for
 * `unused_ns`, so that its file system can be unmounted and its space freed. Handles one file per
 * call. Call it about once a second with the time of CLOCK_BOOTTIME. If a process maps the file
 * later, attacher__add_process attaches it like any other. No effect with LINKS_TRACEFS.
 */
void attacher__release_unused(struct attacher *attacher, uint64_t unused_ns, uint64_t now_ns);

/*
 * The path at which the driver library of that number was found (struct process_record's shim), as
 * its process names it; NULL if unknown. The attacher owns it.
 */
const char *attacher__driver_path(const struct attacher *attacher, unsigned int driver);

void attacher__count(const struct attacher *attacher, struct attacher_counts *counts);

#endif
