/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Communicators of NCCL, their ranks seen here, and what each rank has called, from events in any
 * order. A communicator is known by its commHash and its user; ranks that give the same hash meet
 * in one. If a rank is there already, a second communicator of that hash begins: older versions of
 * NCCL give two splits of one colour the same hash.
 *
 * Events come from watched processes, so everything is bounded in bytes, for each process and over
 * all. struct nccl_losses counts what is left out because it does not fit.
 */
#ifndef NCCL_JOBS_H
#define NCCL_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl/event.h"

#define NCCL_NAME_SIZE 32
#define NCCL_RECENT 32	     /* operations that a rank keeps, for comparing */
#define NCCL_LATE_BUCKETS 16 /* bucket i: below 2^i times 64 us; the last has no border */
#define NCCL_LATE_FIRST_NS 64000

/* Defaults in brackets are taken for 0. */
struct nccl_limits {
	size_t process_bytes; /* [1 MiB] */
	size_t bytes;	      /* over all processes [64 MiB] */
	uint64_t late_ns;     /* a rank is late that comes so long after the first [1 ms] */
	/*
	 * Hosts run ahead of their GPUs, so coming late need not cost anything. Lateness counts
	 * only if a rank that has come waits for the GPU meanwhile.
	 */
	bool proven_late;
};

/* What was left out. */
struct nccl_losses {
	uint64_t no_room;    /* events of what did not fit */
	uint64_t unmatched;  /* collectives too far behind the others to be compared */
	uint64_t invalid;    /* events with impossible operands, such as a rank above the size */
	uint64_t unended;    /* calls without an end */
	uint64_t stray_ends; /* ends without a begin: from before the attach, or lost */
	uint64_t forgotten;  /* ended communicators dropped to make room */
};

enum nccl_rank_state {
	NCCL_RANK_CREATING = 0, /* its init has not succeeded yet */
	NCCL_RANK_LIVE,
	NCCL_RANK_FINALIZED,
	NCCL_RANK_DESTROYED,
	NCCL_RANK_ABORTED,
	NCCL_RANK_DEAD, /* its process has ended */
};

/* What a process does, from who can see it: gpuprobe's dump, or its reasons. */
enum nccl_activity {
	NCCL_ACTIVITY_UNKNOWN = 0,
	NCCL_RUNS,	/* on a CPU */
	NCCL_WAITS_GIL, /* for Python's lock */
	NCCL_WAITS_LOCK,
	NCCL_WAITS_OTHER,
	NCCL_WRITES_FILE,     /* a checkpoint, say: it makes progress */
	NCCL_AWAITS_REQUESTS, /* a server without requests */
	NCCL_STOPPED,	      /* SIGSTOP, SIGTSTP */
	NCCL_TRACED,	      /* held by a debugger */
};

#define NCCL_WHERE_SIZE 256
#define NCCL_WAITS_SIZE 128

struct nccl_process {
	struct nccl_process_key key;
	enum nccl_activity activity;
	bool ended;
	/* where its thread is: "sample (data.py:301)"; empty: unknown. Escape it on output. */
	char where[NCCL_WHERE_SIZE];
	/* it "waits for Python's lock (GIL), held by thread 5131"; empty: unknown */
	char waits[NCCL_WAITS_SIZE];
	/*
	 * `looks_there` of so many `looks`, while others waited for it, found it there. 0: nobody
	 * looked so; it is there now.
	 */
	uint32_t looks, looks_there;
	/* since when a thread waits for the GPU; 0: none does */
	uint64_t waiting_since_ns;
};

/* One rank of a communicator, in a process seen here. */
struct nccl_rank {
	const struct nccl_process *process;
	uint64_t handle; /* address of the communicator; 0: not known yet */
	int32_t rank;	 /* NCCL_RANK_UNKNOWN */
	int32_t device;	 /* NCCL_DEVICE_UNKNOWN */
	enum nccl_rank_state state;
	bool nonblocking;
	uint64_t sequence; /* of its latest collective; 0: none. Captured ones do not count. */
	uint64_t captured;
	uint64_t sends, receives, sent_bytes, received_bytes;
	uint64_t failed;      /* calls that returned an error */
	int32_t error;	      /* the latest one, also found by ncclCommGetAsyncError; 0: none */
	uint64_t last_ns;     /* its latest collective */
	uint64_t creating_ns; /* since when it is in the init; 0: it is not */
	uint64_t in_call_ns; /* since when it is in a call of a collective, or in the group's end */
	/* lateness against the first rank, where that is comparable */
	uint64_t compared, late, late_ns;
	uint64_t lateness[NCCL_LATE_BUCKETS];
	uint64_t lateness_ns; /* sum over all compared */
	uint64_t done;	      /* collectives that a wait has covered */
};

