// SPDX-License-Identifier: BSD-2-Clause
// Operands of static probe points, as assemblers write them.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "target/operand.h"

static bool find(const char *name, int64_t *distance, void *arg)
{
	(void)arg;
	*distance = 1000;
	return !strcmp(name, "counter");
}

/* "memory 8s rbx... ": kind, size with sign, base, index, scale, shift, value. */
static void describe(enum operand_machine machine, const char *text, char out[128])
{
	const struct operand_reader reader = {machine, find, NULL};
	struct probe_operand o;
	int ret = operand__next(&reader, &text, &o);

	if (ret < 0) {
		snprintf(out, 128, "-");
		return;
	}
	assert_int_equal(ret, 1);
	assert_string_equal(text, "");
	snprintf(out, 128, "%s %u%s base %d index %d x%u >>%u %lld",
		 o.kind == OPERAND_CONSTANT ? "constant" :
		 o.kind == OPERAND_REGISTER ? "register" :
					      "memory",
		 o.size, o.is_signed ? "s" : "", o.base == OPERAND_NO_REGISTER ? -1 : o.base,
		 o.index == OPERAND_NO_REGISTER ? -1 : o.index, o.scale, o.shift,
		 (long long)o.value);
}

struct form {
	const char *text, *parsed; /* "-": not understood */
};

static void check(enum operand_machine machine, const struct form *forms, size_t count)
{
	char parsed[128];

	for (size_t i = 0; i < count; i++) {
		describe(machine, forms[i].text, parsed);
		if (strcmp(parsed, forms[i].parsed))
			fail_msg("%s: %s, expected %s", forms[i].text, parsed, forms[i].parsed);
	}
}

static void forms_of_x86_64(void **state)
{
	static const struct form forms[] = {
		/* those of PyTorch's wheels */
		{"-8@%rax", "register 8s base 0 index -1 x1 >>0 0"},
		{"-1@%dl", "register 1s base 2 index -1 x1 >>0 0"},
		{"-8@%r14", "register 8s base 14 index -1 x1 >>0 0"},
		{"-8@-56(%rbp)", "memory 8s base 5 index -1 x1 >>0 -56"},
		{"-8@%rdi", "register 8s base 7 index -1 x1 >>0 0"},
		/* parts of registers */
		{"1@%ah", "register 1 base 0 index -1 x1 >>8 0"},
		{"1@%bh", "register 1 base 3 index -1 x1 >>8 0"},
		{"2@%ax", "register 2 base 0 index -1 x1 >>0 0"},
		{"-4@%eax", "register 4s base 0 index -1 x1 >>0 0"},
		{"1@%sil", "register 1 base 6 index -1 x1 >>0 0"},
		{"1@%spl", "register 1 base 4 index -1 x1 >>0 0"},
		{"4@%r8d", "register 4 base 8 index -1 x1 >>0 0"},
		{"2@%r15w", "register 2 base 15 index -1 x1 >>0 0"},
		{"1@%r9b", "register 1 base 9 index -1 x1 >>0 0"},
		{"4@%rcx", "register 4 base 1 index -1 x1 >>0 0"},
		{"%rcx", "register 8 base 1 index -1 x1 >>0 0"},
		/* constants */
		{"4@$5", "constant 4 base -1 index -1 x1 >>0 5"},
		{"-4@$-1", "constant 4s base -1 index -1 x1 >>0 -1"},
		{"8@$0x10", "constant 8 base -1 index -1 x1 >>0 16"},
		{"8@$18446744073709551615", "constant 8 base -1 index -1 x1 >>0 -1"},
		/* memory */
		{"8@(%rax)", "memory 8 base 0 index -1 x1 >>0 0"},
		{"8@(%rax,%rbx)", "memory 8 base 0 index 3 x1 >>0 0"},
		{"8@(%rax,%rbx,4)", "memory 8 base 0 index 3 x4 >>0 0"},
		{"8@-8(%r12,%r13,2)", "memory 8 base 12 index 13 x2 >>0 -8"},
		{"4@16(,%rcx,8)", "memory 4 base -1 index 1 x8 >>0 16"},
		{"8@( %rax )", "-"},
		{"8@counter(%rip)", "memory 8 base 16 index -1 x1 >>0 1000"},
		{"8@counter+8(%rip)", "memory 8 base 16 index -1 x1 >>0 1008"},
		{"8@-8+counter(%rip)", "memory 8 base 16 index -1 x1 >>0 992"},
		/* not understood */
		{"8@unknown(%rip)", "-"},
		{"8@16(%rip)", "-"},
		{"8@counter", "-"},
		{"8@%eax", "-"},
		{"2@%al", "-"},
		{"3@%rax", "-"},
		{"16@%xmm0", "-"},
		{"8@%xmm0", "-"},
		{"8@%rip", "-"},
		{"8@%r16", "-"},
		{"8@%r7", "-"},
		{"8@%r8x", "-"},
		{"8@%", "-"},
		{"8@$", "-"},
		{"8@", "-"},
		{"8@$5x", "-"},
		{"8@$99999999999999999999", "-"},
		{"8@(%rax,%rsp,2)", "-"},
		{"8@(%rax,%rbx,3)", "-"},
		{"8@(%rax,%ebx,4)", "-"},
		{"8@(%eax)", "-"},
		{"8@(%rax", "-"},
		{"8@()", "-"},
		{"8@%fs:16", "-"},
		{"8@x0", "-"},
	};

	(void)state;
	check(OPERAND_X86_64, forms, sizeof(forms) / sizeof(*forms));
}

