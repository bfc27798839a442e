/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of src/nccl share: the structures behind nccl/jobs.h, each with the public one as
 * its first member, and who pays for their bytes.
 */
#ifndef NCCL_PRIVATE_H
#define NCCL_PRIVATE_H

#include "base/table.h"
#include "nccl/jobs.h"
#include "nccl/places.h"

#define FIRST_ROUNDS 16
#define MOST_ROUNDS 4096
#define PAIR_RECENT 8
#define MOST_GROUPED 8192
#define KEPT 3 /* operations from a mismatch on, for telling its kind later */

struct recent {
	struct nccl_operation operation;
	uint64_t ns;
	bool busy; /* the GPU still had work */
};

/* One collective of a communicator. */
struct round {
	uint64_t sequence;		 /* 0: none */
	struct nccl_operation operation; /* as the first rank called it */
	uint64_t first_ns, last_ns, done_ns;
	uint32_t arrived, same;
	bool awaited; /* a rank that had come waited for the GPU when a later one came */
};

struct comm_key {
	uint64_t hash;
	uint32_t uid;
	uint32_t split;	   /* number of a split with DJB2: equal colours give equal hashes */
	uint32_t instance; /* among equal hashes */
	uint32_t unused;
};

struct rank_key {
	uint64_t process; /* struct process's number */
	uint64_t handle;
};

struct pair_key {
	int32_t from, to;
};

struct pair {
	struct nccl_pair open;
	struct pair_key key;
	/* of the calls that wait for a partner, by number: bytes and times */
	uint64_t bytes[PAIR_RECENT], ns[PAIR_RECENT];
	UT_hash_handle hh;
};

struct process {
	struct nccl_process open;
	uint64_t number;
	size_t bytes;		    /* that it pays for */
	size_t references;	    /* ranks, threads and communicators */
	size_t waiting;		    /* threads in a wait */
	size_t over;		    /* ended communicators that it pays for */
	struct rank *ranks;	    /* list by process_next */
	bool blocked;		    /* for the judge: it waits for ranks that are missing */
	struct nccl_places *places; /* looks at it while it was late; NULL: none */
	UT_hash_handle hh;
};

struct rank {
	struct nccl_rank open;
	struct rank_key key; /* in jobs->ranks once its handle is known */
	bool keyed;
	struct process *process;
	struct comm *comm;
	struct recent recent[NCCL_RECENT];
	struct nccl_operation kept[KEPT]; /* those from the communicator's mismatch on */
	uint8_t kept_mask;		  /* which of these it has called */
	int32_t children;		  /* splits and grows so far */
	int64_t creator;		  /* the thread that makes it */
	uint64_t made_at;		  /* where NCCL writes its address, until that is known */
	uint64_t wait_sequence;		  /* its sequence when the current wait began */
	struct rank *process_prev, *process_next;
	UT_hash_handle hh;
};

/* A split whose ranks are known once all ranks of the parent have called it. */
struct split {
	struct comm *parent, *child; /* child NULL: no colour */
	int32_t number, color, key, parent_rank;
	struct rank *rank; /* of the child */
	struct split *prev, *next;
};

struct comm {
	struct nccl_comm open;
	struct comm_key key;
	uint64_t magic; /* nccl/hash.h; 0: unknown */
	struct process *payer;
	struct rank **ranks; /* sorted by rank; open.seen of them */
	struct round *rounds;
	uint64_t capacity; /* of rounds, a power of two */
	struct pair *pairs;
	struct split *splits;		    /* of which it is the parent */
	size_t creating;		    /* splits in which it is the child: no forgetting */
	bool over;			    /* in the list of ended ones */
	struct comm *prev, *next;	    /* all */
	struct comm *over_prev, *over_next; /* the ended ones, oldest first */
	UT_hash_handle hh;
};

/* A collective of a group that has not ended. */
struct grouped {
	uint64_t handle;
	struct nccl_operation operation;
	enum nccl_queue queue;
	uint64_t sequence; /* once the group has been launched */
};

struct thread_key {
	uint64_t process;
	int64_t tid;
};

