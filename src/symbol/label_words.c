// SPDX-License-Identifier: BSD-2-Clause
// The words of kernel labels, see label_words.h.
#include "symbol/label_words.h"

#include <ctype.h>
#include <string.h>

#define ALL (~0u)
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct type_word {
	const char *name;
	const char *word;
};

/* clang-format off */
static const struct type_word types[] = {
	{"float", "float"}, {"double", "double"}, {"bool", "bool"}, {"char", "char"},
	{"int", "int"}, {"unsigned int", "uint"}, {"long", "int64"}, {"long long", "int64"},
	{"unsigned long", "uint64"}, {"unsigned long long", "uint64"},
	{"short", "int16"}, {"unsigned short", "uint16"},
	{"signed char", "int8"}, {"unsigned char", "uint8"},
	{"BFloat16", "bf16"}, {"__nv_bfloat16", "bf16"}, {"bfloat16_t", "bf16"}, {"bfloat16", "bf16"},
	{"Half", "half"}, {"__half", "half"}, {"half_t", "half"}, {"half", "half"},
	{"tfloat32_t", "tf32"},
	{"Float8_e4m3fn", "fp8_e4m3"}, {"__nv_fp8_e4m3", "fp8_e4m3"}, {"float_e4m3_t", "fp8_e4m3"},
	{"Float8_e5m2", "fp8_e5m2"}, {"__nv_fp8_e5m2", "fp8_e5m2"}, {"float_e5m2_t", "fp8_e5m2"},
	{"float2", "float2"}, {"double2", "double2"}, {"__half2", "half2"}, {"__nv_bfloat162", "bf162"},
	{"qint8", "qint8"}, {"quint8", "quint8"}, {"qint32", "qint32"},
};

/*
 * Classes and functions among template arguments, and kernels. Names that are not here follow the
 * rules of label_words__class.
 */
static const struct label_class classes[] = {
	/* PyTorch: what runs a functor for each element */
	{"gpu_kernel_impl", "cast", LABEL_OPEN, 1},
	{"gpu_kernel_impl_nocast", NULL, LABEL_OPEN, 1},
	{"gpu_index_kernel", NULL, LABEL_OPEN, 1},
	{"uniform_and_transform", NULL, LABEL_OPEN, 1 | 8},
	{"normal_and_transform", NULL, LABEL_OPEN, 1 | 8},
	{"distribution_nullary_kernel", NULL, LABEL_OPEN, 1},
	{"BinaryFunctor", NULL, LABEL_OPEN, 1 | 8},
	{"AUnaryFunctor", NULL, LABEL_NAMED, 1 | 8},
	{"BUnaryFunctor", NULL, LABEL_NAMED, 1 | 8},
	{"ReduceOp", NULL, LABEL_OPEN, 1 | 2},
	{"func_wrapper_t", NULL, LABEL_OPEN, ALL},
	{"OpaqueType", NULL, LABEL_BYTES, 0},
	{"LoadWithCast", "cast", LABEL_LEFT_OUT, 0},
	{"StoreWithCast", "cast", LABEL_LEFT_OUT, 0},
	{"LoadWithoutCast", NULL, LABEL_LEFT_OUT, 0},
	{"StoreWithoutCast", NULL, LABEL_LEFT_OUT, 0},
	{"array", NULL, LABEL_LEFT_OUT, 0},
	{"multi_tensor_apply_kernel", NULL, LABEL_NAMED, 1 | 2 | 4},
	{"CUDAGeneratorImpl", NULL, LABEL_LEFT_OUT, 0},
	{"TrivialOffsetCalculator", NULL, LABEL_LEFT_OUT, 0},
	{"OffsetCalculator", NULL, LABEL_LEFT_OUT, 0},
	/* CUTLASS and what is built on it */
	{"GemmShape", NULL, LABEL_SHAPE, 0},
	{"MatrixShape", NULL, LABEL_SHAPE, 0},
	{"tuple", NULL, LABEL_SHAPE, 0},
	{"GemmUniversal", NULL, LABEL_NAMED, 1 | 2}, /* not the epilogue */
	{"CollectiveMma", NULL, LABEL_OPEN, 2 | 4 | 16}, /* tile, types of the operands */
	{"Flash_fwd_kernel_traits", NULL, LABEL_FLASH, 0},
	{"Flash_bwd_kernel_traits", NULL, LABEL_FLASH, 0},
	/* cub, thrust, cuFFT */
	{"NullType", NULL, LABEL_LEFT_OUT, 0},
	{"identity", NULL, LABEL_LEFT_OUT, 0},
	{"identity_decomposer_t", NULL, LABEL_LEFT_OUT, 0},
	{"use_default", NULL, LABEL_LEFT_OUT, 0},
	{"HostConfigPlaceholder", NULL, LABEL_LEFT_OUT, 0},
	{"void", NULL, LABEL_LEFT_OUT, 0},
	{"__identity", NULL, LABEL_LEFT_OUT, 0},
	{"VSMemHelper", NULL, LABEL_LEFT_OUT, 0},
	{"InputValue", NULL, LABEL_TYPES, 0},
	{"streaming_context_t", NULL, LABEL_TYPES, 0},
	{"policy_hub", NULL, LABEL_TYPES, 0},
	{"policy_hub_t", NULL, LABEL_TYPES, 0},
	{"pair", NULL, LABEL_TYPES, 0},
	{"ScanTileState", NULL, LABEL_TYPES, 0},
};

