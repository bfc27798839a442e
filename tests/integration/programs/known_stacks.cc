// SPDX-License-Identifier: BSD-2-Clause
/*
 * As known_stacks.c, for what C++ has besides: methods, templates, lambdas,
 * exceptions that are under way, constructors before main.
 *
 *   known_stacks TRUTH
 */
#include <stdexcept>

#include "known_stacks.h"

extern "C" int cudaMalloc(void **address, unsigned long size);
extern "C" int cudaFree(void *address);

namespace shop {

struct Cache {
	unsigned long size;
	KNOWN void grow(unsigned long bytes);
	KNOWN ~Cache();
};

KNOWN void Cache::grow(unsigned long bytes)
{
	ENTER("shop::Cache::grow(unsigned long)");
	void *address;

	if (CUDA_CALL("cudaMalloc", bytes, cudaMalloc(&address, bytes)))
		abort();
	size += bytes;
}

/* Called as the exception passes. */
KNOWN Cache::~Cache()
{
	ENTER("shop::Cache::~Cache()");

	CALL(grow(size));
}

struct Store {
	virtual KNOWN void fill(int value, Cache &cache) = 0;
	virtual ~Store() = default;
};

template <typename T> struct Basket : Store {
	KNOWN void fill(int value, Cache &cache) override;
};

template <typename T> KNOWN void Basket<T>::fill(int value, Cache &cache)
{
	ENTER("shop::Basket<int>::fill(int, shop::Cache&)");

	if (value)
		CALL(fill(value - 1, cache));
	else
		CALL(cache.grow(2001));
}

template struct Basket<int>;

namespace {

KNOWN void hidden(Store &store, Cache &cache)
{
	ENTER("shop::(anonymous namespace)::hidden(shop::Store&, shop::Cache&)");

	CALL(store.fill(40, cache));
}

} // namespace

KNOWN void throwing(unsigned long number)
{
	ENTER("shop::throwing(unsigned long)");

	try {
		throw std::runtime_error("caught at once");
	} catch (const std::exception &) {
		void *address = reinterpret_cast<void *>(number);

		if (!CUDA_CALL("cudaFree", number, cudaFree(address)))
			abort();
	}
}

} // namespace shop

int main(int, char **arguments)
{
	known_open(arguments[1]);
	ENTER("main");
	shop::Basket<int> basket;
	shop::Cache *cache = new shop::Cache{2002};

	CALL(shop::hidden(basket, *cache));
	CALL(shop::throwing(2003));
	cache->size = 2004;
	CALL(cache->~Cache());
	return 0;
}
