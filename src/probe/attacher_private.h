/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the attacher share: its state, and attaching one open file. */
#ifndef PROBE_ATTACHER_PRIVATE_H
#define PROBE_ATTACHER_PRIVATE_H

#include "probe/attacher.h"
#include "probe/family_links.h"
#include "probe/file_shares.h"
#include "probe/hooks.h"
#include "probe/links.h"
#include "target/identity.h"

struct seen_file;

#define DRIVERS_TOLD 256 /* numbers of driver libraries, in 8 bits of a cookie; then they are given again */

/* A file with probes. */
struct attached_file {
	struct file_identity identity; /* its probes keep the inode, so that no other gets its address */
	uint64_t number;	       /* none is given twice, nor 0 */
	uint64_t links;		       /* the number by which its links know it */
	uint64_t leaving;	       /* that of links of one process, which are about to go; 0: none are */
	int fd;			       /* while its links are of one process: to attach it for all, */
	struct link_point *sites_kept;  /* with these; NULL: they are of all processes */
	size_t kept_count;
	uint64_t shared_ns;   /* since when they are; 0: since `probed_ns` */
	uint64_t probed_ns;   /* when they were in, CLOCK_BOOTTIME */
	uint64_t unmapped_ns; /* since when nobody was seen to map it; 0: somebody does */
	uint8_t driver;	      /* of a driver library: its number in its sites' cookies */
	bool is_followed;     /* it has return probes, or may have */
	bool risk_reported;	      /* that these may end somebody */
	uid_t user;	      /* whose share of files it is of, see file_shares.h */
	bool is_kept;	      /* was not found in a process: keeps its probes though nobody maps it */
	size_t sites[LAYER_COUNT];
	size_t missing;
};

/* Probes that have links of their own, so that they can be taken out. */
enum apart_kind {
	APART_FAMILIES = 0, /* selection.by_family */
	APART_ASKS,	    /* selection.asks */
	APART_KINDS,
};

struct attacher {
	struct selection selection;
	volatile uint32_t *both_layers; /* see struct probe_programs */
	volatile uint32_t *driver_counts, *several_drivers;
	unsigned int drivers;		  /* driver libraries that have got probes so far */
	char *driver_paths[DRIVERS_TOLD]; /* by their number in cookies: where it was found first; NULL: not known */
	struct links *links;
	struct family_links *apart[APART_KINDS]; /* what can be taken out; NULL: that cannot */
	struct identity_reader *identities;
	struct hooks *hooks;
	bool expects; /* the processes that run have been noted for their hooks */
	const struct log *log;
	bool *wanted; /* by row */
	bool *slow;   /* by row: a probe there is single-stepped, in some file */
	struct attached_file *files;
	size_t file_count;
	uint64_t last_number;	       /* of a file */
	volatile int32_t *confined_to; /* see struct probe_programs */
	volatile uint32_t *handing_over;
	volatile uint64_t *handed_over_ns;
	bool confines;	  /* files get probes for one process only */
	pid_t owner;	  /* that is it; 0: none has CUDA functions yet */
	pid_t last_owner; /* the last that was */
	pid_t scanned;	  /* whose files are attached now; 0: they are for whoever comes */
	bool claimed;	  /* that has been done for this one */
	pid_t expected;	  /* the process that ran already, where that is one */
	bool expected_has_cuda;
	bool has_unlisted;   /* a file with probes has a name by which it is not noticed where a process maps it */
	uint64_t shared_ns;  /* when probes of one process were put in for all */
	bool always_follows; /* links can leave a return out where it would do harm */
	bool unfollows;	     /* the files that are attached now have their calls watched as they begin alone */
	bool releases;	     /* files that nobody maps are given back: their probes can be taken out alone */
	struct seen_file *seen;
	struct file_shares *shares;
	uid_t user;		 /* whose the process is whose files are attached now; of what nobody maps, root's */
	bool is_patient;	 /* that process runs on, so that its files can wait; not one that is held, nor a file by its path */
	bool hurries;		 /* processes wait, see attacher__hurry */
	bool is_unfinished;	 /* files of the last process wait for their turn */
	bool crowded_reported;	 /* that a user's programs have more files than get probes */
	unsigned int skips_reported; /* files of which a warning said that they get no probes */
	struct attacher_counts counts;
	unsigned int slow_reported; /* libraries of which a warning said that probes are slow there */
	uint64_t reading_ns;	/* what the last process's mappings took to be read */
	bool switcher_reported;	/* that a process's calls are watched as they begin alone */
	bool long_path_reported;	/* that a file has a path too long to be looked at */
	bool lack_reported;		/* that there is no memory, or no descriptor, for what a process maps */
};

/* In the order in which they are attached: what the driver layer covers, the runtime's need not. */
enum file_role {
	ROLE_OF_DRIVER,
	ROLE_OF_LIBRARY,
	ROLE_OF_PROGRAM,
	FILE_ROLES
};

/* Opens a file to be attached. Returns its descriptor or a negative errno with the reason in `err`. */
int attacher__open(const char *path, struct error *err);

/* A file to be attached. */
struct open_file {
	int fd;				      /* for reading */
	const char *name;		      /* for messages */
	const struct file_identity *expected; /* which it is to be; NULL, or its .inode 0: that is not known */
};

/*
 * Attaches an open file unless its inode has probes; closes its descriptor. Returns 1 for a library with new probes, 0 if there was
 * nothing to do, or a negative errno, -ESTALE for another file than the expected one. *attached is the file among those with
 * probes until the next is attached, NULL where it has none.
 */
int attacher__add_open_file(struct attacher *attacher, const struct open_file *open, enum file_role role,
			    struct attached_file **attached, struct error *err);

/* Keeps where a driver library was found, for messages; without effect on other files. */
void attacher__name_driver(struct attacher *attacher, const struct attached_file *file, const char *path);

/* The file that is probed as this inode, until the next is attached; NULL if none is. */
struct attached_file *attacher__find_inode(const struct attacher *attacher, const struct file_identity *identity);

/* The file of that number, until the next is attached; NULL if it has been given back, or for 0. */
struct attached_file *attacher__find_file(const struct attacher *attacher, uint64_t number);

/* Attaches all sites or, on failure, none: who tries again must not count calls twice. Their order changes. */
int attacher__link(struct attacher *attacher, const struct linked_file *file, struct link_point *sites, size_t count,
		   struct error *err);

/* Takes the probes of that number out; of those that are not there it takes none. */
void attacher__unlink(struct attacher *attacher, uint64_t number);

/* Takes the file's probes out; the last of the files takes its place. */
void attacher__release(struct attacher *attacher, struct attached_file *file);

/*
 * Before a file with CUDA functions is attached for `scanned`, or where it has one that is: sees to it that the probes
 * reach that process, and nobody else if it can be (confined.c). Files may leave, `attacher->files` may change.
 */
void attacher__claim(struct attacher *attacher);

/* For a file whose links are of one process: what attaching it for all needs. `fd` and `sites` are copied. */
int attacher__keep_sites(struct attached_file *file, int fd, const struct link_point *sites, size_t count,
			 struct error *err);
void attacher__forget_sites(struct attached_file *file);

/* Since when the process has had the file's probes, CLOCK_BOOTTIME. */
uint64_t attacher__probed_ns(const struct attacher *attacher, const struct attached_file *file, pid_t pid);

/* Adds a file's part to the counts, or with -1 takes it away. */
void attacher__count_file(struct attacher *attacher, const struct attached_file *file, int sign);

/* Forgets which mapped files were looked at (process_files.c). */
void attacher__forget_seen(struct attacher *attacher);

#endif
