// LMDB's list of free pages: which pages no snapshot from some commit on refers to.
//
// It is table 0 of every LMDB file: commit number -> the pages that this commit freed, a count and
// then page numbers, each a size_t. Readable in a read transaction only.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <vector>

#include "featurecache/environment.h"
#include "featurecache/tables.h"

namespace moil::cache {

// The pages freed by the commits up to last_commit, in ascending order.
std::vector<std::uint64_t> free_pages(const Environment& env, const ReadTransaction& txn,
                                      std::uint64_t last_commit = ~std::uint64_t{0});

// How many they are.
std::uint64_t count_free_pages(const Environment& env, const ReadTransaction& txn);

// Pages of the file that are neither free nor in any tree. Call while nobody can commit
// (Environment::look_exclusively).
std::uint64_t count_leaked_pages(const Environment& env, const ReadTransaction& txn,
                                 const Tables& tables);

}  // namespace moil::cache
