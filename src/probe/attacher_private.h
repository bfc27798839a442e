/* SPDX-License-Identifier: BSD-2-Clause */
/* What the attacher's source files share: its state, and attaching one open file. */
#ifndef PROBE_ATTACHER_PRIVATE_H
#define PROBE_ATTACHER_PRIVATE_H

#include "probe/allocator_points.h"
#include "probe/attacher.h"
#include "probe/family_links.h"
#include "probe/file_shares.h"
#include "probe/hooks.h"
#include "probe/links.h"
#include "target/identity.h"

struct seen_file;

/* Numbers of driver libraries, which have 8 bits in a cookie. After that, numbers are reused. */
#define DRIVERS_TOLD 256

/* A file with probes. */
struct attached_file {
	struct file_identity identity; /* pins the inode, so no other one gets its address */
	uint64_t number;	       /* unique, never 0 */
	uint64_t links;		       /* the number that its links use for it */
	uint64_t leaving;	       /* the same for one-process links about to be detached */
	int fd;			       /* for links of one process: to attach it for all, */
	struct link_point *sites_kept; /* at these sites; NULL: its links are for all processes */
	size_t kept_count;
	uint64_t shared_ns;   /* since when its links are for all; 0: since `probed_ns` */
	uint64_t probed_ns;   /* when the probes were attached, CLOCK_BOOTTIME */
	uint64_t unmapped_ns; /* since when no process was seen to map it; 0: some process does */
	uint8_t driver;	      /* for a driver library: its number in its sites' cookies */
	bool is_followed;     /* it has, or may have, return probes */
	bool risk_reported;   /* the warning that these may end a process was printed */
	uid_t user;	      /* the user whose share of files it uses, see file_shares.h */
	bool says_exhaustion; /* has the function by which an allocator says that memory ran out */
	bool has_nccl;	      /* has functions of NCCL */
	bool is_kept;	      /* was not found in a process: keeps its probes if unmapped */
	size_t sites[LAYER_COUNT];
	size_t missing;
};

/* Probes with links of their own, so that they can be detached separately. */
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
	char *driver_paths[DRIVERS_TOLD]; /* by number: path where it was found, or NULL */
	struct links *links;
	struct family_links *apart[APART_KINDS]; /* NULL if they cannot be detached separately */
	struct identity_reader *identities;
	struct hooks *hooks;
	bool expects;		 /* the running processes have been noted for their hooks */
	struct attacher *beside; /* NULL: none, see attacher__set_beside */
	attacher_nccl_fn nccl;	 /* NULL: nobody asks */
	void *nccl_arg;
	const struct log *log;
	struct allocator_points points; /* with selection.tensors */
	bool *wanted;			/* by row */
	bool wants_handles;		/* some row of LAYER_LIBRARY is wanted */
	bool *slow;			/* by row: its probe is single-stepped in some file */
	struct attached_file *files;
	size_t file_count;
	uint64_t last_number;	       /* last number given to a file */
	volatile int32_t *confined_to; /* see struct probe_programs */
	volatile uint32_t *handing_over;
	volatile uint64_t *handed_over_ns;
	bool confines;	  /* files get probes for one process only */
	pid_t owner;	  /* that process; 0: none has CUDA functions yet */
	pid_t last_owner; /* the last process that was the owner */
	pid_t scanned;	  /* the process whose files are being attached; 0: they are for all */
	bool claimed;	  /* attacher__claim has been done for it */
	pid_t expected;	  /* the process that ran already, if there was exactly one */
	bool expected_has_cuda;
	bool has_unlisted;   /* a probed file's name is not noticed when it is mapped */
	uint64_t shared_ns;  /* when probes of one process were attached for all */
	bool always_follows; /* links can skip a return where following it would do harm */
	bool unfollows;	     /* calls of the files being attached are only watched at entry */
	bool releases;	     /* files that no process maps lose their probes */
	struct seen_file *seen;
	struct file_shares *shares;
	uid_t user; /* user of the process being attached; root for other files */
	/*
	 * The process keeps running, so its files can wait. False for a held process, and for a
	 * file given by its path.
	 */
	bool is_patient;
	bool hurries;		     /* processes wait, see attacher__hurry */
	bool is_unfinished;	     /* files of the last process were postponed */
	unsigned int skips_reported; /* files for which a warning said that they get no probes */
	struct attacher_counts counts;
	unsigned int slow_reported; /* libraries for which a warning said that probes are slow */
	uint64_t reading_ns;	    /* time spent on reading the last process's mappings */
	bool switcher_reported;	    /* warned that a process's calls are only watched at entry */
	bool long_path_reported;    /* warned that a file's path is too long to scan */
	bool lack_reported;	    /* warned that memory or descriptors are missing */
};

