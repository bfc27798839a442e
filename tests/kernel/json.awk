# SPDX-License-Identifier: BSD-2-Clause
# Reads JSON and calls leaf(path, value) for every string, number and word in
# it, in order: {"a":[{"b":1}]} is leaf("a/0/b", "1"). Goes before a file that
# defines leaf.

function value_begins() {
	if (kind[depth] == "[")
		name[depth] = items[depth]++
}

function emit(text,   path, i) {
	value_begins()
	path = name[1]
	for (i = 2; i <= depth; i++)
		path = path "/" name[i]
	leaf(path, text)
}

function token(text) {
	if (text == "{" || text == "[") {
		value_begins()
		kind[++depth] = text
		items[depth] = 0
		key_is_next = text == "{"
	} else if (text == "}" || text == "]") {
		depth--
		key_is_next = 0
	} else if (text == ",") {
		key_is_next = kind[depth] == "{"
	} else if (text != ":") {
		if (text ~ /^"/)
			text = substr(text, 2, length(text) - 2)
		if (key_is_next)
			name[depth] = text
		else
			emit(text)
		key_is_next = 0
	}
}

{
	rest = $0
	while (match(rest, /^[ \t]*("([^"\\]|\\.)*"|[][{}:,]|[^][{}:," \t]+)/)) {
		text = substr(rest, 1, RLENGTH)
		rest = substr(rest, RLENGTH + 1)
		sub(/^[ \t]+/, "", text)
		token(text)
	}
}
