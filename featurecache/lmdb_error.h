// LMDB's return codes as moil::Error, in one place.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace moil::cache {

// MDB_MAP_FULL: caught by Environment::write(), which grows the map and runs the body again.
class MapFull : public Error {
 public:
  MapFull() : Error(ErrorCode::kResourceExhausted, "the feature cache's map is full") {}
};

// Throws MapFull for MDB_MAP_FULL, otherwise a moil::Error "cannot <doing> the feature cache ...":
// a full disk is DiskFull, a damaged file Unusable (discard.h), both with what to do next.
[[noreturn]] void throw_lmdb_error(int rc, const std::filesystem::path& folder,
                                   std::string_view doing);

}  // namespace moil::cache
