// What a method may cost, and what a client or a user may take from others: workers, descriptors,
// time.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>

#include "daemon/json/base64.h"
#include "daemon/methods/methods.h"
#include "daemon/rpc/receive.h"
#include "daemon/rpc/user_tasks.h"
#include "daemon/rpc/user_turns.h"
#include "tests/daemon/support/hung_file.h"
#include "tests/daemon/support/server_test.h"

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

// --- turns and budgets --------------------------------------------------------------------------

TEST(UserTurnsTest, NoUserTakesAllAndOneIsLeftToAdministrators) {
  EventLoop loop;
  UserTurns turns(loop, {.together = 4, .user = 2});
  std::vector<uid_t> had;
  std::deque<UserTurns::Turn> kept;
  const auto ask = [&](uid_t user, bool is_administrator = false, bool is_wanted = true) {
    turns.ask(
        {user, is_administrator}, [is_wanted] { return is_wanted; },
        [&, user](UserTurns::Turn turn) {
          had.push_back(user);
          kept.push_back(std::move(turn));
        });
  };
  for (int i = 0; i < 10; ++i) ask(1);
  ask(2, false, false);
  for (int i = 0; i < 3; ++i) ask(2);
  ask(3);
  ask(0, true);
  int step = 0;
  const std::function<void()> look = [&] {
    ++step;
    if (step == 2) {
      EXPECT_THAT(had, ::testing::ElementsAre(1, 2, 3, 0)) << "the fourth is an administrator's";
      kept.pop_front();
      kept.pop_front();
    }
    if (step == 4) {
      EXPECT_THAT(had, ::testing::ElementsAre(1, 2, 3, 0, 1)) << "one stays for administrators";
    }
    if (step > 4) kept.clear();
    if (step == 30) return loop.stop();
    loop.after(1ms, look);
  };
  loop.after(1ms, look);
  loop.run();
  EXPECT_EQ(std::ranges::count(had, 1U), 10);
  EXPECT_EQ(std::ranges::count(had, 2U), 3) << "nobody waits for what is not wanted any more";
}

TEST(BudgetTest, AUserLeavesWhatTheOthersNeed) {
  const Budget budget({.together = 10, .user = 6});
  auto mine = budget.take(1, 5);
  ASSERT_TRUE(mine);
  EXPECT_FALSE(budget.take(1, 2)) << "more than one user may have";
  auto theirs = budget.take(2, 5);
  ASSERT_TRUE(theirs);
  EXPECT_FALSE(budget.take(3, 1)) << "more than there is";
  mine->add(std::move(*theirs));
  mine.reset();
  EXPECT_TRUE(budget.take(1, 6)) << "what is given back is there for its user";
}

// --- methods ------------------------------------------------------------------------------------

class Lanes : public ServerTest {};

TEST(MethodTableTest, EveryMethodSaysWhatItCosts) {
  const TempFolder folder;
  EventLoop loop;
  const FakeWorld world;
  MethodTable table;
  const Service service(loop, quick_config(), folder / "state", folder / "sock", world,
                        [&](const Parts& parts) { return table = all_methods(parts); });
  for (const Method& method : table) {
    const bool is_worker = method.lane == Method::Lane::kWorker;
    EXPECT_EQ(method.deadline > 0s, is_worker)
        << method.name << " has a deadline if a worker does it";
    EXPECT_LE(method.descriptors, kMostFiles) << method.name;
    ASSERT_NE(method.run.params, nullptr) << method.name;
    const bool is_handled = method.lane != Method::Lane::kSteps && !is_worker;
    EXPECT_EQ(std::holds_alternative<Method::Handle>(method.run), is_handled) << method.name;
  }
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

TEST_F(Lanes, NoMethodTakesMoreFilesThanItNeeds) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<int> files(kMostFiles, null.get());
  const Json methods = call("system.methods")["methods"];
  ASSERT_GT(methods.size(), 40U);
  const std::size_t before = open_descriptors();
  int refused = 0;
  for (const Json& method : methods) {
    const std::string name = method["name"];
    Line client(server_.socket());
    const std::string text = request_line(name);
    ASSERT_EQ(send_with(client.descriptor(), text, files), static_cast<ssize_t>(text.size()));
    const Json reply = client.read();
    ASSERT_TRUE(reply.contains("error")) << name;
    refused +=
        reply["error"]["message"].get<std::string>().find("along with it") != std::string::npos;
  }
  EXPECT_EQ(refused, static_cast<int>(methods.size()) - 3)
      << "all but label.add, model.predict and pack.import";
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= before + 1; }));
}