struct thread {
	struct thread_key key;
	struct process *process;
	bool in_call;
	enum nccl_function function;
	uint64_t handle;   /* the communicator of the call */
	uint64_t sequence; /* that the call was given; 0: none */
	struct rank *creating;
	uint32_t nested, group;
	struct grouped *grouped;
	size_t grouped_count, grouped_room;
	bool waits;
	UT_hash_handle hh;
};

struct nccl_jobs {
	struct nccl_limits limits;
	struct nccl_losses losses;
	size_t bytes;
	uint64_t processes_ever, period_ns;
	uint32_t comms_ever;
	struct process *processes;
	struct thread *threads;
	struct rank *ranks; /* by handle */
	struct comm *comms; /* by hash */
	struct comm *all, *over;
};

/* Copies as much as fits; `text` may be NULL. */
void nccl_text__copy(char *to, size_t size, const char *text);

/*
 * Whether `process` may have so many more bytes; it has them then. Ended communicators are
 * forgotten to make room. Counts what does not fit.
 */
bool nccl_budget__take(struct nccl_jobs *jobs, struct process *process, size_t bytes);
void nccl_budget__give(struct nccl_jobs *jobs, struct process *process, size_t bytes);

/* Finds or makes. NULL: no room, which is counted. */
struct process *nccl_process__take(struct nccl_jobs *jobs, const struct nccl_process_key *key);
struct process *nccl_process__find(struct nccl_jobs *jobs, const struct nccl_process_key *key);
/* Frees a process that has ended and that nothing refers to. */
void nccl_process__free(struct process *process);
void nccl_process__release(struct nccl_jobs *jobs, struct process *process);

struct thread *nccl_thread__take(struct nccl_jobs *jobs, struct process *process, int32_t tid);
void nccl_thread__free(struct nccl_jobs *jobs, struct thread *thread);

/* The rank behind an address in a process; NULL: none. */
struct rank *nccl_rank__find(struct nccl_jobs *jobs, const struct process *process,
			     uint64_t handle);
/*
 * A new rank of the communicator with this hash, from the parent's split of this number, else 0;
 * `known` false: of one of its own. NULL: no room, or impossible numbers, both counted.
 */
struct rank *nccl_rank__add(struct nccl_jobs *jobs, struct process *process, bool known,
			    uint64_t hash, uint32_t split, int32_t number, int32_t size);
/* Gives a rank its address. An earlier rank at that address has ended. */
void nccl_rank__set_handle(struct nccl_jobs *jobs, struct rank *rank, uint64_t handle);
/* Gives its number to a rank that had none. */
void nccl_rank__set_number(struct rank *rank, int32_t number);
void nccl_rank__end(struct nccl_jobs *jobs, struct rank *rank, enum nccl_rank_state state);
/* Takes out a rank, and its communicator if it was the only one. */
void nccl_rank__remove(struct nccl_jobs *jobs, struct rank *rank);

void nccl_comm__free(struct nccl_jobs *jobs, struct comm *comm);

/* A rank has come to its next collective. Returns its number. */
uint64_t nccl_rank__arrive(struct nccl_jobs *jobs, struct rank *rank,
			   const struct nccl_operation *operation, enum nccl_queue queue,
			   uint64_t ns);
/* The call has failed: the collective is none. */
void nccl_rank__withdraw(struct rank *rank, uint64_t sequence);
/* A send or a receive. */
void nccl_rank__point_to_point(struct nccl_jobs *jobs, struct rank *rank,
			       const struct nccl_operation *operation, uint64_t ns);
/* A wait of its process has ended: everything before it is done. */
void nccl_rank__waited(struct rank *rank, uint64_t ns);
struct round *nccl_comm__round(const struct comm *comm, uint64_t sequence);
/* A rank's operation at the communicator's mismatch, or one of the two after it. */
bool nccl_rank__kept(const struct rank *rank, uint64_t sequence, struct nccl_operation *operation);

/* Splits, shrinks and grows: makes the child's rank. NULL: there is none, or no room. */
struct rank *nccl_split__begin(struct nccl_jobs *jobs, struct rank *parent,
			       const struct nccl_event *event);
/* ncclCommGrow of a new rank, which has no parent: its id says which communicator it joins. */
struct rank *nccl_split__join(struct nccl_jobs *jobs, struct process *process,
			      const struct nccl_event *event);
void nccl_split__free(struct nccl_jobs *jobs, struct split *split);

#endif
