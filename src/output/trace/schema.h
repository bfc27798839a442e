/* SPDX-License-Identifier: BSD-2-Clause */
/* The version of the trace's JSON, as each of its lines has it. */
#ifndef OUTPUT_TRACE_SCHEMA_H
#define OUTPUT_TRACE_SCHEMA_H

/*
 * It is raised when a key changes its meaning or goes; new keys may come
 * without. A number, as it is made a text of.
 */
#define TRACE_JSON_SCHEMA 1

#endif