static const char *const generic[] = {"kernel", "Kernel", "Kernel2", "device_kernel"};

/* Removed from the ends of a functor's name, again and again. */
static const char *const functor_suffixes[] = {"MathFunctor", "Functor", "_functor", "Ops"};
/* The same for functions with lambdas; longer ones first. */
static const char *const function_suffixes[] = {
	"CUDAKernelImplInternal", "CUDAKernelImpl", "KernelImplInternal", "KernelImpl",
	"_kernel_cuda", "_cuda_kernel", "_functor", "Functor", "_kernel", "_impl", "_internal",
	"_cuda_", "_cuda", "_gpu", "_out", "_",
};
static const char *const function_prefixes[] = {"launch_", "_cuda_", "_"};
/* clang-format on */

const char *label_words__type(const struct name_part *part)
{
	for (size_t i = 0; i < COUNT(types); i++) {
		if (name_part__is(part, types[i].name))
			return types[i].word;
	}
	return NULL;
}

const char *label_words__complex(const struct name_part *part)
{
	if (name_part__is(part, "float"))
		return "complex64";
	return name_part__is(part, "double") ? "complex128" : NULL;
}

bool label_words__is_index(const char *type)
{
	static const char *const words[] = {"int", "uint", "int64", "uint64", "bool"};

	for (size_t i = 0; type && i < COUNT(words); i++) {
		if (!strcmp(type, words[i]))
			return true;
	}
	return false;
}

static bool ends_with(const char *text, size_t length, const char *suffix)
{
	size_t size = strlen(suffix);

	return length >= size && !memcmp(text + length - size, suffix, size);
}

const struct label_class *label_words__class(const struct name_part *part)
{
	static const struct label_class named = {.form = LABEL_NAMED, .arguments = ALL};
	static const struct label_class opened = {.form = LABEL_OPEN, .arguments = ALL};
	static const struct label_class only_types = {.form = LABEL_TYPES};
	static const char *const carriers[] = {
		"Params",   "ParamsEx", "ParamsVal", "Metadata", "Policy",
		"iterator", "Iterator", "_ptr",	     "Tensor",	 "StridedBatched",
		"Coeff",    "Coeffs",	"Calculator"};

	for (size_t i = 0; i < COUNT(classes); i++) {
		if (name_part__is(part, classes[i].name))
			return &classes[i];
	}
	if (ends_with(part->text, part->length, "_params_"))
		return &opened;
	for (size_t i = 0; i < COUNT(carriers); i++) {
		if (ends_with(part->text, part->length, carriers[i]))
			return &only_types;
	}
	return &named;
}

