/* SPDX-License-Identifier: BSD-2-Clause */
/* What is the same in every SVG flame graph; each is the content of a CDATA section. */
#ifndef OUTPUT_FLAME_SVG_PAGE_H
#define OUTPUT_FLAME_SVG_PAGE_H

extern const char flame_svg_style[];

/*
 * Zoom, search and details. It reads names as text and writes them as text
 * alone: no name can become markup or code.
 */
extern const char flame_svg_script[];

#endif
