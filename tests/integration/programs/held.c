// SPDX-License-Identifier: BSD-2-Clause
/*
 * An extension module for Python that allocates while it holds the interpreter's lock, and calls
 * Python back. It declares the few functions of Python's stable ABI that it needs, so that it
 * builds without headers, once for all versions.
 */
#include <stddef.h>
#include <stdint.h>

typedef struct object object;

struct method {
	const char *name;
	object *(*function)(object *self, object *argument);
	int flags;
	const char *doc;
};

/* PyModuleDef, with an object's head before it. */
struct module {
	intptr_t references;
	void *type, *init;
	intptr_t index;
	object *copy;
	const char *name, *doc;
	intptr_t size;
	struct method *methods;
	void *slots, *traverse, *clear, *free;
};

#define METH_O 8
#define PYTHON_API_VERSION 1013

object *PyModule_Create2(struct module *module, int version);
object *PyObject_CallObject(object *callable, object *arguments);
object *PyLong_FromLong(long value);
size_t PyLong_AsSize_t(object *number);
int cudaMalloc(void **pointer, size_t size);

object *PyInit_held(void);

static object *allocate(object *self, object *argument)
{
	void *pointer;

	(void)self;
	return PyLong_FromLong(cudaMalloc(&pointer, PyLong_AsSize_t(argument)));
}

static object *call(object *self, object *argument)
{
	(void)self;
	return PyObject_CallObject(argument, NULL);
}

object *PyInit_held(void)
{
	static struct method methods[] = {
		{"allocate", allocate, METH_O, NULL},
		{"call", call, METH_O, NULL},
		{NULL, NULL, 0, NULL},
	};
	static struct module module = {
		.references = 1,
		.name = "held",
		.size = -1,
		.methods = methods,
	};

	return PyModule_Create2(&module, PYTHON_API_VERSION);
}
