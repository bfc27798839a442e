/* SPDX-License-Identifier: BSD-2-Clause */
/* Of the account of a run: sizes of allocations and copies, copies made again, errors nobody asked about. */
#ifndef COLLECT_ACCOUNT_LISTS_H
#define COLLECT_ACCOUNT_LISTS_H

#include "collect/reading.h"

struct account;
struct thread_account;

/* Empties the lists before they are read anew. */
void account_lists__clear(struct account *account);

/* Reads the maps into the lists of the processes they are of. Returns 0 or a negative errno. */
int account_lists__read(struct reading *reading);

/* Adds the error that is pending in a thread, if launches came after it. Returns 0 or -ENOMEM. */
int account_lists__add_pending(struct account *account, const struct thread_account *thread);

/* Brings the lists into the order that model/account.h says, once they are complete. */
void account_lists__sort(struct account *account);

#endif
