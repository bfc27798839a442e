/* SPDX-License-Identifier: BSD-2-Clause */
/* Call sites in words, for `gpuprobe stat` and the monitor's report by process. */
#ifndef OUTPUT_SITE_TEXT_H
#define OUTPUT_SITE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/quantity.h"
#include "model/model.h"

/*
 * Prints "256.0 MiB by 1 call of cudaMalloc", or what else the site's kind counts. `full_names`: of
 * kernels. No newline.
 */
void site_text__print(FILE *out, const struct call_site *site, enum quantity_form form,
		      bool full_names);

/* Prints what the sites of a kind are: "where it allocates:". No newline. */
void site_text__print_kind(FILE *out, const struct model *model, enum site_kind kind);

#endif
