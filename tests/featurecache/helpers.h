// The vocabulary of the cache's tests: folders, keys, features, and children that die.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "featurecache/cache.h"
#include "tests/scratch_folder.h"

namespace moil::cache {

class TempFolder : public test::ScratchFolder {
 public:
  std::filesystem::path cache() const { return path() / "features"; }
  std::filesystem::path data() const { return cache() / "data.mdb"; }
};

inline ModelId model(int i) { return model_id("backbone " + std::to_string(i), "resize 32"); }

inline SampleDigest sample(std::uint32_t i) {
  return sample_digest({reinterpret_cast<const std::uint8_t*>(&i), sizeof i});
}

inline FeatureKey key_of(int m, std::uint32_t i, std::uint16_t view = 0) {
  return {model(m), sample(i), view};
}

// Distinct for every sample, and exact in bf16 for small seeds.
inline std::vector<float> features(std::uint32_t seed, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>((seed * 31 + i * 7) % 255) - 127.0F;
  }
  return values;
}

inline std::vector<float> get(FeatureCache& cache, const FeatureKey& key, std::size_t count) {
  std::vector<float> row(count);
  cache.gather(std::span(&key, 1), row.data(), count);
  return row;
}

inline bool has(FeatureCache& cache, const FeatureKey& key, Depth depth = Depth::kChecksum) {
  std::uint8_t present = 0;
  return cache.contains(std::span(&key, 1), std::span(&present, 1), depth) == 1;
}

inline void fill(FeatureCache& cache, int m, std::uint32_t samples, std::size_t elements) {
  for (std::uint32_t i = 0; i < samples; ++i) cache.put(key_of(m, i), features(i, elements));
  cache.flush();
}

// The code and text of the error that work throws.
struct Caught {
  bool thrown = false;
  ErrorCode code{};
  std::string text;
};

inline Caught caught(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return {true, error.code(), error.what()};
  }
  return {};
}

#define EXPECT_ERROR(work, expected_code, expected_text)                        \
  do {                                                                          \
    const auto error = ::moil::cache::caught([&] { work; });                    \
    ASSERT_TRUE(error.thrown) << "no error from: " #work;                       \
    EXPECT_EQ(to_string(error.code), to_string(expected_code)) << error.text;   \
    EXPECT_NE(error.text.find(expected_text), std::string::npos) << error.text; \
  } while (false)

// Runs work in a child that never returns to the test; the exit status is 0 if work returns.
inline pid_t spawn(const std::function<void()>& work) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  try {
    work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
    ::_exit(1);
  }
  ::_exit(0);
}

inline int wait_for(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

inline std::vector<char> file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Where bytes occur in the file.
inline std::vector<std::size_t> places(const std::filesystem::path& path,
                                       std::span<const float> pattern) {
  const auto bytes = file_bytes(path);
  const std::string_view hay(bytes.data(), bytes.size());
  const std::string_view needle(reinterpret_cast<const char*>(pattern.data()),
                                pattern.size_bytes());
  std::vector<std::size_t> found;
  for (auto at = hay.find(needle); at != hay.npos; at = hay.find(needle, at + 1)) {
    found.push_back(at);
  }
  return found;
}

inline void flip_byte(const std::filesystem::path& path, std::size_t at) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(at));
  const char byte = static_cast<char>(file.get() ^ 0x40);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
  ASSERT_TRUE(file.good());
}

}  // namespace moil::cache
