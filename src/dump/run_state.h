/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a thread runs, sleeps or is stopped, from the kernel's state bits. */
#ifndef DUMP_RUN_STATE_H
#define DUMP_RUN_STATE_H

#include "gpuprobe/thread_look.h"
#include "model/dump.h"

enum dump_run run_state__of(const struct thread_look *look);

#endif
