// SPDX-License-Identifier: BSD-2-Clause
// Ranks meet in shared memory: creation, splits, and the gates that hold up streams.
#include "nccl/comm.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "nccl/identity.h"

#define POLL_NS 200000

void cuda_sim_gate(CUstream stream, bool (*open)(void *source, uint64_t number), void *source,
		   uint64_t number);

static void path_of(char path[256], uint64_t hash)
{
	const char *directory = getenv("CUDA_SIM_NCCL_DIRECTORY");

	snprintf(path, 256, "%s/cuda-sim-nccl-%u-%016" PRIx64, directory ? directory : "/dev/shm",
		 (unsigned int)getuid(), hash);
}

static struct shared *map_shared(uint64_t hash)
{
	struct shared *shared = MAP_FAILED;
	char path[256];
	int fd;

	path_of(path, hash);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	/* A new file is zeros, which is what ranks begin with. */
	if (!ftruncate(fd, sizeof(*shared)))
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return shared == MAP_FAILED ? NULL : shared;
}

static int current_device(void)
{
	CUdevice device;

	return cuCtxGetDevice(&device) ? 0 : device;
}

static void take_config(struct ncclComm *comm, const ncclConfig_t *config)
{
	if (!config || config->magic != NCCL_CONFIG_MAGIC)
		return;
	comm->nonblocking = !config->blocking;
	if (config->size >= 56 && config->commName)
		snprintf(comm->name, sizeof(comm->name), "%s", config->commName);
}

struct ncclComm *comm__open(uint64_t hash, uint64_t place, int rank, int size,
			    const ncclConfig_t *config)
{
	struct ncclComm *comm = calloc(1, sizeof(*comm));

	if (!comm)
		return NULL;
	comm->shared = map_shared(place);
	if (!comm->shared) {
		free(comm);
		return NULL;
	}
	comm->start_magic = comm->end_magic = SIM_NCCL_MAGIC;
	comm->hash = hash;
	comm->place = place;
	comm->rank = rank;
	comm->size = size;
	comm->device = comm->nvml_device = current_device();
	take_config(comm, config);
	for (int peer = 0; peer < SIM_MOST_RANKS; peer++) {
		comm->peers[0][peer] = (struct peer_gate){ comm, peer, false };
		comm->peers[1][peer] = (struct peer_gate){ comm, peer, true };
	}
	__atomic_store_n(&comm->shared->size, (uint32_t)size, __ATOMIC_RELEASE);
	__atomic_add_fetch(&comm->shared->joined, 1, __ATOMIC_ACQ_REL);
	return comm;
}

static void pause_shortly(void)
{
	const struct timespec poll = { .tv_nsec = POLL_NS };

	nanosleep(&poll, NULL);
}

static void remove_file(const struct ncclComm *comm)
{
	char path[256];

	path_of(path, comm->place);
	unlink(path);
}

bool comm__has_met(struct ncclComm *comm)
{
	if (comm->ready)
		return true;
	if (__atomic_load_n(&comm->shared->joined, __ATOMIC_ACQUIRE) < (uint32_t)comm->size)
		return false;
	/* All have it mapped: nobody opens it any more, and ranks may be killed from here on. */
	remove_file(comm);
	__atomic_store_n(&comm->ready, true, __ATOMIC_RELEASE);
	return true;
}

ncclResult_t comm__meet(struct ncclComm *comm)
{
	while (!comm__has_met(comm)) {
		if (__atomic_load_n(&comm->aborted, __ATOMIC_RELAXED))
			return ncclInternalError;
		pause_shortly();
	}
	return ncclSuccess;
}

bool comm__is(const struct ncclComm *comm)
{
	return comm && comm->start_magic == SIM_NCCL_MAGIC && comm->end_magic == SIM_NCCL_MAGIC;
}

/* Whether all that have joined have left. */
static bool is_left(const struct ncclComm *comm)
{
	return __atomic_load_n(&comm->shared->left, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&comm->shared->joined, __ATOMIC_ACQUIRE);
}

