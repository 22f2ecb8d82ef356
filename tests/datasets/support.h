// The vocabulary of this folder's tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "datasets/images/codec.h"
#include "datasets/samples/dataset.h"

namespace moil::data::test {

// A folder of its own for a test, removed with its content at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = ::testing::TempDir() + "/moil-XXXXXX";
    if (!::mkdtemp(name.data())) std::abort();
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline Image image_of(const SampleDataset& dataset, std::size_t i) {
  return decode_image(dataset.encoded(i), dataset.name(i));
}

inline void write_bytes(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  write_bytes(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

inline std::vector<std::uint8_t> bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

// What a label store takes for a photo: the first bytes of a JPEG, then the text.
inline std::string photo(std::string_view text) { return "\xff\xd8\xff" + std::string(text); }

// The action throws moil::Error with this code and a message that holds every fragment.
inline void expect_error(ErrorCode code, const std::vector<std::string>& fragments,
                         const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    for (const auto& fragment : fragments)
      EXPECT_THAT(error.what(), ::testing::HasSubstr(fragment));
    return;
  }
  ADD_FAILURE() << "expected an error " << to_string(code) << ", none was thrown";
}

// Real data of the developer's machine; tests that want them skip where they are absent.
inline std::filesystem::path shared_data() {
  if (const char* folder = std::getenv("MOIL_SHARED_DATA")) return folder;
  return std::filesystem::path(MOIL_SOURCE_DIR) / "../shared/data";
}

}  // namespace moil::data::test
