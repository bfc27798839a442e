/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names in place of those that a recording must not have (record --anonymize): "user-1",
 * "kernel-12". Equal names of one kind have one pseudonym throughout a recording; its number says
 * when the name was first met. What is remembered is bounded: names beyond that are "user-other".
 */
#ifndef RECORD_PSEUDONYMS_H
#define RECORD_PSEUDONYMS_H

#include <stddef.h>

#define PSEUDONYMS_MAX 65536u		 /* names */
#define PSEUDONYMS_BYTES_MAX (32u << 20) /* of these names */

struct pseudonyms;

struct pseudonym {
	char text[48];
};

struct pseudonyms *pseudonyms__new(void);	      /* NULL without memory */
void pseudonyms__free(struct pseudonyms *pseudonyms); /* NULL is fine */

/*
 * The pseudonym of a name, of up to `most` bytes; empty if the name is. `kind` is a word, such as
 * "user", that the pseudonym begins with. Without memory it is as beyond the bounds.
 */
struct pseudonym pseudonyms__of(struct pseudonyms *pseudonyms, const char *kind, const char *name,
				size_t most);

/*
 * The same of a function in a stack: functions of CUDA's API keep their names, because everyone
 * knows them.
 */
struct pseudonym pseudonyms__of_function(struct pseudonyms *pseudonyms, const char *name);

#endif