void comm__close(struct ncclComm *comm)
{
	comm->start_magic = 0;
	__atomic_add_fetch(&comm->shared->left, 1, __ATOMIC_ACQ_REL);
	/* The ranks never met, and no other one is left to wait for the rest. */
	if (!comm__has_met(comm) && is_left(comm))
		remove_file(comm);
	/* Streams may still have gates of it: it stays, closed, and they open. */
	__atomic_store_n(&comm->aborted, true, __ATOMIC_RELEASE);
}

static bool all_have_launched(void *source, uint64_t number)
{
	const struct ncclComm *comm = source;

	if (__atomic_load_n(&comm->aborted, __ATOMIC_ACQUIRE))
		return true;
	for (int rank = 0; rank < comm->size; rank++)
		if (__atomic_load_n(&comm->shared->collectives[rank], __ATOMIC_ACQUIRE) < number)
			return false;
	return true;
}

void comm__collective(struct ncclComm *comm, cudaStream_t stream)
{
	comm->launched++;
	__atomic_store_n(&comm->shared->collectives[comm->rank], comm->launched, __ATOMIC_RELEASE);
	cuda_sim_gate(stream, all_have_launched, comm, comm->launched);
}

/* Whether the peer has made the other side of this message. */
static bool peer_has_come(void *source, uint64_t number)
{
	const struct peer_gate *gate = source;
	const struct ncclComm *comm = gate->comm;
	const uint64_t *other = gate->receives ? &comm->shared->sends[gate->peer][comm->rank] :
						 &comm->shared->receives[comm->rank][gate->peer];

	return __atomic_load_n(&comm->aborted, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(other, __ATOMIC_ACQUIRE) >= number;
}

void comm__message(struct ncclComm *comm, bool receives, int peer, cudaStream_t stream)
{
	uint64_t *mine = receives ? &comm->shared->receives[peer][comm->rank] :
				    &comm->shared->sends[comm->rank][peer];
	uint64_t number = receives ? ++comm->receives[peer] : ++comm->sends[peer];

	__atomic_store_n(mine, number, __ATOMIC_RELEASE);
	cuda_sim_gate(stream, peer_has_come, &comm->peers[receives][peer], number);
}

/* All ranks of the parent have said their colour and key. */
static ncclResult_t wait_for_split(const struct ncclComm *parent, uint64_t number)
{
	for (int rank = 0; rank < parent->size; rank++) {
		const uint64_t *said =
			&parent->shared->splits[number % SIM_SPLITS][rank].number;

		while (__atomic_load_n(said, __ATOMIC_ACQUIRE) < number) {
			if (__atomic_load_n(&parent->aborted, __ATOMIC_RELAXED))
				return ncclInternalError;
			pause_shortly();
		}
	}
	return ncclSuccess;
}

ncclResult_t comm__split(struct ncclComm *parent, int color, int key, struct ncclComm **child,
			 const ncclConfig_t *config)
{
	uint64_t number = ++parent->splits, hash;
	int rank = 0, size = 0;
	ncclResult_t result;

	*child = NULL;
	parent->shared->splits[number % SIM_SPLITS][parent->rank].color = color;
	parent->shared->splits[number % SIM_SPLITS][parent->rank].key = key;
	__atomic_store_n(&parent->shared->splits[number % SIM_SPLITS][parent->rank].number, number,
			 __ATOMIC_RELEASE);
	result = wait_for_split(parent, number);
	if (result || color == NCCL_SPLIT_NOCOLOR)
		return result;
	for (int other = 0; other < parent->size; other++) {
		int32_t its_key = parent->shared->splits[number % SIM_SPLITS][other].key;

		if (parent->shared->splits[number % SIM_SPLITS][other].color != color)
			continue;
		size++;
		rank += its_key < key || (its_key == key && other < parent->rank);
	}
	hash = identity__of_split(parent->hash, (int)number, color);
	*child = comm__open(hash, hash, rank, size, config);
	if (!*child)
		return ncclSystemError;
	(*child)->magic = hash;
	return comm__meet(*child);
}
