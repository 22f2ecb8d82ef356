// Tests of the memory that a process takes begin with MOIL_NEEDS_TRUE_MEMORY().
#pragma once

#include <gtest/gtest.h>

#if defined(__SANITIZE_ADDRESS__)
#define MOIL_NEEDS_TRUE_MEMORY() \
  GTEST_SKIP() << "the sanitizer keeps what is freed, and a shadow of every byte"
#else
#define MOIL_NEEDS_TRUE_MEMORY() static_cast<void>(0)
#endif
