#include "daemon/worker/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "datasets/images/codec.h"

namespace moil::worker {
namespace {

using ::testing::StartsWith;

data::Image grey(int side) {
  data::Image image;
  image.resize(side, side, 1);
  return image;
}

// 16 bits, one channel, 8000 a second.
std::vector<std::uint8_t> wav(int samples, int loudness) {
  const auto little = [](int v) {
    return std::string{static_cast<char>(v), static_cast<char>(v >> 8), static_cast<char>(v >> 16),
                       static_cast<char>(v >> 24)};
  };
  std::string file = "RIFF" + little(36 + 2 * samples) + "WAVEfmt " + little(16) +
                     std::string("\1\0\1\0", 4) + little(8000) + little(16000) +
                     std::string("\2\0\x10\0", 4) + "data" + little(2 * samples);
  for (int i = 0; i < samples; ++i) file += little(loudness).substr(0, 2);
  return {file.begin(), file.end()};
}

TEST(Trial, TellsOfEachSampleInItsPlace) {
  auto torn = data::encode_png(grey(40));
  torn.resize(torn.size() / 2);
  const Json tried = worker::tried(
      {[] { return data::encode_png(grey(40)); }, [&] { return torn; }, [] { return wav(8000, 0); },
       [] { return wav(8000, 20000); },
       []() -> std::vector<std::uint8_t> { throw Error(ErrorCode::kIo, "no disk"); }});
  ASSERT_EQ(tried.size(), 5U);
  EXPECT_EQ(tried[0], Json::object());
  EXPECT_EQ(tried[1]["error"]["code"], "bad_data");
  EXPECT_THAT(tried[1]["error"]["message"].get<std::string>(), StartsWith("it cannot be read: "));
  EXPECT_EQ(tried[2], Json({{"silent", 1.0}}));
  EXPECT_EQ(tried[3], Json({{"silent", 0.0}}));
  EXPECT_EQ(tried[4]["error"]["code"], "io");
}

}  // namespace
}  // namespace moil::worker