TEST(DescriptorsTest, AUsersClientsHaveAPartOfThemHoweverManyTheyAre) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 600;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  {
    const TempFolder folder;
    const TestServer server(folder / "state");
    const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const std::vector<int> files(60, null.get());
    const std::size_t own = open_descriptors();
    std::vector<std::unique_ptr<Line>> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(std::make_unique<Line>(server.socket()));
      EXPECT_GT(send_with(clients.back()->descriptor(), "{", files), 0);
    }
    EXPECT_TRUE(eventually([&] { return open_descriptors() >= own + 100; }));
    EXPECT_EQ(result_of(server.socket(), "system.status")["clients"], 21);
    EXPECT_LT(open_descriptors(), own + 40 + 600 / 4 + 60);
    int refused = 0;
    for (const auto& client : clients) {
      client->send(request_line("label.list").substr(1));
      refused += client->read()["error"]["data"]["code"] == "resource_exhausted";
    }
    EXPECT_EQ(refused, 18) << "two of them had room";
    EXPECT_TRUE(eventually([&] { return open_descriptors() <= own + 40; }));
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(UserTasksTest, AUserWithManyClientsHoldsUpOthersByOneTask) {
  EventLoop loop;
  UserTasks tasks(loop);
  std::vector<uid_t> had;
  bool is_late = false;
  const auto add = [&](uid_t user, std::chrono::milliseconds time) {
    tasks.add(user, [&had, user, time] {
      std::this_thread::sleep_for(time);
      had.push_back(user);
    });
  };
  for (int i = 0; i < 60; ++i) add(1, 5ms);
  loop.after(1ms, [&] {  // what else the loop does
    is_late = had.size() > 10;
    add(2, 0ms);
    add(3, 0ms);
  });
  tasks.add(1, [] { throw std::logic_error("a bug"); });
  tasks.add(1, [&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(is_late) << had.size();
  ASSERT_EQ(had.size(), 62U);
  for (const uid_t user : {2, 3})
    EXPECT_LT(std::ranges::find(had, user) - had.begin(), 16) << "behind at most one of each user";
}

// --- workers ------------------------------------------------------------------------------------

// Those that a server left behind end when their disk goes on, and nobody waits for them then.
bool has_ended(int child) {
  std::ifstream in("/proc/" + std::to_string(child) + "/stat");
  std::string number, name, state;
  return !(in >> number >> name >> state) || state == "Z";
}

int workers() {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/task")) {
    std::ifstream in(entry.path() / "children");
    for (int child = 0; in >> child;) count += has_ended(child) ? 0 : 1;
  }
  return count;
}

TEST_F(Lanes, ClientsThatAreGoneLeaveTheirWorkersToOthers) {
  HungFile hung;
  if (!hung.is_there()) GTEST_SKIP() << "no right to mount";
  import_model(server_);
  const std::string predict =
      request_line("model.predict", {{"model", "digits"}, {"images", {{{"file", 0}}}}});
  {
    std::vector<std::unique_ptr<Line>> clients;
    for (int i = 0; i < 4; ++i) {
      const UniqueFd file(::open(hung.path().c_str(), O_RDONLY | O_CLOEXEC));
      clients.push_back(std::make_unique<Line>(server_.socket()));
      const int fd = file.get();
      ASSERT_GT(send_with(clients.back()->descriptor(), predict, {&fd, 1}), 0);
    }
    ASSERT_TRUE(eventually([&] { return hung.reads() == 2; })) << "as many as one user may have";
    EXPECT_EQ(workers(), 2);
    while (!clients.empty()) clients.pop_back();  // those that wait go first
  }
  EXPECT_TRUE(eventually([] { return workers() == 0; })) << "what runs is killed";
  const Json image{{"content", encode_base64("seven")}};
  EXPECT_EQ(call("model.predict", {{"images", {image}}})["version"], 1);
  EXPECT_EQ(hung.reads(), 2) << "what waited never began";
}

TEST_F(Lanes, AWorkerThatCannotBeEndedLeavesItsPlaceToItsUser) {
  HungFile hung(HungFile::Killed::kStays);
  if (!hung.is_there()) GTEST_SKIP() << "no right to mount";
  import_model(server_);
  const std::string predict =
      request_line("model.predict", {{"model", "digits"}, {"images", {{{"file", 0}}}}});
  const Json image{{"content", encode_base64("seven")}};
  const auto hang = [&](int before) {
    std::vector<std::unique_ptr<Line>> clients;
    for (int i = 1; i <= 2; ++i) {
      const UniqueFd file(::open(hung.path().c_str(), O_RDONLY | O_CLOEXEC));
      clients.push_back(std::make_unique<Line>(server_.socket()));
      const int fd = file.get();
      ASSERT_GT(send_with(clients.back()->descriptor(), predict, {&fd, 1}), 0);
      ASSERT_TRUE(eventually([&] { return hung.reads() == before + i; }));
    }
  };
  for (int left_behind = 0; left_behind < 6; left_behind += 2) {
    EXPECT_EQ(call("model.predict", {{"images", {image}}})["version"], 1);
    hang(left_behind);  // as many as one user may have; their clients are gone then
    EXPECT_EQ(workers(), left_behind + 2);
  }
  EXPECT_TRUE(eventually([&] {
    return ask("model.predict", {{"images", {image}}}).contains("error");
  })) << "not ever more are left behind";
  EXPECT_EQ(workers(), 6);
}

TEST_F(Lanes, TheDaemonsEndWaitsOnceForAllThatCannotBeEnded) {
  HungFile hung(HungFile::Killed::kStays);
  if (!hung.is_there()) GTEST_SKIP() << "no right to mount";
  auto server = std::make_unique<TestServer>(folder_ / "other");
  import_model(*server);
  const std::string predict =
      request_line("model.predict", {{"model", "digits"}, {"images", {{{"file", 0}}}}});
  for (int left_behind = 0; left_behind < 4; left_behind += 2) {
    std::vector<std::unique_ptr<Line>> clients;
    for (int i = 1; i <= 2; ++i) {
      const UniqueFd file(::open(hung.path().c_str(), O_RDONLY | O_CLOEXEC));
      clients.push_back(std::make_unique<Line>(server->socket()));
      const int fd = file.get();
      ASSERT_GT(send_with(clients.back()->descriptor(), predict, {&fd, 1}), 0);
      ASSERT_TRUE(eventually([&] { return hung.reads() == left_behind + i; }));
    }
  }
  const auto began = std::chrono::steady_clock::now();
  server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(3900))
      << "two seconds for each of four would be eight";
}

TEST_F(Lanes, AJobWhoseClientIsGoneIsNotQueued) {
  import_model(server_);
  {
    const Line client(server_.socket());
    client.send(request_line("job.submit", {{"job", job_named("endless-plan", server_.socket())}}));
    ASSERT_TRUE(eventually([] { return workers() == 1; }));
  }
  EXPECT_TRUE(eventually([] { return workers() == 0; }));
  EXPECT_EQ(call("system.status")["queued"], 0);
}

}  // namespace
}  // namespace moil::daemon::test
