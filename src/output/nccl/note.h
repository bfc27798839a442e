/* SPDX-License-Identifier: BSD-2-Clause */
/* A finding about NCCL's ranks as a note in the model, from which `diagnose` and others have it. */
#ifndef OUTPUT_NCCL_NOTE_H
#define OUTPUT_NCCL_NOTE_H

#include "model/nccl_note.h"

/* Fills the note, which is zero or of the same finding. Returns 0 or -ENOMEM: it is unchanged. */
int nccl_note__write(struct nccl_note *note, const struct nccl_finding *finding);
void nccl_note__clear(struct nccl_note *note);

#endif
