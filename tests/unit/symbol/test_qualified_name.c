// SPDX-License-Identifier: BSD-2-Clause
// C++ function names without arguments.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/qualified_name.h"

static void assert_name(const char *demangled, const char *expected)
{
	char name[512];

	qualified_name__write(demangled, name, sizeof(name));
	assert_string_equal(name, expected);
}

static void what_is_no_name_is_left_out(void **state)
{
	(void)state;
	assert_name("grow_cache(Cache&, unsigned long)", "grow_cache");
	assert_name("at::cuda::getCurrentCUDABlasHandle()", "at::cuda::getCurrentCUDABlasHandle");
	assert_name("void at::cuda::blas::gemm<float, at::OpMathType<float>::type>(char, long)",
		    "at::cuda::blas::gemm");
	assert_name("std::vector<int, std::allocator<int> >::push_back(int&&)",
		    "std::vector::push_back");
	assert_name("at::native::(anonymous namespace)::fill(at::Tensor&) [clone .isra.0]",
		    "at::native::fill");
	assert_name("Model::size() const", "Model::size");
	assert_name("Model::take() &&", "Model::take");
	assert_name("const char* name_of<Shape<2> >(Shape<2> const&)", "name_of");
	assert_name("std::function<int (char)> make(int)", "make");
	assert_name("decltype (f(0)) twice<long>(long)", "twice");
}

static void names_in_functions(void **state)
{
	(void)state;
	assert_name("run(int)::{lambda(int)#1}::operator()(int) const",
		    "run::{lambda#1}::operator()");
	assert_name("Model::step(int) const::Local::go()", "Model::step::Local::go");
	assert_name("f(decltype (g()->h()) (*)(int))::inner(int)", "f::inner");
}

static void operators(void **state)
{
	(void)state;
	assert_name("torch::autograd::Node::operator()(std::vector<at::Tensor>&&)",
		    "torch::autograd::Node::operator()");
	assert_name("std::ostream& operator<< <char>(std::ostream&, char)", "operator<<");
	assert_name("a::operator->() const", "a::operator->");
	assert_name("a::operator bool() const", "a::operator bool");
	assert_name("operator new(unsigned long)", "operator new");
	assert_name("my_operator(int)", "my_operator");
	assert_name("operators::run(int)", "operators::run");
}

static void other_names_stay(void **state)
{
	(void)state;
	assert_name("", "");
	assert_name("cublasCreate_v2", "cublasCreate_v2");
	assert_name("_ZN2at6nativeE", "_ZN2at6nativeE");
	assert_name("<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		    "<alloc::vec::Vec<T> as core::ops::Drop>::drop");
	assert_name("(int)", "(int)");
	assert_name("f(((((", "f");
	assert_name(">>)))", ">>)))");
}

static void long_names_are_cut(void **state)
{
	char *name = malloc(1 << 20), cut[8];

	(void)state;
	assert_non_null(name);
	memset(name, '<', (1 << 20) - 1);
	name[0] = 'f';
	name[(1 << 20) - 1] = '\0';
	assert_name(name, "f");
	memset(name, 'f', (1 << 20) - 1);
	qualified_name__write(name, cut, sizeof(cut));
	assert_string_equal(cut, "fffffff");
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_name_is_left_out),
		cmocka_unit_test(names_in_functions),
		cmocka_unit_test(operators),
		cmocka_unit_test(other_names_stay),
		cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
