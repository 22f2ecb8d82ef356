/* An OpenCL device that fails in the middle of its work, and stays failed.
 *
 * MOIL_DEVICE_FAILS says what fails then: "kernels" (none is taken any more, other commands are), "commands" (none
 * of any kind is taken), "events" (commands are taken, and end with an error), "crash" (its driver ends the process).
 * MOIL_DEVICE_WORKS_FOR is how many kernels it takes before, MOIL_DEVICE_WORKS_UNTIL a file: the counting begins once
 * that is there. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "next.h"

enum { kComplete = 0, kDeviceNotAvailable = -2, kOutOfResources = -5, kExecutionStatus = 0x11D3 }; /* of CL/cl.h */

/* What is handed through unseen. */
typedef void* Object;
typedef unsigned Count;

static const char* what; /* fails; NULL: nothing */
static const char* file;
static atomic_long left;
static atomic_int has_failed;

__attribute__((constructor)) static void begin(void) {
  const char* works_for = getenv("MOIL_DEVICE_WORKS_FOR");
  what = getenv("MOIL_DEVICE_FAILS");
  file = getenv("MOIL_DEVICE_WORKS_UNTIL");
  left = works_for ? atol(works_for) : 0;
}

static void count_kernel(void) {
  if (what == NULL || (file != NULL && access(file, F_OK) != 0)) return;
  if (atomic_fetch_sub(&left, 1) <= 0) has_failed = 1;
}

static int fails(const char* kind) { return has_failed && strcmp(what, kind) == 0; }

int clEnqueueNDRangeKernel(Object queue, Object kernel, Count dimensions, const size_t* offset, const size_t* global,
                           const size_t* local, Count waits, const Object* waited, Object* event) {
  NEXT(clEnqueueNDRangeKernel);
  count_kernel();
  if (fails("crash")) abort();
  if (fails("kernels")) return kOutOfResources;
  if (fails("commands")) return kDeviceNotAvailable;
  return next(queue, kernel, dimensions, offset, global, local, waits, waited, event);
}

void* clEnqueueMapBuffer(Object queue, Object buffer, Count blocking, unsigned long flags, size_t offset, size_t bytes,
                         Count waits, const Object* waited, Object* event, int* error) {
  NEXT(clEnqueueMapBuffer);
  if (!fails("commands")) return next(queue, buffer, blocking, flags, offset, bytes, waits, waited, event, error);
  *error = kDeviceNotAvailable;
  return NULL;
}

int clEnqueueUnmapMemObject(Object queue, Object buffer, void* address, Count waits, const Object* waited, Object* event) {
  NEXT(clEnqueueUnmapMemObject);
  return fails("commands") ? kDeviceNotAvailable : next(queue, buffer, address, waits, waited, event);
}

int clEnqueueMarkerWithWaitList(Object queue, Count waits, const Object* waited, Object* event) {
  NEXT(clEnqueueMarkerWithWaitList);
  return fails("commands") ? kDeviceNotAvailable : next(queue, waits, waited, event);
}

int clFlush(Object queue) {
  NEXT(clFlush);
  return fails("commands") ? kDeviceNotAvailable : next(queue);
}

int clGetEventInfo(Object event, Count asked, size_t room, void* value, size_t* bytes) {
  NEXT(clGetEventInfo);
  const int result = next(event, asked, room, value, bytes);
  if (asked == kExecutionStatus && value != NULL && *(int*)value == kComplete && fails("events"))
    *(int*)value = kOutOfResources;
  return result;
}
