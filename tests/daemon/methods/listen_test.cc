// model.listen: what is heard comes while the sound does.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/files/write_all.h"
#include "daemon/rpc/address.h"
#include "tests/daemon/support/server_test.h"

namespace moil::daemon::test {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    reader = UniqueFd(ends[0]);
    writer = UniqueFd(ends[1]);
  }
  bool says(const std::string& line) const { return write_all(writer.get(), line); }
  UniqueFd reader, writer;
};

class Listening : public ServerTest {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    import_model(server_);
  }
  static void ask_with(const Line& client, int file, const Json& params = {{"file", 0}}) {
    const std::string text = request_line("model.listen", params);
    ASSERT_EQ(send_with(client.descriptor(), text, std::span(&file, 1)),
              static_cast<ssize_t>(text.size()));
  }

  Pipe pipe_;
};

TEST_F(Listening, TellsAtOnceAndAnswersAtTheEnd) {
  Line client(socket());
  ask_with(client, pipe_.reader.get(), {{"file", 0}, {"every", 0.25}, {"rate", 8000}});
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(pipe_.says("seven\n"));
    const Json heard = client.read();
    EXPECT_EQ(heard["method"], "model.heard") << heard;
    EXPECT_EQ(heard["params"],
              (Json{{"time", 0.25 * i}, {"label", "seven"}, {"probability", 0.97}}));
  }
  pipe_.writer.reset();
  EXPECT_EQ(client.read()["result"], (Json{{"seconds", 6},
                                           {"events", 3},
                                           {"remark", "its rate is 8000"},
                                           {"model", "digits"},
                                           {"version", 1}}));
}

TEST_F(Listening, EndsWithItsClient) {
  {
    Line client(socket());
    ask_with(client, pipe_.reader.get());
    ASSERT_TRUE(pipe_.says("seven\n"));
    EXPECT_EQ(client.read()["method"], "model.heard");
    pipe_.reader.reset();
  }
  EXPECT_TRUE(eventually([&] { return !pipe_.says("seven\n"); })) << "nobody hears it any more";
}

TEST_F(Listening, WhatNobodyReadsIsNotKeptForEver) {
  const UniqueFd endless(::memfd_create("sound", MFD_CLOEXEC));
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "7\n";
  ASSERT_TRUE(write_all(endless.get(), lines));
  ::lseek(endless.get(), 0, SEEK_SET);
  Line client(socket());
  ask_with(client, endless.get());
  EXPECT_TRUE(eventually([&] { return call("system.status")["clients"] == 2; }));
#ifdef __SANITIZE_ADDRESS__
  constexpr unsigned kUntilItIsFull = 20;  // seconds
#else
  constexpr unsigned kUntilItIsFull = 1;
#endif
  ::sleep(kUntilItIsFull);
  Json last = client.read();
  int heard = 0;
  for (; last.contains("method"); ++heard) last = client.read();
  EXPECT_LT(heard, 100'000);
  EXPECT_THAT(last["error"]["message"], ::testing::HasSubstr("is not read"));
}

// Who listens for days keeps nobody from what is done in a moment.
TEST_F(Listening, TakesNobodysTurn) {
  struct Ears {
    Pipe pipe;
    Line client;
  };
  std::vector<std::unique_ptr<Ears>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<Ears>(Pipe(), Line(socket())));
    ask_with(all.back()->client, all.back()->pipe.reader.get());
    ASSERT_TRUE(all.back()->pipe.says("seven\n"));
    ASSERT_EQ(all.back()->client.read()["method"], "model.heard");
  }
  Line fifth(socket());
  ask_with(fifth, pipe_.reader.get());
  EXPECT_EQ(fifth.read()["error"]["data"]["code"], "resource_exhausted");
  EXPECT_EQ(call("model.predict", {{"images", {{{"content", "c2V2ZW4="}}}}})["version"], 1);
  all.pop_back();
  pipe_.writer.reset();
  EXPECT_TRUE(eventually([&] {
    ask_with(fifth, pipe_.reader.get());
    return fifth.read().contains("result");
  })) << "there is a place again";
}

TEST_F(Listening, ChecksWhatItIsAsked) {
  EXPECT_EQ(error_of("model.listen", Json::object()), "invalid_argument");
  EXPECT_EQ(error_of("model.listen", {{"file", 0}}), "invalid_argument") << "none came along";
  const auto pointer = [&](const Json& params) {
    Line client(socket());
    ask_with(client, pipe_.reader.get(), params);
    return client.read()["error"]["data"]["errors"][0]["pointer"];
  };
  EXPECT_EQ(pointer({{"file", 1}}), "/file");
  EXPECT_EQ(pointer({{"file", 0}, {"every", 0}}), "/every");
  EXPECT_EQ(pointer({{"file", 0}, {"threshold", 1.5}}), "/threshold");
  EXPECT_EQ(pointer({{"file", 0}, {"rate", 10}}), "/rate");
  EXPECT_EQ(pointer({{"file", 0}, {"labels", "seven"}}), "/labels");
}

}  // namespace
}  // namespace moil::daemon::test
