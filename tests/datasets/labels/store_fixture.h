// A label store in a folder of its own, and photos in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/labels/label_store.h"
#include "tests/datasets/support.h"

namespace moil::data::test {

class StoreFixture : public ::testing::Test {
 protected:
  Digest add(std::string_view content, const std::vector<std::string>& labels,
             std::string_view step = {}) {
    return store_.add_sample(bytes_of(photo(content)), labels, {}, {}, step).digest;
  }
  std::vector<std::string> labels_of(const Digest& digest) { return store_.find(digest)->labels; }

  TempFolder folder_;
  LabelStore store_{folder_ / "labels", LabelStore::Access::kReadWrite};
};

}  // namespace moil::data::test
