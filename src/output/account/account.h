/* SPDX-License-Identifier: BSD-2-Clause */
/* Output of `gpuprobe account`: a table for people, JSON, and comma-separated values. */
#ifndef OUTPUT_ACCOUNT_ACCOUNT_H
#define OUTPUT_ACCOUNT_ACCOUNT_H

#include <stdint.h>
#include <stdio.h>

#include "account/account.h"
#include "base/quantity.h"

struct account_output {
	enum account_by by;
	uint64_t idle_ns;	 /* a GPU without a call for so long is idle */
	bool is_recorded;	 /* it ends when the recordings do, not now */
	enum quantity_form form; /* of amounts in text */
};

/* Prints a row for each group, the total, and what the figures do not tell. */
void account_text__print(FILE *out, const struct account_list *list,
			 const struct account_output *output);

/* Prints one JSON object on one line, with "schema" 1. docs/account.md describes it. */
void account_json__print(FILE *out, const struct account_list *list,
			 const struct account_output *output);

/* A line of names, then a line for each group, without the total. */
void account_csv__print(FILE *out, const struct account_list *list,
			const struct account_output *output);

#endif
