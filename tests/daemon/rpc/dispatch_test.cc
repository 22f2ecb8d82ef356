// From lines to replies, with methods of the tests' own: every request is answered once, whatever
// its method does, within the limits, and no client waits for another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>
#include <set>

#include "daemon/rpc/server.h"
#include "tests/daemon/support/test_server.h"

using namespace std::chrono_literals;

namespace moil::daemon::test {
namespace {

using ::testing::HasSubstr;

Limits small_limits() {
  Limits limits;
  limits.output_bytes = 64 << 10;
  limits.reply_bytes = 512 << 10;
  return limits;
}

// A server of these methods on the test's folder:
//   echo: its parameters         large: a reply of `bytes`, after `ms`
//   slow: as large, in the background
//   throw, throw-nothing: what is no moil::Error                 drop: never answers
//   endless: as a worker whose work does not end, for a second
//   change: changes something, which survives a power cut from the next "keep" on, or never: "lose"
class Dispatch : public ::testing::Test {
 protected:
  Dispatch() {
    std::promise<void> ready;
    thread_ = std::thread([&] { serve(ready); });
    ready.get_future().wait();
  }
  ~Dispatch() override {
    loop_.stop();
    thread_.join();
  }

  std::filesystem::path socket() const { return folder_ / "sock"; }
  Json ask(const std::string& method, const Json& params = Json::object()) const {
    return test::ask(socket(), method, params);
  }
  static std::string line(int id, const std::string& method, const Json& params = Json::object()) {
    return request_line(method, params, id);
  }
  static Json request(int id, const std::string& method, const Json& params = Json::object()) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  }
  std::atomic<int> large_ = 0;    // replies made by "large" and "slow"
  std::atomic<int> begun_ = 0;    // of "endless"
  std::atomic<int> stopped_ = 0;  // of these

 private:
  void serve(std::promise<void>& ready) {
    const Limits limits = small_limits();
    std::optional<Background> background;
    const auto large = [this](Call& call) {
      ++large_;
      std::this_thread::sleep_for(std::chrono::milliseconds(call.params.value("ms", 0)));
      return Json(std::string(call.params.at("bytes").get<std::size_t>(), 'x'));
    };
    using Lane = Method::Lane;
    const MethodTable methods = {
        {"echo", "0", Role::kRead, "", Lane::kLoop, [](Call& call) { return call.params; }},
        {"large", "0", Role::kRead, "", Lane::kLoop, large},
        {"slow", "0", Role::kRead, "", Lane::kWrite, large},
        {"throw", "0", Role::kRead, "", Lane::kLoop,
         [](Call&) -> Json { throw std::logic_error("a bug"); }},
        {"throw-nothing", "0", Role::kRead, "", Lane::kWrite, [](Call&) -> Json { throw 7; }},
        {"drop", "0", Role::kRead, "", Lane::kSteps, [](Call&, const Responder&) {}},
        {"endless", "0", Role::kRead, "", Lane::kWorker,
         [this](Call&, const Responder& responder) {
           ++begun_;
           responder.on_stop([this, responder] { ++stopped_; });
         },
         std::chrono::seconds(1)},
        {"change", "0", Role::kLabel, "", Lane::kLoop, [](Call&) { return Json("changed"); }},
        {"keep", "0", Role::kRead, "", Lane::kLoop, [this](Call&) { return settle(nullptr); }},
        {"lose", "0", Role::kRead, "", Lane::kLoop,
         [this](Call&) {
           return settle(std::make_exception_ptr(Error(ErrorCode::kIo, "cannot flush")));
         }},
    };
    background.emplace(loop_);
    RequestCounts counts;
    UserTurns workers(loop_);
    Dispatcher dispatcher(methods,
                          {loop_, *background, *background, workers,
                           [this](auto then) { unsettled_.push_back(std::move(then)); }},
                          limits, counts);
    Server server(loop_, socket(), dispatcher, limits);
    ready.set_value();
    loop_.run();
    background.reset();
  }

  Json settle(const std::exception_ptr& error) {
    for (const auto& then : std::exchange(unsettled_, {})) then(error);
    return nullptr;
  }