/* In the order of attaching: the runtime's probes depend on what the driver layer covers. */
enum file_role {
	ROLE_OF_DRIVER,
	ROLE_OF_LIBRARY,
	ROLE_OF_PROGRAM,
	ROLE_OF_ALLOCATOR, /* the library of a framework's allocator */
	ROLE_OF_HANDLES,   /* a library above CUDA that makes handles, such as cuBLAS */
	FILE_ROLES
};

/* A file to attach. */
struct open_file {
	int fd;		  /* for reading */
	const char *name; /* for messages */
	const char *base; /* the file's base name, for ROLE_OF_ALLOCATOR and ROLE_OF_HANDLES */
	const struct file_identity *expected; /* that it must be; NULL, or .inode 0: unknown */
};

/*
 * Attaches an open file unless its inode has probes; closes its descriptor. Returns 1 for a library
 * with new probes, 0 if there was nothing to do, or a negative errno: -ESTALE if it is not the
 * expected file. Sets *attached to the file's entry, valid until the next file is attached, or NULL
 * if it has no probes.
 */
int attacher__add_open_file(struct attacher *attacher, const struct open_file *open,
			    enum file_role role, struct attached_file **attached,
			    struct error *err);

/* Chooses the rows whose functions get probes, by the selection as it is now. */
void attacher__choose_rows(struct attacher *attacher);

/*
 * With the first libcuda the driver layer takes over. If launches of the runtime layer are probed
 * as well (by a libcudart that came before it, or by choice), nested launches are told apart from
 * then on.
 */
void attacher__note_layers(struct attacher *attacher, unsigned int layers);

/* Stores the path where a driver library was found, for messages; no effect for other files. */
void attacher__name_driver(struct attacher *attacher, const struct attached_file *file,
			   const char *path);

/*
 * The file that is probed as this inode, valid until the next is attached; NULL if there is none.
 */
struct attached_file *attacher__find_inode(const struct attacher *attacher,
					   const struct file_identity *identity);

/*
 * The file with that number, valid until the next is attached; NULL if its probes were removed, or
 * for 0.
 */
struct attached_file *attacher__find_file(const struct attacher *attacher, uint64_t number);

/*
 * Attaches all sites or, on failure, none, so that a retry does not count calls twice. Reorders the
 * sites.
 */
int attacher__link(struct attacher *attacher, const struct linked_file *file,
		   struct link_point *sites, size_t count, struct error *err);

/* Detaches the probes of that number, if there are any. */
void attacher__unlink(struct attacher *attacher, uint64_t number);

/* Detaches the file's probes and removes its entry; the last file moves into its place. */
void attacher__release(struct attacher *attacher, struct attached_file *file);

/*
 * Call before attaching a file with CUDA functions for `scanned`, or if `scanned` has one that is
 * attached. Makes sure that the probes reach that process, and no other if possible (confined.c).
 * Files may be removed, and `attacher->files` may move.
 */
void attacher__claim(struct attacher *attacher);

/*
 * For a file whose links are confined to one process: keeps what is needed to attach it for all.
 * Copies `fd` and `sites`.
 */
int attacher__keep_sites(struct attached_file *file, int fd, const struct link_point *sites,
			 size_t count, struct error *err);
void attacher__forget_sites(struct attached_file *file);

/* Since when the process has had the file's probes, CLOCK_BOOTTIME. */
uint64_t attacher__probed_ns(const struct attacher *attacher, const struct attached_file *file,
			     pid_t pid);

/* Adds a file's part to the counts; with `sign` -1 subtracts it. */
void attacher__count_file(struct attacher *attacher, const struct attached_file *file, int sign);

/* Forgets which mapped files were scanned (process_files.c). */
void attacher__forget_seen(struct attacher *attacher);

#endif
