/* SPDX-License-Identifier: BSD-2-Clause */
/* Totals by device: a short list that grows as devices are seen. */
#ifndef MODEL_DEVICES_H
#define MODEL_DEVICES_H

#include "model/model.h"

/*
 * The totals of `device` (its number in the process, or DEVICE_UNKNOWN) in the list, which is
 * ordered by number and grown if needed. NULL without memory. Valid until the next call for the
 * list; the caller frees the list.
 */
struct device_totals *device_totals__of(struct device_totals **list, size_t *count, uint8_t device);

/* Zeroes all totals; the devices stay listed. */
void device_totals__reset(struct device_totals *list, size_t count);

/* Whether memory of this kind is on a device. */
bool memory_kind__is_device(enum memory_kind kind);

#endif