static void forms_of_aarch64(void **state)
{
	static const struct form forms[] = {
		{"8@x0", "register 8 base 0 index -1 x1 >>0 0"},
		{"-4@w30", "register 4s base 30 index -1 x1 >>0 0"},
		{"-1@x5", "register 1s base 5 index -1 x1 >>0 0"},
		{"8@sp", "register 8 base 31 index -1 x1 >>0 0"},
		{"4@[sp, 12]", "memory 4 base 31 index -1 x1 >>0 12"},
		{"4@[sp]", "memory 4 base 31 index -1 x1 >>0 0"},
		{"8@[x29, #-16]", "memory 8 base 29 index -1 x1 >>0 -16"},
		{"8@[x1,x2]", "memory 8 base 1 index 2 x1 >>0 0"},
		{"8@[x1, x2, lsl 3]", "memory 8 base 1 index 2 x8 >>0 0"},
		{"-4@5", "constant 4s base -1 index -1 x1 >>0 5"},
		{"-4@-7", "constant 4s base -1 index -1 x1 >>0 -7"},
		{"8@x31", "-"},
		{"8@w0", "-"},
		{"8@[w0]", "-"},
		{"8@[x1, x2, lsl 4]", "-"},
		{"8@[x1", "-"},
		{"8@%rax", "-"},
		{"8@q0", "-"},
	};

	(void)state;
	check(OPERAND_AARCH64, forms, sizeof(forms) / sizeof(*forms));
}

static void lists_of_operands(void **state)
{
	const struct operand_reader reader = {OPERAND_X86_64, NULL, NULL};
	const char *text = " -8@%rax  4@(%rbx, %rcx, 4) 8@%what\t1@$3 ";
	struct probe_operand o;
	char long_text[600];

	(void)state;
	assert_int_equal(operand__next(&reader, &text, &o), 1);
	assert_int_equal(o.base, OPERAND_AX);
	assert_int_equal(operand__next(&reader, &text, &o), 1);
	assert_int_equal(o.index, OPERAND_CX);
	/* An operand that it does not understand is skipped. */
	assert_int_equal(operand__next(&reader, &text, &o), -EBADMSG);
	assert_int_equal(operand__next(&reader, &text, &o), 1);
	assert_int_equal(o.value, 3);
	assert_int_equal(operand__next(&reader, &text, &o), 0);
	memset(long_text, 'a', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	text = long_text;
	assert_int_equal(operand__next(&reader, &text, &o), -EBADMSG);
	assert_int_equal(operand__next(&reader, &text, &o), 0);
	text = "8@((((((((((((";
	assert_int_equal(operand__next(&reader, &text, &o), -EBADMSG);
	assert_int_equal(operand__next(&reader, &text, &o), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_of_x86_64),
		cmocka_unit_test(forms_of_aarch64),
		cmocka_unit_test(lists_of_operands),
	};

	return cmocka_run_group_tests_name("operand", tests, NULL, NULL);
}
