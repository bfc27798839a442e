/* SPDX-License-Identifier: BSD-2-Clause */
/* The version of the trace's JSON, which each line contains. */
#ifndef OUTPUT_TRACE_SCHEMA_H
#define OUTPUT_TRACE_SCHEMA_H

/*
 * It is raised when a key changes its meaning or is removed; new keys do not raise it. Must be a
 * literal number, because it is converted to a string.
 */
#define TRACE_JSON_SCHEMA 1
#define TRACE_JSON_SCHEMA_TEXT TRACE_AS_TEXT(TRACE_JSON_SCHEMA)
#define TRACE_AS_TEXT(number) TRACE_AS_TEXT_(number)
#define TRACE_AS_TEXT_(number) #number

#endif
