// SPDX-License-Identifier: BSD-2-Clause
// Function names for people, see function_text.h.
#include "output/function_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/text_stream.h"
#include "api/api.h"

#define WORD_SIZE 128 /* longer than any name of the table */

void function_text__print(FILE *out, size_t row)
{
	const struct api_function *function = &api_functions[row];

	fprintf(out, "%s%s", function->shown, function->symbol + strlen(function->base));
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void put_word(FILE *out, const char *word, size_t length)
{
	char copy[WORD_SIZE];

	snprintf(copy, sizeof(copy), "%.*s", (int)length, word);
	if (length < sizeof(copy))
		fputs(api__shown(copy), out);
	else
		fwrite(word, 1, length, out);
}

static void put_sentence(FILE *out, const char *text)
{
	while (*text) {
		size_t length = 0;

		while (is_of_word(text[length]))
			length++;
		if (length)
			put_word(out, text, length);
		else
			fputc(text[length++], out);
		text += length;
	}
}

void function_text__print_sentence(FILE *out, const char *text)
{
	char *made = NULL;
	size_t length = 0;
	FILE *sentence = text_stream__open(&made, &length);

	if (sentence)
		put_sentence(sentence, text);
	escape__text(out, sentence && !fclose(sentence) ? made : text);
	free(made);
}
