/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uthash as all of gpuprobe uses it. Left to itself it ends the program, without a word, where there is no memory
 * for an addition. Here the element is left out then: its hh.tbl is NULL, which who adds has to look at.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "base/hash.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#endif
