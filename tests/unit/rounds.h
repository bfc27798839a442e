/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rounds of tests that repeat one path with other numbers. Under sanitizers a round takes up to
 * fifty times as long. A fifth of the rounds takes each path there, too; the build without
 * sanitizers runs all.
 */
#ifndef TESTS_ROUNDS_H
#define TESTS_ROUNDS_H

#ifdef GPUPROBE_SANITIZED
#define ROUNDS(all) ((all) / 5)
#else
#define ROUNDS(all) (all)
#endif

#endif