  TempFolder folder_;
  EventLoop loop_;
  std::vector<std::function<void(const std::exception_ptr&)>> unsettled_;
  std::thread thread_;
};

TEST_F(Dispatch, WhoChangedSomethingIsAnsweredWhenItSurvivesAPowerCut) {
  Line client(socket());
  client.send(line(1, "change") + line(2, "echo"));
  EXPECT_EQ(client.read()["id"], 2) << "what only tells does not wait";
  client.send(line(3, "keep"));
  std::set<int> answered;
  for (int i = 0; i < 2; ++i) answered.insert(client.read()["id"].get<int>());
  EXPECT_EQ(answered, (std::set<int>{1, 3}));
  client.send(line(4, "change") + line(5, "lose"));
  for (int i = 0; i < 2; ++i) {
    const Json reply = client.read();
    EXPECT_EQ(reply.contains("error"), reply["id"] == 4) << reply;
  }
}

TEST_F(Dispatch, WhatAMethodThrowsIsAnErrorReply) {
  for (const char* method : {"throw", "throw-nothing"}) {
    EXPECT_EQ(ask(method)["error"]["code"], kInternalError) << method;
  }
  EXPECT_EQ(ask("throw")["error"]["message"], "a bug");
  EXPECT_EQ(ask("echo", {{"a", 1}})["result"]["a"], 1);
}

TEST_F(Dispatch, ARequestThatNobodyAnswersIsAnsweredWithAnError) {
  EXPECT_EQ(ask("drop")["error"]["data"]["code"], "cancelled");
}

TEST_F(Dispatch, ATooLargeReplyIsAnErrorAndTheClientStays) {
  Line client(socket());
  client.send(line(1, "large", {{"bytes", 600 << 10}}));
  const Json reply = client.read();
  EXPECT_EQ(reply["error"]["data"]["code"], "resource_exhausted");
  EXPECT_THAT(reply["error"]["message"].get<std::string>(), HasSubstr("the limit is 524288"));
  client.send(line(2, "echo"));
  EXPECT_EQ(client.read()["id"], 2);
}

TEST_F(Dispatch, AReplyLargerThanWhatMayWaitComesWhole) {
  const Json reply = ask("large", {{"bytes", 500 << 10}});
  EXPECT_EQ(reply["result"].get<std::string>().size(), std::size_t{500} << 10);
}

TEST_F(Dispatch, ABatchIsOneLineHoweverLongItIs) {
  Json batch = Json::array();
  for (int i = 0; i < 50; ++i) batch.push_back(request(i, "slow", {{"bytes", 100 << 10}}));
  batch.push_back(Json{{"jsonrpc", "2.0"}, {"method", "echo"}});  // a notification
  batch.push_back(7);                                             // no request
  Line client(socket());
  client.send(batch.dump() + "\n" + line(99, "echo"));
  std::this_thread::sleep_for(50ms);
  EXPECT_LT(large_, 10) << "replies were made that nobody has room for";
  const Json replies = client.read();
  ASSERT_EQ(replies.size(), 51U);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(replies[static_cast<std::size_t>(i)]["id"], i);
  EXPECT_EQ(replies[50]["error"]["code"], kInvalidRequest);
  EXPECT_EQ(client.read()["id"], 99);
}

TEST_F(Dispatch, ABatchOfNotificationsIsNotAnswered) {
  Line client(socket());
  client.send(Json::array({{{"jsonrpc", "2.0"}, {"method", "echo"}}}).dump() + "\n" +
              line(1, "echo"));
  EXPECT_EQ(client.read()["id"], 1);
}

TEST_F(Dispatch, WhoDoesNotReadCostsNoMoreThanWhatMayWait) {
  Line deaf(socket());
  for (int i = 0; i < 60; ++i)
    deaf.send(line(i, i % 2 == 0 ? "large" : "slow", {{"bytes", 100 << 10}}));
  EXPECT_EQ(ask("echo")["id"], 1);  // others are served
  std::this_thread::sleep_for(50ms);
  EXPECT_LT(large_, 10);
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(deaf.read().contains("result"));  // and nothing is lost
}

TEST_F(Dispatch, RequestsOfManyClientsWaitTheirTurn) {
  std::vector<std::unique_ptr<Line>> clients;
  for (int i = 0; i < 60; ++i) {
    clients.push_back(std::make_unique<Line>(socket()));
    std::string many;
    for (int k = 0; k < 64; ++k) many += line(k, "slow", {{"bytes", 10}});
    clients.back()->send(many);
  }
  for (const auto& client : clients) {
    for (int k = 0; k < 64; ++k) {
      const Json reply = client->read();
      ASSERT_TRUE(reply.contains("result")) << reply.dump();
      ASSERT_EQ(reply["id"], k);
    }
  }
}

TEST_F(Dispatch, OneClientsManyRequestsDoNotHoldUpAnother) {
  Line busy(socket());
  std::string many;
  for (int i = 0; i < 400; ++i) many += line(i, "slow", {{"bytes", 10}, {"ms", 1}});
  busy.send(many);
  const int before = large_;
  ask("slow", {{"bytes", 10}});
  EXPECT_LT(large_ - before, 200) << "the other's turn came after all of those";
  for (int i = 0; i < 400; ++i) ASSERT_EQ(busy.read()["id"], i);
}

TEST_F(Dispatch, AClientThatEndsItsSideIsServedToItsLastLine) {
  Line client(socket());
  std::string many;
  for (int i = 0; i < 20; ++i) many += line(i, i % 2 == 0 ? "slow" : "large", {{"bytes", 20000}});
  client.send(many);
  ::shutdown(client.descriptor(), SHUT_WR);
  int replies = 0;
  while (client.read().is_object()) ++replies;
  EXPECT_EQ(replies, 20);
}

TEST_F(Dispatch, AWorkersTimeIsLimited) {
  const Json reply = ask("endless");
  EXPECT_EQ(reply["error"]["data"]["code"], "cancelled");
  EXPECT_NE(reply["error"]["message"].get<std::string>().find("after 1 s"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return stopped_ == 1; }));
}

TEST_F(Dispatch, WhatAWorkerDoesEndsWithItsClient) {
  {
    Line client(socket());
    for (int i = 0; i < 3; ++i) client.send(line(i, "endless"));
    ASSERT_TRUE(eventually([&] { return begun_ == 1; }));
  }
  // One at least; on a machine that stands still for a second, the next has begun, too.
  EXPECT_TRUE(eventually([&] { return stopped_ > 0 && stopped_ == begun_; }));
  ask("slow", {{"bytes", 10}});
  EXPECT_LT(begun_, 3) << "what waited is dropped";
}

TEST_F(Dispatch, WhatAClientSentBeforeItWentIsCarriedOut) {
  {
    Line client(socket());
    for (int i = 0; i < 20; ++i) client.send(line(i, "slow", {{"bytes", 20000}}));
  }
  EXPECT_TRUE(eventually([&] { return large_ == 20; }));
}

}  // namespace
}  // namespace moil::daemon::test
