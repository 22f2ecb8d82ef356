// What others ask of the store again and again, and often while something else is written to it.
#include <algorithm>

#include "datasets/labels/label_store.h"

namespace moil::data {

bool LabelStore::has_all(std::span<const Digest> digests) const {
  const std::lock_guard guard(mutex_);
  Transaction snapshot(database_, Transaction::Kind::kRead);
  Statement select(database_, "SELECT 1 FROM samples WHERE digest = ?");
  return std::ranges::all_of(digests, [&](const Digest& digest) {
    const bool is_there = select.bind(digest.bytes).step();
    select.reset();
    return is_there;
  });
}

std::vector<std::int64_t> LabelStore::labelled_ids() const {
  const std::lock_guard guard(mutex_);
  Statement select(database_, "SELECT DISTINCT sample_id FROM sample_labels ORDER BY sample_id");
  std::vector<std::int64_t> ids;
  while (select.step()) ids.push_back(select.integer(0));
  return ids;
}

std::int64_t LabelStore::data_version() const {
  const std::lock_guard guard(mutex_);
  return database_.number("PRAGMA data_version");
}

}  // namespace moil::data
