// What removed records leave in pages that live on: the unused middle of LMDB's tree pages, where
// old keys and values stay until something is written over them, and what lies behind a value that
// has a page of its own.
#pragma once

#include "featurecache/environment.h"
#include "featurecache/tables.h"

namespace moil::cache {

// Zeroes the unused part of every tree page of the file and of every value's page. Call while
// nobody can commit (Environment::look_exclusively), with everything committed on disk. Pages never
// change once they are committed and nobody reads their unused part, so readers are not disturbed.
// kIo.
void erase_slack(Environment& env, const Tables& tables);

}  // namespace moil::cache
