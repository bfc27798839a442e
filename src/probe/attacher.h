/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which files have probes, and in whom. Each file is attached once, by the inode the
 * kernel probes, whatever paths lead to it; CUDA libraries get the functions
 * that were selected.
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

/* All but `skipped` of the files that have probes now. */
struct attacher_counts {
	uint64_t sites[LAYER_COUNT]; /* functions with probes */
	uint64_t missing;	     /* wanted functions that a library does not have */
	const bool *slow;	     /* by row of api_functions: its probe is single-stepped in some file; the attacher's */
	size_t libraries;	     /* files with probed functions */
	uint64_t skipped;	     /* files that had to be left without probes, once each; for want of memory or descriptors each time */
};

/* What of a process's mapped files is looked at. */
enum process_scan {
	SCAN_NAMED = 0, /* files named like a CUDA library; where there are any, the program too */
	SCAN_HELD,	/* the same of one whose loader maps them, and that is looked at once more when all are: a runtime
			 * that is to have a driver gets its probes when that is there */
	SCAN_PROGRAM,	/* the program in any case: it may have the runtime inside */
	SCAN_FORKED,	/* as SCAN_NAMED, of a child of the one process that has all probes: what is mapped there has them, too */
};

/* `log` must outlive the attacher. */
int attacher__new(const struct selection *selection, enum link_kind links, const struct probe_programs *programs,
		  const struct log *log, struct attacher **out, struct error *err);

/* Detaches everything. */
void attacher__free(struct attacher *attacher);

/*
 * Before the first file is attached: the process runs already, and what it has hooked of CUDA's libraries is to be known
 * then (hooks.h). attacher__forget_expected once the files of all these are attached.
 */
void attacher__expect_process(struct attacher *attacher, pid_t pid);
void attacher__forget_expected(struct attacher *attacher);

/*
 * Attaches the library at `path`: for the expected process alone, where that is one and has CUDA libraries or this one
 * mapped, else for all of the machine. Returns 1 if it has new probes now, 0 if
 * its inode had them already, or a negative errno with the reason in `err`:
 * among others -ENOEXEC for a file that is no CUDA library.
 */
int attacher__add_library(struct attacher *attacher, const char *path, struct error *err);

/*
 * Nobody gets probes of it yet, but it is known to be there: of a runtime that is mapped before a driver no more is
 * probed then than the driver leaves out. Returns 0 or a negative errno.
 */
int attacher__meet_library(struct attacher *attacher, const char *path, struct error *err);

/*
 * Attaches what the process maps, through its own mount namespace. Returns
 * how many of its files were without probes at `since_ns` (CLOCK_BOOTTIME),
 * when it was running already: calls from before may be missing. Right after
 * exec (SCAN_PROGRAM) libraries do not count: of each it is told when it has been mapped. A negative errno where the process
 * cannot be read (-ESRCH: gone). Files that cannot be attached are told to the
 * log, but for what cannot be opened: that, or why the process cannot be read, or not to the end, is `hindrance`.
 */
int attacher__add_process(struct attacher *attacher, pid_t pid, enum process_scan scan, uint64_t since_ns,
			  struct attach_failure *attach_failure);

/*
 * Whether files of that process, the last one, have been left for later, so that others have their turn: because they
 * took long, or since its user's programs have had more than their share of time. attacher__add_process is to be called
 * for it once more, at `ready_ns` (CLOCK_BOOTTIME), which may be now. Not with SCAN_HELD, nor where it `waits`.
 */
bool attacher__is_unfinished(const struct attacher *attacher, uint64_t *ready_ns);

/* Whether processes that attacher__add_process is called for wait for it, and are to get their probes at once; at first they do not. */
void attacher__hurry(struct attacher *attacher, bool waits);

/*
 * Whether the file that /proc/PID/maps shows by these numbers has probes, and had none yet for that process at
 * `since_ns` (CLOCK_BOOTTIME). False for one that no process was seen to map.
 */
bool attacher__is_late(const struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode, uint64_t since_ns);

/*
 * A process that has ended had mapped a file of CUDA's, shown by these numbers, at `since_ns`. Returns whether the file had no
 * probes then and has never been looked at, so that its calls were not seen, and counts it as skipped then.
 */
bool attacher__has_missed(struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode, uint64_t since_ns);

/* Whether files get probes for one process only, as long as no second one that is watched has CUDA functions. */
bool attacher__confines(const struct attacher *attacher);

/* The process that alone has the probes; 0: all have them, or there are none. */
pid_t attacher__only_process(const struct attacher *attacher);

/* From now on files have probes for all processes of the machine. */
void attacher__widen(struct attacher *attacher);

/*
 * Takes the probes of one process out once those of all have been in for five seconds. To be called every second or so,
 * with the time of CLOCK_BOOTTIME.
 */
void attacher__finish_sharing(struct attacher *attacher, uint64_t now_ns);

/* CPU time that the mappings of that process, the last one, took to be read; what its files took is not in it. */
uint64_t attacher__reading_ns(const struct attacher *attacher);

/*
 * Puts the probes of `families`, 1 << enum rate_family, in on all files, also those to come, and
 * takes the others' out, as family_links__watch; RATE_EXACT stays. -EOPNOTSUPP without
 * selection.by_family, or where the kernel's links do not allow it.
 */
int attacher__watch(struct attacher *attacher, unsigned int families, struct error *err);

/* The same of the probes of what asks for errors (selection.asks): in, or out. */
int attacher__watch_asks(struct attacher *attacher, bool in, struct error *err);

/*
 * Takes the probes out of a file that was found in a process and that nobody has mapped for `unused_ns`, so that
 * its file system can be unmounted and its space be had; of several, of one. To be called every second or so, with
 * the time of CLOCK_BOOTTIME. A process that maps it later is met by attacher__add_process like any other.
 * Without effect with LINKS_TRACEFS.
 */
void attacher__release_unused(struct attacher *attacher, uint64_t unused_ns, uint64_t now_ns);

/*
 * Where the driver library of that number was found (struct process_record's shim), as its process names it; NULL: not
 * known. The attacher's.
 */
const char *attacher__driver_path(const struct attacher *attacher, unsigned int driver);

void attacher__count(const struct attacher *attacher, struct attacher_counts *counts);

#endif
