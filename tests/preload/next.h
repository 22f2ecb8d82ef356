/* For functions that stand in front of a library's own of the same name. */
#pragma once

#include <dlfcn.h>

/* Declares `next`: the library's own. */
#define NEXT(name)               \
  static __typeof__(&name) next; \
  if (next == NULL) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
