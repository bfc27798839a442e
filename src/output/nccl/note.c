// SPDX-License-Identifier: BSD-2-Clause
// Writes notes of findings about NCCL's ranks, see note.h.
#include "output/nccl/note.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "output/nccl/nccl.h"
#include "output/nccl/parts.h"

static void write_details(FILE *out, const struct nccl_finding *finding)
{
	struct json json;

	json__init(&json, out);
	nccl_output__finding_json(&json, finding);
}

static char *text_of(void (*write)(FILE *, const struct nccl_finding *),
		     const struct nccl_finding *finding)
{
	size_t length = 0;
	char *text = NULL;
	FILE *out = text_stream__open(&text, &length);

	if (!out)
		return NULL;
	write(out, finding);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* Makes one sentence of indented lines: "; " between them, and one space for several. */
static void join_lines(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		bool ends_line = *from == '\n' && from[1];

		if (ends_line)
			*to++ = ';';
		if (!isspace((unsigned char)*from) || ends_line)
			*to++ = ends_line ? ' ' : *from;
		else if (to > text && to[-1] != ' ' && *from != '\n')
			*to++ = ' ';
	}
	*to = 0;
}

/* The rank to blame, if it is one. */
static const struct nccl_rank *blamed(const struct nccl_finding *finding)
{
	return finding->blamed == 1 ? finding->ranks[0] : NULL;
}

int nccl_note__write(struct nccl_note *note, const struct nccl_finding *finding)
{
	const struct nccl_rank *rank = blamed(finding);
	struct nccl_note new = {
		.key = nccl_finding__key(finding),
		.pid = rank ? rank->process->key.pid : 0,
		.start_ns = rank ? rank->process->key.start_ns : 0,
		.ns = finding->ns,
		.late = finding->late,
		.compared = finding->compared,
		.share = finding->share,
		.blamed = finding->blamed,
		.waiting = finding->waiting,
		.count = finding->comm->mismatches ? finding->comm->mismatches : 1,
		.subject = text_of(nccl_text__subject, finding),
		.evidence = text_of(nccl_text__lines, finding),
		.details = text_of(write_details, finding),
	};

	if (!new.subject || !new.evidence || !new.details) {
		nccl_note__clear(&new);
		return -ENOMEM;
	}
	join_lines(new.evidence);
	nccl_note__clear(note);
	*note = new;
	return 0;
}

void nccl_note__clear(struct nccl_note *note)
{
	free(note->subject);
	free(note->evidence);
	free(note->details);
	*note = (struct nccl_note){0};
}
