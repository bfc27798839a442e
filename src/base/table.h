/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uthash as all of gpuprobe uses it. By default uthash ends the program, without a message, if
 * there is no memory to add an element. With this setting it does not add the element and leaves
 * its hh.tbl NULL, which the caller must check.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "base/hash.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#endif
