/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of OTLP (KeyValue of opentelemetry/proto/common/v1/common.proto).
 *
 * Names come from watched processes. A receiver refuses a whole request for one byte that is not
 * UTF-8, so such bytes, and characters that a terminal would act on, become \xNN. Texts are cut at
 * OTLP_TEXT_MAX bytes.
 */
#ifndef OUTPUT_OTLP_ATTRIBUTES_H
#define OUTPUT_OTLP_ATTRIBUTES_H

#include "base/protobuf_buffer.h"

#define OTLP_TEXT_MAX 4096

/* Each writes one attribute as `field` of the message that holds it. An empty text has none. */
void otlp_attribute__text(struct protobuf_buffer *out, uint32_t field, const char *key,
			  const char *value);
void otlp_attribute__int(struct protobuf_buffer *out, uint32_t field, const char *key,
			 int64_t value);

/* Writes an AnyValue with this text. */
void otlp_value__text(struct protobuf_buffer *out, uint32_t field, const char *value);

#endif
