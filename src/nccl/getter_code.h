/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where NCCL's functions read a communicator, from their machine code (x86-64). NCCL's structure is
 * private and differs by version, but ncclCommUserRank loads the rank from it and stores it for its
 * caller: the displacement of that load is the member's offset. The code comes from a file that may
 * be hostile. Code is refused unless it has one of the few forms that compilers make.
 */
#ifndef NCCL_GETTER_CODE_H
#define NCCL_GETTER_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both ends of struct ncclComm have this number, from 2.21 on. */
#define NCCL_MAGIC 0x0280028002800280

#define GETTER_CALLS 16 /* direct calls that are looked at */

/* The functions that a function calls, as distances from its first byte. */
struct getter_calls {
	int64_t targets[GETTER_CALLS];
	size_t count;
};

/*
 * The offset of the 32-bit member that a getter of this code gives to its caller. False: no load is
 * followed by its store, or several members are.
 */
bool getter_code__member(const uint8_t *code, size_t size, uint32_t *offset);

/* Whether the function loads a 64-bit member at this offset. */
bool getter_code__loads(const uint8_t *code, size_t size, uint32_t offset);

/* The offset of the member that the function compares with the magic, behind the first one. */
bool getter_code__end_magic(const uint8_t *code, size_t size, uint32_t *offset);

/*
 * The number that ncclGetVersion of this code gives to its caller, such as 22809 for 2.28.9. False:
 * it stores no constant, several, or one that is no version.
 */
bool getter_code__version(const uint8_t *code, size_t size, int *version);

/* Its first direct calls. */
void getter_code__calls(const uint8_t *code, size_t size, struct getter_calls *calls);

#endif
