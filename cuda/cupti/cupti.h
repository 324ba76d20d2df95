/*
 * What Go calls of libcupti.c: CUPTI's functions by their addresses, the pool of activity buffers, and the few functions of
 * the driver that a capture needs. Every function returns CUPTI's (or the driver's) result, or ABSENT.
 */
#ifndef GANDER_CUPTI_H
#define GANDER_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define ABSENT (-1) /* this version of the library has no such function */

/* gander_cupti_symbol is the name of function i, NULL after the last one; bind sets its address. */
HIDDEN const char *gander_cupti_symbol(int i);
HIDDEN void gander_cupti_bind(int i, void *address);

HIDDEN int gander_cupti_version(uint32_t *v);
HIDDEN int gander_cupti_timestamp(uint64_t *ns);
HIDDEN const char *gander_cupti_error(int result);
HIDDEN int gander_cupti_stride(uint32_t kind, void *scratch, size_t size, size_t *stride);
HIDDEN int gander_cupti_subscribe(void);
HIDDEN int gander_cupti_unsubscribe(void);
HIDDEN int gander_cupti_prepare(void);
HIDDEN int gander_cupti_enable(int kind);
HIDDEN int gander_cupti_disable(int kind);
HIDDEN int gander_cupti_flush(uint32_t forced);
HIDDEN int gander_cupti_dropped(size_t *n);
HIDDEN int gander_cupti_push(uint64_t id);
HIDDEN int gander_cupti_pop(uint64_t id);
HIDDEN const char *gander_cupti_call_name(int domain, uint32_t cbid);

typedef struct gander_buffer {
	struct gander_buffer *next;
	uint8_t *data;
	size_t size, valid;
} gander_buffer;

/* gander_pool_limit sets how many buffers of a size there may be, and whether requests beyond them may be refused. */
HIDDEN void gander_pool_limit(int count, size_t size, int may_refuse);
/* gander_pool_take waits for a full buffer; NULL after timeout_ms or gander_pool_wake. The caller gives it back. */
HIDDEN gander_buffer *gander_pool_take(int timeout_ms);
HIDDEN void gander_pool_give(gander_buffer *b);
HIDDEN void gander_pool_wake(void);
/* gander_pool_lost returns and forgets the bytes of records that found no buffer in time, and how many buffers exist. */
HIDDEN void gander_pool_lost(uint64_t *bytes, uint64_t *refused, int *made);

/* gander_buffer_offsets lists where the records of a buffer begin, by the library's own steps: at most max of them from
 * *at on (NULL at first). It returns their number; *end is why it stopped: 0 there are more, 12 the end, else an error. */
HIDDEN int gander_buffer_offsets(gander_buffer *b, void **at, uint32_t *offsets, int max, int *end);

/* The driver. */
HIDDEN const char *gander_driver_symbol(int i);
HIDDEN void gander_driver_bind(int i, void *address);
HIDDEN int gander_driver_init(void);
HIDDEN int gander_driver_version(int *v);
HIDDEN int gander_driver_count(int *n);
HIDDEN int gander_driver_attribute(int *v, int attribute, int device);
HIDDEN int gander_driver_name(char *name, int size, int device);
HIDDEN int gander_driver_memory(size_t *total, int device);
/* gander_driver_synchronize waits for all work of the contexts that this process has: the devices' primary ones, and
 * those that were made while a capture ran. */
HIDDEN int gander_driver_synchronize(void);

#endif
