#include "daemon/review/gate.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace moil::review {
namespace {

using Answer = Gate::Answer;

constexpr const char* kHost = "127.0.0.1:8080";

TEST(Gate, TheTokenServesOnceAndTheCookieFromThenOn) {
  Gate gate;
  EXPECT_EQ(gate.ask({kHost, "", "", "", false}), Answer::kRefused);
  EXPECT_EQ(gate.ask({kHost, "", "", gate.token(), false}), Answer::kWelcome);
  EXPECT_EQ(gate.ask({kHost, "", "", gate.token(), false}), Answer::kRefused);
  EXPECT_EQ(gate.ask({kHost, "", gate.cookie(), "", false}), Answer::kKnown);
  EXPECT_EQ(gate.ask({kHost, "", gate.cookie(), gate.token(), false}), Answer::kKnown);
}

TEST(Gate, SecretsAreLongNewAndHeldAgainstAllOfThem) {
  Gate gate, other;
  EXPECT_EQ(gate.token().size(), 64U);
  EXPECT_NE(gate.token(), gate.cookie());
  EXPECT_NE(gate.token(), other.token());
  EXPECT_NE(gate.cookie(), other.cookie());
  const std::string cut = gate.token().substr(0, 63);
  for (const std::string& wrong :
       {cut, cut + (gate.token()[63] == '0' ? "1" : "0"), gate.token() + "0", other.token()})
    EXPECT_EQ(gate.ask({kHost, "", "", wrong, false}), Answer::kRefused);
  EXPECT_EQ(gate.ask({kHost, "", gate.token(), "", false}), Answer::kRefused);
  EXPECT_EQ(gate.ask({kHost, "", "", gate.cookie(), false}), Answer::kRefused);
  EXPECT_EQ(gate.ask({kHost, "", "", gate.token(), false}), Answer::kWelcome);  // nothing was used
}

TEST(Gate, NamesOfOtherMachinesLeadNowhere) {
  Gate gate;
  for (const char* host :
       {"evil.example:8080", "127.0.0.1.evil.example:8080", "localhost.evil:8080", "", ":8080",
        "[::2]:8080", "10.0.0.1:8080", "localhost@evil:8080"}) {
    EXPECT_EQ(gate.ask({host, "", "", gate.token(), false}), Answer::kRefused) << host;
    EXPECT_EQ(gate.ask({host, "", gate.cookie(), "", false}), Answer::kRefused) << host;
  }
  // Through a tunnel, under other ports.
  for (const char* host : {"localhost:1", "127.0.0.1:65535", "[::1]:8080", "[::1]", "localhost"})
    EXPECT_EQ(gate.ask({host, "", gate.cookie(), "", false}), Answer::kKnown) << host;
}

TEST(Gate, OtherPagesOfThisMachineMayNotCall) {
  Gate gate;
  const auto call = [&](const std::string& origin) {
    return gate.ask({kHost, origin, gate.cookie(), "", true});
  };
  EXPECT_EQ(call("http://127.0.0.1:8080"), Answer::kKnown);
  for (const char* origin : {"", "null", "http://127.0.0.1:9999", "http://localhost:8080",
                             "https://127.0.0.1:8080", "http://evil.example"})
    EXPECT_EQ(call(origin), Answer::kRefused) << origin;
  // Nor is the token good for a call.
  EXPECT_EQ(gate.ask({kHost, "http://127.0.0.1:8080", "", gate.token(), true}), Answer::kRefused);
}

TEST(Gate, OfManyAtOnceOneIsWelcome) {
  Gate gate;
  std::atomic<int> welcome = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      if (gate.ask({kHost, "", "", gate.token(), false}) == Answer::kWelcome) ++welcome;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(welcome, 1);
}

}  // namespace
}  // namespace moil::review
