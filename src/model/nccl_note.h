/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Something that is wrong with the ranks of NCCL's communicators, as src/nccl judged it. It is a
 * copy: what it says stays when the communicator goes.
 */
#ifndef MODEL_NCCL_NOTE_H
#define MODEL_NCCL_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "nccl/judge.h"

struct nccl_note {
	struct nccl_finding_key key; /* equal for what is the same finding at another time */
	bool over;		     /* it held before, and does not any more */
	/* the process of the rank to blame; 0: there are several, or none */
	int32_t pid;
	uint64_t start_ns;
	uint64_t ns;		  /* as in struct nccl_finding */
	uint64_t late, compared;  /* the same */
	double share;		  /* the same */
	uint64_t blamed, waiting; /* the same */
	uint64_t count;		  /* mismatches of the communicator so far */
	/* `comm 0x9f3ac1 "dp", collective 288,686 all_gather bf16 x 8,388,608`; escaped */
	char *subject;
	char *evidence; /* the lines of the finding as one sentence; escaped */
	char *details;	/* the finding as a JSON object, as `gpuprobe nccl --json` has it */
};

#endif
