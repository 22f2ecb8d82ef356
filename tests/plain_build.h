// Tests that not every build can run say so first. A build that leaves out what the sanitizers'
// build runs (cmake/TestsOnce.cmake) keeps the files in which one of these words stands.
#pragma once

#include <gtest/gtest.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MOIL_NEEDS_PLAIN_BUILD(why) GTEST_SKIP() << (why)
#else
#define MOIL_NEEDS_PLAIN_BUILD(why) static_cast<void>(0)
#endif

// A test of the memory that a process takes.
#define MOIL_NEEDS_TRUE_MEMORY() \
  MOIL_NEEDS_PLAIN_BUILD("the sanitizer keeps what is freed, and a shadow of every byte")

// What is to hold in each build: bits that compilers may change, sweeps that a sanitizer shortens.
#define MOIL_NEEDS_BOTH_BUILDS() static_cast<void>(0)