/* A difference between ranks in one collective. */
struct nccl_mismatch {
	uint64_t sequence; /* 0: none */
	struct nccl_operation common, other;
	/* what the calls before it let expect, as they have come in the same order before */
	struct nccl_operation expected;
	bool expects;
};

/* A pair of ranks with point-to-point calls. */
struct nccl_pair {
	int32_t from, to;
	uint64_t sends, receives, bytes;
	uint64_t unmatched_ns; /* when the oldest call came that has no partner; 0: none */
	uint64_t mismatch;     /* first number whose two sides differ in bytes; 0: none */
	uint64_t sent_bytes, received_bytes; /* of that one */
};

struct nccl_comm {
	uint64_t hash; /* with `known` */
	bool known;    /* else only its address in a process is known */
	bool guessed;  /* the hash only brings ranks together: NCCL's own number is unknown */
	bool aligned;  /* sequence numbers of ranks are comparable: all were seen from the start */
	uint32_t number;	   /* differs for each communicator ever seen */
	int32_t size;		   /* 0: unknown */
	char name[NCCL_NAME_SIZE]; /* escape it on output */
	size_t seen;		   /* ranks seen here, with those that have ended */
	size_t ended;		   /* of these */
	uint64_t sequence;	   /* the greatest of a rank */
	uint64_t collectives[NCCL_COLLECTIVES], bytes, first_ns, last_ns;
	/* of the current period (nccl_jobs__begin_period) */
	uint64_t period_collectives, period_bytes;
	enum nccl_function frequent; /* the most frequent function */
	double at_least; /* bytes per second of a collective, that a wait has proved; 0: unknown */
	/* time between the first and the last rank, over complete collectives but the first one */
	uint64_t complete, spread_ns, compare_from_ns, compare_to_ns;
	struct nccl_mismatch mismatch;
	uint64_t mismatches;
	uint64_t unmatched;
};

struct nccl_jobs;

/* `limits` may be NULL. NULL without memory. */
struct nccl_jobs *nccl_jobs__new(const struct nccl_limits *limits);
void nccl_jobs__free(struct nccl_jobs *jobs);

/* Takes an event, and copies everything it points to. Counts what does not fit. */
void nccl_jobs__feed(struct nccl_jobs *jobs, const struct nccl_event *event);

/* Whether all is known of the communicator at an address in a process: its hash, rank and size. */
bool nccl_jobs__knows(struct nccl_jobs *jobs, const struct nccl_process_key *process,
		      uint64_t handle);

/* Its threads are gone, and its ranks are dead, unless they have ended before. */
void nccl_jobs__process_ended(struct nccl_jobs *jobs, const struct nccl_process_key *key);

/* `where` may be NULL and is cut. Processes without a communicator are left out. */
void nccl_jobs__set_activity(struct nccl_jobs *jobs, const struct nccl_process_key *key,
			     enum nccl_activity activity, const char *where);

/* The same for the words in struct nccl_process.waits; the next activity removes them. */
void nccl_jobs__set_wait(struct nccl_jobs *jobs, const struct nccl_process_key *key,
			 const char *waits);

/*
 * Another look at a process whose rank is late, while others wait for it: tells the place of most
 * looks (nccl/places.h).
 */
void nccl_jobs__add_look(struct nccl_jobs *jobs, const struct nccl_process_key *key,
			 enum nccl_activity activity, const char *where, const char *waits);

/* From now on, the counts of the period begin at 0. */
void nccl_jobs__begin_period(struct nccl_jobs *jobs, uint64_t ns);
uint64_t nccl_jobs__period_start(const struct nccl_jobs *jobs);

/*
 * The communicators in the order in which they were seen. Start with NULL; NULL ends. What these
 * functions return is valid until the next event.
 */
const struct nccl_comm *nccl_jobs__next(const struct nccl_jobs *jobs, const struct nccl_comm *comm);
/* The ranks of a communicator by their number, unknown ones first. NULL: `i` is too great. */
const struct nccl_rank *nccl_comm__rank(const struct nccl_comm *comm, size_t i);
/* A rank's operation; false: it has not come, or it was too long ago. */
bool nccl_rank__operation(const struct nccl_rank *rank, uint64_t sequence,
			  struct nccl_operation *operation, uint64_t *ns);
/* When the first rank came to a collective, and when the last one did; false: too long ago. */
bool nccl_comm__arrivals(const struct nccl_comm *comm, uint64_t sequence, uint64_t *first_ns,
			 uint64_t *last_ns, uint64_t *done_ns, size_t *arrived);

struct nccl_losses nccl_jobs__losses(const struct nccl_jobs *jobs);
size_t nccl_jobs__bytes(const struct nccl_jobs *jobs);

#endif