bool label_words__is_generic(const struct name_part *part)
{
	for (size_t i = 0; i < COUNT(generic); i++) {
		if (name_part__is(part, generic[i]))
			return true;
	}
	return false;
}

bool label_words__is_generic_text(const char *name)
{
	const struct name_part part = {.text = name, .length = (uint16_t)strlen(name)};

	return label_words__is_generic(&part);
}

/*
 * The first booleans of flash attention's kernels are the same in all of its versions. The others
 * follow from the shapes.
 */
static const struct {
	const char *kernel;
	const char *names[2];
} flags[] = {
	{"flash_fwd_kernel", {"dropout", "causal"}},
	{"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", {"dropout", "causal"}},
	{"flash_fwd_splitkv_kernel", {"causal", ""}},
};

const char *label_words__flag(const struct name_part *kernel, unsigned int number)
{
	for (size_t i = 0; i < COUNT(flags); i++) {
		if (name_part__is(kernel, flags[i].kernel))
			return number < COUNT(flags[i].names) ? flags[i].names[number] : "";
	}
	return NULL;
}

/* Removes suffixes while something is left. */
static size_t without_suffixes(const char *text, size_t length, const char *const *suffixes,
			       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (length > strlen(suffixes[i]) && ends_with(text, length, suffixes[i])) {
			length -= strlen(suffixes[i]);
			i = SIZE_MAX; /* from the first one again */
		}
	}
	return length;
}

size_t label_words__kernel(const struct name_part *kernel)
{
	static const char *const suffixes[] = {"_params_"};
	size_t length = kernel->length;

	if (length > 6 && !memcmp(kernel->text, "flash_", 6) &&
	    ends_with(kernel->text, length, "_kernel"))
		length -= strlen("_kernel");
	return without_suffixes(kernel->text, length, suffixes, COUNT(suffixes));
}

size_t label_words__functor(const struct name_part *part, char *out, size_t size)
{
	static const char prefix[] = "CUDAFunctor";
	const char *text = part->text;
	size_t length = part->length;

	if (length > sizeof(prefix) && !memcmp(text, prefix, sizeof(prefix) - 1)) {
		text += sizeof(prefix) - 1;
		length -= sizeof(prefix) - 1;
		if (*text == '_') {
			text++;
			length--;
		}
	}
	length = without_suffixes(text, length, functor_suffixes, COUNT(functor_suffixes));
	if (length > size - 1)
		length = size - 1;
	memcpy(out, text, length);
	out[length] = '\0';
	return length;
}

/* "LayerNormBackward" becomes "layer_norm_backward". */
static size_t to_snake(const char *text, size_t length, char *out, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < length && used + 2 < size; i++) {
		if (i && isupper((unsigned char)text[i]) && islower((unsigned char)text[i - 1]))
			out[used++] = '_';
		out[used++] = (char)tolower((unsigned char)text[i]);
	}
	out[used] = '\0';
	return used;
}

size_t label_words__function(const struct name_part *part, char *out, size_t size)
{
	const char *text = part->text;
	size_t length =
		without_suffixes(text, part->length, function_suffixes, COUNT(function_suffixes));

	for (size_t i = 0; i < COUNT(function_prefixes); i++) {
		size_t prefix = strlen(function_prefixes[i]);

		if (length > prefix && !memcmp(text, function_prefixes[i], prefix)) {
			text += prefix;
			length -= prefix;
		}
	}
	if (isupper((unsigned char)*text))
		return to_snake(text, length, out, size);
	if (length > size - 1)
		length = size - 1;
	memcpy(out, text, length);
	out[length] = '\0';
	return length;
}
