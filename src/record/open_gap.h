/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gap at which the reader of a recording is, as struct recording_damage lists it: it reaches up
 * to the next record that is of use.
 */
#ifndef RECORD_OPEN_GAP_H
#define RECORD_OPEN_GAP_H

#include "record/reader.h"

/* All zero at first, and after a seek. */
struct open_gap {
	struct recording_gap *gap; /* the latest; NULL: none, or it is not listed */
	bool is_open;		   /* it ends with the next record */
	bool has_ended;		   /* it ended with the latest record */
};

/* Records are lost from `from_ns` on. An open gap goes on; one that is met again is listed once. */
void open_gap__begin(struct open_gap *open, struct recording_damage *damage, uint64_t from_ns);

/* A record of that time was read. */
void open_gap__end(struct open_gap *open, uint64_t to_ns);

/*
 * The latest record is of no use: the gap before it goes on. If there was none, one begins at
 * `from_ns`.
 */
void open_gap__go_on(struct open_gap *open, struct recording_damage *damage, uint64_t from_ns);

#endif
