// The vocabulary of this folder's tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "datasets/images/codec.h"
#include "datasets/kinds/kind.h"
#include "datasets/samples/dataset.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace moil::data::test {

using TempFolder = moil::test::ScratchFolder;

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
  const std::string said = moil::test::error_of(action, code);
  EXPECT_NE(said, "") << "expected an error " << to_string(code) << ", none was thrown";
  for (const auto& fragment : fragments) EXPECT_THAT(said, ::testing::HasSubstr(fragment));
}

// What a kind makes of a file whose samples have one part.
inline std::vector<float> made(const Kind& kind, std::string_view file) {
  const auto maker = kind.maker({});
  maker->load(bytes_of(file), "sample");
  std::vector<float> values(kind.floats());
  maker->make({}, {}, values.data());
  return values;
}

// Real data of the developer's machine; tests that want them skip if they are absent.
inline std::filesystem::path shared_data() {
  if (const char* folder = std::getenv("MOIL_SHARED_DATA")) return folder;
  return std::filesystem::path(MOIL_SOURCE_DIR) / "../shared/data";
}

}  // namespace moil::data::test
