// SPDX-License-Identifier: BSD-2-Clause
// The value of an argument as text and as JSON, see field.h.
#include "output/trace/private.h"

#include <math.h>

/*
 * More than any form needs besides its texts: dimensions, an unreadable address, brackets, a name.
 */
#define FIELD_ROOM (2 * TRACE_WORD_SIZE + 3 * TRACE_TEXT_NUMBER)

size_t trace_field__room(const struct trace_line *line)
{
	size_t size = 0;

	for (size_t i = 0; i < line->field_count; i++) {
		const struct trace_field *field = &line->fields[i];

		size += FIELD_ROOM;
		if (field->form == FORM_TEXT || field->form == FORM_BYTES)
			size += (size_t)field->length * TRACE_TEXT_EXPANSION;
		else if (field->form == FORM_WORDS)
			size += (size_t)field->length * TRACE_TEXT_NUMBER;
	}
	/* Once in the details, and possibly once more in its own column. */
	return 2 * size;
}

static uint64_t word_at(const struct trace_field *field, size_t i)
{
	uint64_t word;

	memcpy(&word, field->words + i, sizeof(word));
	return word;
}

static char *write_word(const struct trace_field *field, char *at)
{
	return trace_text__word(at, field->text, TRACE_WORD_SIZE);
}

static char *write_dims(const struct trace_field *field, char open, char close, char *at)
{
	*at++ = open;
	for (int i = 0; i < 3; i++) {
		if (i)
			*at++ = ',';
		at = trace_text__unsigned(at, field->dims[i]);
	}
	*at++ = close;
	return at;
}

static char *text_words(const struct trace_field *field, char *at)
{
	*at++ = '[';
	for (size_t i = 0; i < field->length; i++) {
		if (i)
			*at++ = ',';
		at = trace_text__hex(at, word_at(field, i));
	}
	*at++ = ']';
	return at;
}

static char *text_quoted(const struct trace_field *field, bool doubled, char *at)
{
	*at++ = '"';
	at = trace_text__escaped(at, field->text, field->length, '"', doubled);
	*at++ = '"';
	return field->cut ? TRACE_TEXT_CONSTANT(at, "...") : at;
}

char *trace_field__text(const struct trace_field *field, bool doubled, char *at)
{
	switch ((enum trace_form)field->form) {
	case FORM_UNSIGNED: return trace_text__unsigned(at, field->number);
	case FORM_SIGNED: return trace_text__signed(at, (int64_t)field->number);
	case FORM_ADDRESS:
		/* Stream 0 is the default stream, not an address. */
		if (field->role == TRACE_STREAM && !field->number)
			return trace_text__unsigned(at, 0);
		return trace_text__hex(at, field->number);
	case FORM_FLAGS: return trace_text__hex(at, field->number);
	case FORM_REAL: return trace_text__real(at, field->real);
	case FORM_WORD: return write_word(field, at);
	case FORM_TEXT: return text_quoted(field, doubled, at);
	case FORM_DIM3: return write_dims(field, '(', ')', at);
	case FORM_BYTES: return trace_text__bytes(at, field->text, field->length);
	case FORM_WORDS: return text_words(field, at);
	case FORM_UNREADABLE:
		return TRACE_TEXT_CONSTANT(
			trace_text__hex(TRACE_TEXT_CONSTANT(at, "<unreadable "), field->number),
			">");
	case FORM_UNKNOWN: break;
	}
	*at = '?';
	return at + 1;
}

static char *json_hex(uint64_t value, char *at)
{
	*at++ = '"';
	at = trace_text__hex(at, value);
	*at++ = '"';
	return at;
}

static char *json_words(const struct trace_field *field, char *at)
{
	*at++ = '[';
	for (size_t i = 0; i < field->length; i++) {
		if (i)
			*at++ = ',';
		at = json_hex(word_at(field, i), at);
	}
	*at++ = ']';
	return at;
}

static char *json_text(const struct trace_field *field, char *at)
{
	at = field->cut ? TRACE_TEXT_CONSTANT(at, "{\"cut\":\"") : TRACE_TEXT_CONSTANT(at, "\"");
	at = trace_text__json(at, field->text, field->length);
	return field->cut ? TRACE_TEXT_CONSTANT(at, "\"}") : TRACE_TEXT_CONSTANT(at, "\"");
}

static char *json_real(double value, char *at)
{
	return isfinite(value) ? trace_text__real(at, value) : TRACE_TEXT_CONSTANT(at, "null");
}

char *trace_field__json(const struct trace_field *field, char *at)
{
	switch ((enum trace_form)field->form) {
	case FORM_UNSIGNED: return trace_text__unsigned(at, field->number);
	case FORM_SIGNED: return trace_text__signed(at, (int64_t)field->number);
	case FORM_ADDRESS:
	case FORM_FLAGS: return json_hex(field->number, at);
	case FORM_REAL: return json_real(field->real, at);
	case FORM_WORD:
		return TRACE_TEXT_CONSTANT(write_word(field, TRACE_TEXT_CONSTANT(at, "\"")), "\"");
	case FORM_TEXT: return json_text(field, at);
	case FORM_DIM3: return write_dims(field, '[', ']', at);
	case FORM_BYTES:
		return TRACE_TEXT_CONSTANT(trace_text__bytes(TRACE_TEXT_CONSTANT(at, "\""),
							     field->text, field->length),
					   "\"");
	case FORM_WORDS: return json_words(field, at);
	case FORM_UNREADABLE:
		return TRACE_TEXT_CONSTANT(
			json_hex(field->number, TRACE_TEXT_CONSTANT(at, "{\"unreadable\":")), "}");
	case FORM_UNKNOWN: break;
	}
	return TRACE_TEXT_CONSTANT(at, "null");
}
