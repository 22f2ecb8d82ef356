#include "daemon/review/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace moil::review {
namespace {

constexpr const char* kHost = "127.0.0.1:8080";
constexpr const char* kOrigin = "http://127.0.0.1:8080";

std::string secret_of(Gate& gate) {
  const auto opened = gate.open({kHost, kOrigin, ""}, gate.token());
  return opened ? opened->secret : "";
}

TEST(Gate, ATokenServesOnceAndTheSecretFromThenOn) {
  Gate gate;
  EXPECT_FALSE(gate.may_call({kHost, kOrigin, ""}));
  const std::string token = gate.token();
  const auto opened = gate.open({kHost, kOrigin, ""}, token);
  ASSERT_TRUE(opened);
  EXPECT_FALSE(gate.open({kHost, kOrigin, ""}, token));
  EXPECT_TRUE(gate.may_call({kHost, kOrigin, opened->secret}));
  // The page is loaded again.
  const auto again = gate.open({kHost, kOrigin, ""}, opened->token);
  ASSERT_TRUE(again);
  EXPECT_TRUE(gate.may_call({kHost, kOrigin, again->secret}));
  EXPECT_NE(again->token, opened->token);
}

TEST(Gate, SecretsAreLongNewAndHeldAgainstAllOfThem) {
  Gate gate, other;
  EXPECT_EQ(gate.token().size(), 64U);
  EXPECT_NE(gate.token(), other.token());
  const std::string token = gate.token(), cut = token.substr(0, 63);
  for (const std::string& wrong :
       {std::string(), cut, cut + (token[63] == '0' ? "1" : "0"), token + "0", other.token()})
    EXPECT_FALSE(gate.open({kHost, kOrigin, ""}, wrong));
  EXPECT_FALSE(gate.may_call({kHost, kOrigin, token}));
  const std::string secret = secret_of(gate);  // nothing was used
  EXPECT_EQ(secret.size(), 64U);
  EXPECT_NE(secret, secret_of(other));
  EXPECT_NE(secret, token);
  EXPECT_FALSE(gate.open({kHost, kOrigin, ""}, secret));
}

TEST(Gate, NamesOfOtherMachinesLeadNowhere) {
  Gate gate;
  const std::string secret = secret_of(gate);
  for (const std::string host :
       {"evil.example:8080", "127.0.0.1.evil.example:8080", "localhost.evil:8080", "", ":8080",
        "[::2]:8080", "10.0.0.1:8080", "localhost@evil:8080"}) {
    EXPECT_FALSE(Gate::is_meant_for_us({host, "", ""})) << host;
    EXPECT_FALSE(gate.open({host, "http://" + host, ""}, gate.token())) << host;
    EXPECT_FALSE(gate.may_call({host, "http://" + host, secret})) << host;
  }
  // Through a tunnel, under other ports.
  for (const std::string host :
       {"localhost:1", "127.0.0.1:65535", "[::1]:8080", "[::1]", "localhost"}) {
    EXPECT_TRUE(Gate::is_meant_for_us({host, "", ""})) << host;
    EXPECT_TRUE(gate.may_call({host, "http://" + host, secret})) << host;
  }
}

TEST(Gate, OtherPagesOfThisMachineMayNotCall) {
  Gate gate;
  const std::string secret = secret_of(gate);
  EXPECT_TRUE(gate.may_call({kHost, kOrigin, secret}));
  for (const char* origin : {"", "null", "http://127.0.0.1:9999", "http://localhost:8080",
                             "https://127.0.0.1:8080", "http://evil.example"}) {
    EXPECT_FALSE(gate.may_call({kHost, origin, secret})) << origin;
    EXPECT_FALSE(gate.open({kHost, origin, ""}, gate.token())) << origin;
  }
}

TEST(Gate, OfManyAtOnceOneIsLetIn) {
  Gate gate;
  const std::string token = gate.token();
  std::atomic<int> let_in = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      if (gate.open({kHost, kOrigin, ""}, token)) ++let_in;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(let_in, 1);
}

}  // namespace
}  // namespace moil::review
