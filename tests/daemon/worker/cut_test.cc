#include "daemon/worker/cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/unique_fd.h"
#include "base/files/write_all.h"
#include "datasets/identity/digest.h"

namespace moil::worker {
namespace {

UniqueFd file_of(std::string_view bytes) {
  UniqueFd file(::memfd_create("file", MFD_CLOEXEC));
  EXPECT_TRUE(write_all(file.get(), bytes));
  return file;
}

// Unsigned bytes, one channel, 1000 a second.
std::string wav(const std::string& samples) {
  const auto size = static_cast<char>(samples.size());
  using namespace std::string_literals;
  return "RIFF"s + static_cast<char>(36 + size) + "\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0"s +
         "\xe8\3\0\0\xe8\3\0\0\1\0\x8\0data"s + size + "\0\0\0"s + samples;
}

TEST(Cut, WritesThePieceAndSaysWhatItIs) {
  const UniqueFd recording = file_of(wav("0123456789")), piece = file_of("");
  const Json told = cut({.recording = recording.get(),
                         .piece = piece.get(),
                         .name = "digits",
                         .from = 0.003,
                         .to = 0.007});
  EXPECT_EQ(told, (Json{{"recording", data::digest_of(wav("0123456789")).hex()},
                        {"rate", 1000},
                        {"channels", 1},
                        {"frames", 4},
                        {"seconds", 0.004}}));
  const auto written = read_descriptor(piece.get(), 1000);
  EXPECT_EQ(std::string(written.begin(), written.end()), wav("3456"));
}

TEST(Cut, OfAPipeIsRefused) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd out(ends[0]), in(ends[1]), piece = file_of("");
  EXPECT_THROW(
      (void)cut({.recording = out.get(), .piece = piece.get(), .name = "p", .from = 0, .to = 1}),
      Error);
}

}  // namespace
}  // namespace moil::worker
