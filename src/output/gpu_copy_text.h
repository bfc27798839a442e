/* SPDX-License-Identifier: BSD-2-Clause */
/* The words for kinds of copies that a GPU has made. */
#ifndef OUTPUT_GPU_COPY_TEXT_H
#define OUTPUT_GPU_COPY_TEXT_H

/* Of an enum gpu_copy_kind, such as "H2D"; A is an array. "unknown" for any other number. */
const char *gpu_copy_text__kind(unsigned int kind);

#endif
