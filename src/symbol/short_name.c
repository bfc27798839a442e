// SPDX-License-Identifier: BSD-2-Clause
// The bare function name of a kernel; see kernel_name__short in kernel_name.h.
#include <stdlib.h>
#include <string.h>

#include "symbol/kernel_name.h"
#include "symbol/name_scan.h"

static bool begins_word(const char *s, const char *start, const char *word)
{
	size_t length = strlen(word);

	return strncmp(s, word, length) == 0 && !name_scan__is_word(s[length]) &&
	       (s == start || !name_scan__is_word(s[-1]));
}

struct part {
	const char *start, *end; /* end is NULL while the name continues */
};

/*
 * Walks the text outside of brackets. "::" or a space begins a new part. Template arguments end the
 * name of a part. Parameters end the search, unless a "::" follows: then they belonged to an
 * enclosing function.
 */
static struct part find_last_part(const char *text)
{
	struct part part = {.start = text};
	const char *s = text;

	while (*s) {
		if (begins_word(s, text, "operator") && !part.end) {
			s = name_scan__skip_operator(s + strlen("operator"));
			part.end = s;
			if (strncmp(s, " <", 2) == 0) /* "operator< <int>" */
				s = name_scan__skip_group(s + 1);
		} else if (strncmp(s, "::", 2) == 0) {
			s += 2;
			part = (struct part){.start = s};
		} else if (*s == ' ' && s[1] == '[') { /* " [clone …]" */
			break;
		} else if (*s == ' ') {
			if (strncmp(s, " const::", 8) == 0) {
				s += 6;
				continue;
			}
			s++;
			part = (struct part){.start = s};
		} else if (strchr("(<[", *s)) {
			const char *end = name_scan__skip_group(s);

			if (*s == '(' && !name_scan__is_scope(s, end))
				break;
			if (!part.end && s > part.start)
				part.end = s;
			s = end;
		} else if (*s == '{') { /* "{lambda(int)#1}" is a name */
			s = name_scan__skip_group(s);
		} else {
			s++;
		}
	}
	if (!part.end)
		part.end = s;
	return part;
}

/*
 * Finds the function in a mangled name by its plain names: the last one before template arguments.
 */
static struct part find_in_mangled(const char *mangled)
{
	const char *s = mangled + 2;
	struct part part = {0};

	if (*s == 'N')
		s++;
	s += strspn(s, "rVK");
	if (strncmp(s, "St", 2) == 0)
		s += 2;
	while (*s) {
		char *end;
		unsigned long length;

		if (*s == 'L')
			s++;
		if (*s < '1' || *s > '9')
			break;
		length = strtoul(s, &end, 10);
		if (length > KERNEL_NAME_MAX || strnlen(end, length) < length)
			break;
		part = (struct part){.start = end, .end = end + length};
		s = part.end;
		if (mangled[2] != 'N')
			break;
	}
	return part;
}

char *kernel_name__short(const char *demangled)
{
	struct part part;

	if (strncmp(demangled, "_Z", 2) == 0)
		part = find_in_mangled(demangled);
	else
		part = find_last_part(demangled);
	if (!part.start || part.end <= part.start)
		return strdup(demangled);
	return strndup(part.start, (size_t)(part.end - part.start));
}
