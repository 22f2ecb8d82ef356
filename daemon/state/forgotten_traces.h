// What jobs keep of samples beyond their nights: names and digests in messages, events and results.
// They are looked for by a connection of its own, beside whoever writes, and removed a few at a
// time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/state/schema.h"
#include "datasets/labels/label_types.h"

namespace moil::daemon {

class ForgottenTraces {
 public:
  explicit ForgottenTraces(std::span<const data::ForgottenSample> samples);

  // A document that holds one of the samples.
  struct Place {
    std::size_t column = 0;
    std::int64_t first = 0, second = 0;  // its key
  };
  // Reads all documents there are; any thread that has the database.
  [[nodiscard]] std::vector<Place> find(const Database& database) const;
  // Replaces the digests, and the samples' names beside them, by words that tell nothing, and takes
  // the samples from lists of results. Expects the caller's transaction; what is overwritten is
  // erased with the next checkpoint.
  void remove(Database& database, const Place& place) const;

 private:
  std::unordered_map<std::string, std::string> names_;  // by digest, in hexadecimal digits
};

}  // namespace moil::daemon
