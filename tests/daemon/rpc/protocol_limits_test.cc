// What a client may do wrong, and what it may not do to the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "tests/daemon/support/server_test.h"

using namespace std::chrono_literals;

namespace moil::daemon::test {
namespace {

class ProtocolLimits : public ServerTest {
 protected:
  ProtocolLimits() : ServerTest(config()) {}
  static Config config() {
    Config config = quick_config();
    config.server.request_bytes = 64 << 10;
    config.server.output_bytes = 64 << 10;
    config.server.request_seconds = 0.3;
    config.server.output_seconds = 0.5;
    config.server.clients = 8;
    return config;
  }
  // The error code of the reply to a line.
  int code_of(const std::string& line) const {
    Line client(server_.socket());
    client.send(line + "\n");
    const Json reply = client.read();
    return (reply.is_array() ? reply.at(0) : reply).value("/error/code"_json_pointer, 0);
  }
  bool serves() const { return ask("system.status").contains("result"); }
};

TEST_F(ProtocolLimits, MalformedJson) {
  for (const char* text :
       {"{", "nonsense", "{\"a\":}", "\"", "[1,", "{\"id\":1e999}", "\xff\xfe"}) {
    EXPECT_EQ(code_of(text), kParseError) << text;
  }
  EXPECT_TRUE(serves());
}

TEST_F(ProtocolLimits, AMillionLevels) {
  Config roomy = quick_config();
  roomy.server.request_bytes = 8 << 20;
  const TempFolder folder;
  const TestServer server(folder / "state", roomy);
  for (const std::string open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 1'000'000; ++i) text += open;
    Line client(server.socket());
    client.send(text + "\n");
    EXPECT_EQ(client.read().value("/error/code"_json_pointer, 0), kParseError);
  }
  EXPECT_TRUE(test::ask(server.socket(), "system.status").contains("result"));
}

TEST_F(ProtocolLimits, BracketsInStringsDoNotNest) {
  const std::string deep(1000, '[');
  const Json reply = ask("label.rename", {{"from", deep}, {"to", "\\\"" + deep}});
  EXPECT_NE(reply.value("/error/code"_json_pointer, 0), kParseError);
}

TEST_F(ProtocolLimits, InvalidRequests) {
  for (const char* text : {"1", "{}", R"({"jsonrpc":"1.0","id":1,"method":"system.status"})",
                           R"({"jsonrpc":"2.0","id":1})", R"({"jsonrpc":"2.0","id":1,"method":7})",
                           R"({"jsonrpc":"2.0","id":[],"method":"system.status"})", "[]", "[1]"}) {
    EXPECT_EQ(code_of(text), kInvalidRequest) << text;
  }
}

TEST_F(ProtocolLimits, UnknownMethodNamesTheNearest) {
  const Json reply = ask("job.sumbit");
  EXPECT_EQ(reply["error"]["code"], kMethodNotFound);
  EXPECT_EQ(reply["error"]["message"],
            "unknown method \"job.sumbit\"; did you mean \"job.submit\"?");
}

TEST_F(ProtocolLimits, WrongParametersAreNamedWithPointers) {
  const Json params = {{"limt", 3}, {"state", "quued"}};
  const Json reply = ask("job.list", params);
  EXPECT_EQ(reply["error"]["code"], kInvalidParams);
  EXPECT_EQ(reply["error"]["data"]["code"], "invalid_argument");
  EXPECT_THAT(pointers("job.list", params), ::testing::ElementsAre("/limt", "/state"));
}

TEST_F(ProtocolLimits, OversizedRequestIsAnsweredAndTheClientHungUp) {
  Line client(server_.socket());
  client.send(std::string(1 << 20, 'x'));
  const Json reply = client.read();
  EXPECT_EQ(reply["error"]["code"], kInvalidRequest);
  EXPECT_THAT(reply["error"]["message"], ::testing::HasSubstr("65536 bytes"));
  EXPECT_TRUE(client.is_closed_within(2s));
  EXPECT_TRUE(serves());
}

TEST_F(ProtocolLimits, HalfARequestTimesOut) {
  Line hanging(server_.socket());
  hanging.send("{\"jsonrpc\":");
  EXPECT_TRUE(serves());  // the others do not wait for it
  EXPECT_TRUE(hanging.is_closed_within(3s));
}

TEST_F(ProtocolLimits, ASilentClientMayStay) {
  Line silent(server_.socket());
  EXPECT_FALSE(silent.is_closed_within(700ms));
  silent.send(request_line("system.status"));
  EXPECT_TRUE(silent.read().contains("result"));
}

TEST_F(ProtocolLimits, AClientThatDoesNotReadIsDropped) {
  Line deaf(server_.socket());
  std::string many;
  for (int i = 0; i < 400; ++i) many += request_line("system.methods");
  timeval limit{.tv_sec = 0, .tv_usec = 100'000};
  ::setsockopt(deaf.descriptor(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  deaf.send(many);
  EXPECT_TRUE(eventually([&] { return call("system.status")["clients"] == 1; }));
}

TEST_F(ProtocolLimits, TooManyClients) {
  std::vector<std::unique_ptr<Line>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<Line>(server_.socket()));
    clients.back()->send(request_line("system.status"));
    EXPECT_TRUE(clients.back()->read().contains("result"));
  }
  Line one_more(server_.socket());
  EXPECT_EQ(one_more.read()["error"]["data"]["code"], "resource_exhausted");
  EXPECT_TRUE(one_more.is_closed_within(2s));
  clients.clear();
  EXPECT_TRUE(eventually([&] { return serves(); }));
}

TEST(ClientsOfAUser, LeaveRoomForOthers) {
  Config config = quick_config();
  config.server.clients_per_user = 2;
  const TempFolder folder;
  const TestServer server(folder / "state", config);
  const Line first(server.socket());
  const Line second(server.socket());
  ASSERT_TRUE(eventually([&] {
    const Json reply = ask(server.socket(), "system.status");
    return reply.value("/error/code"_json_pointer, 0) == -32004;
  }));
  Line third(server.socket());
  const std::string message = third.read()["error"]["message"];
  EXPECT_EQ(message, "2 clients of user " + std::to_string(::geteuid()) + " are connected already");
}

TEST(PaceOfAClient, WhatComesTooFastWaitsAndIsAnswered) {
  Config config = quick_config();
  config.server.requests_per_second = 50;
  const TempFolder folder;
  const TestServer server(folder / "state", config);
  const std::string one = R"({"jsonrpc":"2.0","id":1,"method":"system.status"})";
  std::string batch = "[";
  for (int i = 0; i < 50; ++i) batch += one + ",";
  batch.back() = ']';
  Line greedy(server.socket());
  const auto begin = std::chrono::steady_clock::now();
  greedy.send(batch + "\n" + one + "\n" + one + "\n");
  EXPECT_EQ(greedy.read().size(), 50U);                                   // at once
  EXPECT_TRUE(ask(server.socket(), "system.status").contains("result"));  // the others do not wait
  EXPECT_TRUE(greedy.read().contains("result"));
  EXPECT_TRUE(greedy.read().contains("result"));
  // Ten at once, then one every 20 ms.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 800ms);
}

}  // namespace
}  // namespace moil::daemon::test
