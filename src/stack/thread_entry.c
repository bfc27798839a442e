// SPDX-License-Identifier: BSD-2-Clause
// Where threads begin; see thread_entry.h.
#include "stack/thread_entry.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CODE_BYTES 10

/* Some names have a version or a compiler suffix: __libc_start_main_impl, runtime.goexit.abi0. */
static const struct {
	const char *name;
	bool may_go_on;
} beginnings[] = {
	{"_start", false},
	{"_start_c", false},
	{"_dl_start_user", false},
	{"__libc_start_main", true},
	{"generic_start_main", true},
	{"__libc_start_call_main", true},
	{"libc_start_main_stage2", true},
	{"start_thread", true},
	{"clone", false},
	{"clone3", false},
	{"__clone", false},
	{"__clone3", false},
	{"__clone_internal", true},
	{"thread_start", false},
	{"runtime.goexit", true},
	{"runtime.mstart", true},
	{"runtime.rt0_go", true},
};

#define INTERNAL "__GI_" /* prefix of glibc's internal aliases */

bool thread_entry__is_name(const char *function)
{
	if (!strncmp(function, INTERNAL, sizeof(INTERNAL) - 1))
		function += sizeof(INTERNAL) - 1;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		size_t length = strlen(beginnings[i].name);

		if (strncmp(function, beginnings[i].name, length))
			continue;
		if (!function[length] || beginnings[i].may_go_on)
			return true;
	}
	return false;
}

/* Recognises the code after the call in a function without a name. */
static bool is_code(const uint8_t code[CODE_BYTES], bool in_libc)
{
	static const uint8_t halt[] = {0xf4}; /* _start */
	/* clone */
	static const uint8_t end_thread[] = {0x48, 0x89, 0xc7, 0xb8, 0x3c,
					     0x00, 0x00, 0x00, 0x0f, 0x05};
	/* exit(main()) in libc's start */
	static const uint8_t end_process[] = {0x89, 0xc7, 0xe8};
	static const uint8_t keep_result[] = {0x64, 0x48, 0x89, 0x04, 0x25}; /* start_thread */

	if (!memcmp(code, halt, sizeof(halt)) || !memcmp(code, end_thread, sizeof(end_thread)))
		return true;
	return in_libc && (!memcmp(code, end_process, sizeof(end_process)) ||
			   !memcmp(code, keep_result, sizeof(keep_result)));
}

bool thread_entry__is(struct memory_reader *memory, const struct native_frame *frame,
		      uint64_t address, pid_t pid)
{
	uint8_t code[CODE_BYTES];
	bool in_libc;

	if (frame->function)
		return thread_entry__is_name(frame->function);
	if (!frame->object || !pid || memory_reader__read(memory, pid, address, code, sizeof(code)))
		return false;
	in_libc = !strncmp(frame->object, "libc.so", 7) || !strncmp(frame->object, "libc-2.", 7) ||
		  !strncmp(frame->object, "libpthread", 10);
	return is_code(code, in_libc);
}
