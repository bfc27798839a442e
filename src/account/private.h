/* SPDX-License-Identifier: BSD-2-Clause */
/* The account, for the files that make it (account.h). */
#ifndef ACCOUNT_PRIVATE_H
#define ACCOUNT_PRIVATE_H

#include "account/account.h"
#include "account/groups.h"
#include "account/uses.h"

/* A process, by all sources of its machine. */
struct life {
	struct life_key {
		uint32_t host;
		int32_t pid;
		uint64_t start_ns;
	} key;
	uint64_t until_ns; /* counted so far */
	UT_hash_handle hh;
};

struct source {
	uint32_t host;
	char name[72], boot_id[40];
	uint64_t readings;
	/* the latest reading: its two clocks */
	uint64_t boot_ns;
	int64_t wall_ns;
	uint64_t lost[LOSS_COUNT];
};

struct account {
	struct account_options options;
	struct source *sources;
	size_t source_count;
	struct accounted *processes;
	struct life *lives; /* with several sources only */
	struct groups groups;
	int64_t from_ns, to_ns;
};

#endif
