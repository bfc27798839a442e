// SPDX-License-Identifier: BSD-2-Clause
// Labels of kernels whose names are words with underscores between them, see plain_label.h.
#include "symbol/plain_label.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "symbol/kernel_label.h"

#define COMPOSED_MAX 255 /* longer names are cut as they are */
#define RANK_MAX 7
#define RANK_GEMM 3 /* "implicit_gemm" is what most convolutions are */
#define RANK_REPEATED 7
#define NEVER (RANK_MAX + 1)

/*
 * What to do with a word that is `prefix` and perhaps digits and letters after it, in names that
 * are too long. First words are shortened and those of rank 0 left out, then those of the next
 * ranks until the name fits.
 */
struct word_rule {
	const char *prefix;
	const char *instead; /* of the prefix; NULL: it stays */
	unsigned int rank;   /* when it is left out */
};

/* clang-format off */
static const struct word_rule rules[] = {
	{"execute",		NULL,	0},
	{"kernel",		NULL,	0}, /* "kernel", "kernel0" */
	{"5x",			NULL,	0}, /* the version of an interface: "__5x_cudnn" */
	{"cublas",		NULL,	0},
	{"cudnn",		NULL,	0},
	{"generated",		NULL,	0},
	{"fort",		NULL,	0},
	{"native",		NULL,	0},
	{"implicit",		NULL,	0},
	{"nhwckrsc",		NULL,	0}, /* the output's layout is a word of its own */
	{"nchwkcrs",		NULL,	0},
	{"cga1x1x1",		NULL,	0},
	{"cgasize1x1x1",	NULL,	0},
	{"g1",			NULL,	0},
	{"tilesize",		"",	NEVER},
	{"stage",		"s",	6},
	{"warpgroupsize",	"wg",	4},
	{"warpsize",		"w",	4},
	{"segment",		"seg",	NEVER},
	{"knob",		NULL,	1},
	{"tensor",		NULL,	1}, /* the shape of the tensor core's operation */
	{"xmma",		NULL,	2},
	{"aligna",		"a",	5},
	{"alignc",		"c",	5},
	/* and of CUTLASS */
	{"tensorop",		NULL,	0},
	{"forwardCompat",	NULL,	1},
	{"optimized",		"opt",	3},
	{"align",		NULL,	5},
};
/* clang-format on */

/* Names made of such words. */
static const char *const families[] = {"sm80_xmma_", "sm86_xmma_",  "sm89_xmma_",
				       "sm90_xmma_", "sm100_xmma_", "cudnn_generated_",
				       "cutlass_"};

struct text {
	char *out;
	size_t length;
	bool overflows;
};

static void append(struct text *text, const char *s, size_t length)
{
	if (length > COMPOSED_MAX - text->length) {
		text->overflows = true;
		return;
	}
	memcpy(text->out + text->length, s, length);
	text->length += length;
}

static const struct word_rule *find_rule(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		size_t prefix = strlen(rules[i].prefix);

		if (length >= prefix && !memcmp(word, rules[i].prefix, prefix) &&
		    (length == prefix || isdigit((unsigned char)word[prefix])))
			return &rules[i];
	}
	return NULL;
}

/* "bf16bf16", the types of two operands, is "bf16". */
static size_t without_repeat(const char *word, size_t length)
{
	bool repeats = length > 4 && length % 2 == 0 && isalpha((unsigned char)*word) &&
		       !memcmp(word, word + length / 2, length / 2);

	return repeats ? length / 2 : length;
}

struct word {
	const char *text;
	size_t length;
};

static bool is_word(const struct word *word, const char *text)
{
	return word->length == strlen(text) && !memcmp(word->text, text, word->length);
}

static bool is_number(const struct word *word)
{
	for (size_t i = 0; i < word->length; i++) {
		if (!isdigit((unsigned char)word->text[i]))
			return false;
	}
	return true;
}

/* Whether the word is left out at that rank; `before` is the one before it in the name. */
static bool is_left_out(const struct word *word, const struct word *before,
			const struct word_rule *rule, unsigned int rank)
{
	const struct word_rule *rule_before = find_rule(before->text, before->length);

	if (rule && rule->rank <= rank)
		return true;
	/* "knob_7", "kernel0_0": the number goes with its word. */
	if (rule_before && rule_before->rank <= rank && is_number(word))
		return true;
	if (rank >= RANK_GEMM && is_word(word, "gemm") && is_word(before, "implicit"))
		return true;
	return rank >= RANK_REPEATED && word->length == before->length &&
	       !memcmp(word->text, before->text, word->length);
}

static void append_word(struct text *text, const struct word *word, const struct word *before,
			unsigned int rank)
{
	const struct word_rule *rule = find_rule(word->text, word->length);
	size_t skipped = 0;

	/* The first word stays: it names the family. */
	if (text->length && is_left_out(word, before, rule, rank))
		return;
	if (text->length)
		append(text, "_", 1);
	if (rule && text->length && rule->instead) {
		append(text, rule->instead, strlen(rule->instead));
		skipped = strlen(rule->prefix);
	}
	append(text, word->text + skipped,
	       without_repeat(word->text + skipped, word->length - skipped));
}

/* Writes the name's words after the rules up to `rank`. Returns false if it is too long for it. */
static bool compose(const char *name, size_t length, unsigned int rank, struct text *text)
{
	const char *end = name + length;
	struct word before = {.text = ""};

	text->length = 0;
	text->overflows = false;
	while (name < end) {
		const char *next = memchr(name, '_', (size_t)(end - name));
		struct word word = {.text = name};

		if (!next)
			next = end;
		word.length = (size_t)(next - name);
		if (word.length) {
			append_word(text, &word, &before, rank);
			before = word;
		}
		name = next + 1;
	}
	return !text->overflows;
}

static bool is_of_family(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		size_t prefix = strlen(families[i]);

		if (length > prefix && !memcmp(name, families[i], prefix))
			return true;
	}
	return false;
}

/* Whether the byte continues a UTF-8 character. */
static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t plain_label__cut(const char *text, size_t length, char *out, size_t limit)
{
	size_t head = (limit - 2) * 3 / 5, tail = limit - 2 - head;

	if (length <= limit) {
		memcpy(out, text, length);
		out[length] = '\0';
		return length;
	}
	while (head && continues(text[head]))
		head--;
	while (tail && continues(text[length - tail]))
		tail--;
	memcpy(out, text, head);
	memcpy(out + head, "..", 2);
	memcpy(out + head + 2, text + length - tail, tail);
	out[head + 2 + tail] = '\0';
	return head + 2 + tail;
}

void plain_label__write(const char *name, size_t length, char *label)
{
	char composed[COMPOSED_MAX];
	struct text text = {.out = composed};

	if (length <= KERNEL_LABEL_MAX || !is_of_family(name, length)) {
		plain_label__cut(name, length, label, KERNEL_LABEL_MAX);
		return;
	}
	for (unsigned int rank = 0; rank <= RANK_MAX; rank++) {
		if (!compose(name, length, rank, &text)) {
			plain_label__cut(name, length, label, KERNEL_LABEL_MAX);
			return;
		}
		if (text.length <= KERNEL_LABEL_MAX)
			break;
	}
	plain_label__cut(composed, text.length, label, KERNEL_LABEL_MAX);
}
