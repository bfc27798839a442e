/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the collector: its state, and functions to read the maps. */
#ifndef COLLECT_PRIVATE_H
#define COLLECT_PRIVATE_H

#include "base/ring.h"
#include "collect/attribution.h"
#include "collect/collector.h"
#include "collect/contexts.h"
#include "collect/key_list.h"
#include "collect/largest.h"
#include "collect/map_reader.h"
#include "gpuprobe/state.h"
#include "model/kernels.h"
#include "model/kernel_names.h"
#include "probe/stack_maps.h"
#include "symbol/host_stub.h"
#include "target/memory_reader.h"

#define NO_PROCESS UINT32_MAX

struct profile_maps;
struct ended_keys;
struct ended_memory;
struct open_calls;
struct thread_counts_reader;
struct steps;

struct late_process {
	pid_t pid;
	uint64_t time_ns; /* when it was running code without probes */
};

struct collector {
	struct gpuprobe_bpf *skeleton;
	struct collector_options options;
	struct collector_hooks hooks;
	const struct log *log;
	struct ring ring;  /* of notices */
	int waiting_fd;	   /* an epoll set: readable while notices or stacks wait */
	uint64_t until_ns; /* when others get a turn: the rest of the ring waits then */
	struct model model;
	uint64_t serials; /* given to processes */
	struct kernel_names *names;
	size_t name_bytes; /* size of kernel names, of all processes */
	struct map_reader *reader;
	struct host_stubs *stubs;
	struct memory_reader *memory; /* reads processes' memory, except for stack/intake.h */
	struct attribution *attribution;
	struct thread_counts_reader *thread_counts_reader;
	struct open_calls *open_calls;
	struct profile_maps *profile_maps; /* NULL: no profile is kept */
	struct steps *steps;		   /* NULL: none are looked for */
	struct estimates *estimates;	   /* NULL: all calls are seen */
	struct stacks *stacks;		   /* NULL: none are taken */
	struct stack_maps stack_maps;
	struct contexts *contexts;	/* as the latest reading found them */
	struct process_record *records; /* the BPF map, mapped */
	size_t records_bytes;
	bool reports;	    /* reports are made, see collector__expect_reports */
	size_t reaped;	    /* processes that the latest collector__reap reaped */
	uint64_t paged_ns;  /* time of the latest page */
	uint32_t name_turn; /* counts readings, see collector__is_name_due */
	bool has_fresh;	    /* a process has made its first call and is not in the model yet */
	bool has_steps;	    /* a thread has submitted much, and no step of it has been found */
	uint32_t *index_of; /* slot -> index in model.processes, or NO_PROCESS */
	/*
	 * Processes in model.processes behind the model's own: left out by the filter or, between
	 * readings, new. A reading covers them too, because their entries in the maps must go.
	 */
	size_t set_aside;
	bool is_reading; /* nobody is set aside */
	struct filtered_processes filtered;
	uint64_t attached_ns;
	struct late_process *late;
	size_t late_count;
	struct largest *largest; /* NULL: lists are made by a walk over all allocations */
	struct key_list dead;	 /* allocations that ended with their context */
	struct ended_keys *ended;
	struct ended_memory *ended_memory;
};

/* processes.c */

/* Adds the process in `slot` to the model. Returns 0 or -ENOMEM. */
int collector__add_process(struct collector *collector, uint32_t slot);

/*
 * Adds those that have made their first call since the last reading. If memory runs out, the next
 * reading adds them.
 */
void collector__see_fresh_processes(struct collector *collector);

/*
 * Marks the process as `since attach` if another process that shares its memory was late, since
 * that one's calls count as this process's.
 */
void collector__look_at_sharer(struct collector *collector, struct process *process);

/*
 * A process may rename itself. Where there are many, reading their names costs more than the rest
 * of a reading, so they take turns, a reading each.
 */
#define NAMES_READ 64
bool collector__is_name_due(uint32_t slot, uint32_t turn, size_t processes);

/* Reads the process's name, if it is due. */
void collector__refresh_name(const struct collector *collector, struct process *process);

/* The model's process in `slot`, or NULL. Valid until a process is added. */
struct process *collector__process_at(struct collector *collector, uint32_t slot);

/* The number of processes in model.processes, with those set aside. */
static inline size_t collector__process_count(const struct collector *collector)
{
	return collector->model.process_count + collector->set_aside;
}

/* Puts the processes that were set aside back for a reading, and sets them aside after it. */
void collector__take_back(struct collector *collector);
void collector__set_aside(struct collector *collector);

/*
 * Whether a reaping now includes the process: it has ended, and if memory was gathered in advance
 * (ended_memory.h), its own was. One that ended later has to wait for the next reaping.
 */
bool collector__may_reap(const struct collector *collector, const struct process *process);

/* Frees the slots of ended processes, whose entries in the maps have been read and deleted. */
void collector__release_slots(struct collector *collector);

/* Drops ended processes from the model once reports and scrapers have had time to see them. */
void collector__drop_old_processes(struct collector *collector);

/*
 * Reads the record of the model's process (process_record.c): whether it has ended, its name, its
 * lasting error and what had no entries of its own. Resets the sums that a reading computes.
 */
void collector__read_record(struct collector *collector, struct process *process);

/*
 * Takes a notice of the ring (notices.c); `arg` is the collector. A result other than 0 stops the
 * reading of the ring after this notice.
 */
int notices__take(const void *data, size_t size, void *arg);

/*
 * Reads all maps into the model (snapshot.c). `reap`: also deletes the entries of ended processes.
 */
int collector__read_maps(struct collector *collector, bool with_lists, bool reap);

#endif
