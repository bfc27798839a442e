// SPDX-License-Identifier: BSD-2-Clause
// Lists of names and values in variables, see pairs.h.
#include "export/pairs.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static struct export_pair *find(const struct export_pairs *pairs, const char *name)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (!strcmp(pairs->items[i].name, name))
			return &pairs->items[i];
	return NULL;
}

const char *export_pairs__find(const struct export_pairs *pairs, const char *name)
{
	const struct export_pair *pair = find(pairs, name);

	return pair ? pair->value : NULL;
}

/* Values may be secrets: their memory is not left to others. */
static void free_pair(struct export_pair *pair)
{
	free(pair->name);
	explicit_bzero(pair->value, strlen(pair->value));
	free(pair->value);
}

int export_pairs__set(struct export_pairs *pairs, const char *name, const char *value)
{
	struct export_pair made = {.name = strdup(name), .value = strdup(value)};
	struct export_pair *old = find(pairs, name);
	int ret = made.name && made.value ? 0 : -ENOMEM;

	if (!ret && old) {
		free_pair(old);
		*old = made;
		return 0;
	}
	if (!ret)
		ret = ARRAY_APPEND(pairs->items, pairs->count, made);
	if (ret) {
		free(made.name);
		free(made.value);
	}
	return ret;
}

void export_pairs__remove(struct export_pairs *pairs, const char *name)
{
	struct export_pair *pair = find(pairs, name);

	if (!pair)
		return;
	free_pair(pair);
	memmove(pair, pair + 1, (size_t)(pairs->items + --pairs->count - pair) * sizeof(*pair));
}

void export_pairs__clear(struct export_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		free_pair(&pairs->items[i]);
	free(pairs->items);
	*pairs = (struct export_pairs){0};
}

/* --- parsing --- */

static void trim(char **begin, char *end)
{
	while (isblank((unsigned char)**begin))
		++*begin;
	while (end > *begin && isblank((unsigned char)end[-1]))
		*--end = '\0';
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place; a percent sign without two digits stays. False: there is a NUL in it. */
static bool decode(char *text)
{
	char *to = text;

	while (*text) {
		int high = *text == '%' ? digit(text[1]) : -1;
		int low = high < 0 ? -1 : digit(text[2]);

		if (low < 0) {
			*to++ = *text++;
			continue;
		}
		*to = (char)(high << 4 | low);
		if (!*to++)
			return false;
		text += 3;
	}
	*to = '\0';
	return true;
}

/* A field name and a value of RFC 9110. */
static bool is_header(const char *name, const char *value)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("!#$%&'*+-.^_`|~", *name))
			return false;
	for (; *value; value++)
		if (iscntrl((unsigned char)*value) && *value != '\t')
			return false;
	return true;
}

static int parse_entry(struct export_pairs *pairs, char *entry, bool headers)
{
	char *equals = strchr(entry, '='), *name = entry, *value;

	if (!equals)
		return -EINVAL;
	*equals = '\0';
	value = equals + 1;
	trim(&name, equals);
	trim(&value, value + strlen(value));
	if (!decode(name) || !decode(value) || !*name || (headers && !is_header(name, value)))
		return -EINVAL;
	return export_pairs__set(pairs, name, value);
}

int export_pairs__parse(struct export_pairs *pairs, const char *text, bool headers,
			const char *variable, struct error *err)
{
	char *copy = strdup(text), *rest = copy, *entry;
	size_t number = 0;
	int ret = copy ? 0 : -ENOMEM;

	while (!ret && (entry = strsep(&rest, ","))) {
		number++;
		if (entry[strspn(entry, " \t")])
			ret = parse_entry(pairs, entry, headers);
	}
	if (copy)
		explicit_bzero(copy, strlen(text));
	free(copy);
	if (ret == -EINVAL)
		return error__set(err, ret, "entry %zu of %s is not %s", number, variable,
				  headers ? "HEADER=VALUE" : "NAME=VALUE");
	return ret ? error__set(err, ret, "out of memory") : 0;
}
