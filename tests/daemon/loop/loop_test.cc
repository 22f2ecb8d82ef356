// The loop and what works beside it: exceptions end nothing, and nobody waits for what hangs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <future>

#include "daemon/loop/background.h"
#include "daemon/loop/event_loop.h"
#include "daemon/loop/outside_calls.h"

using namespace std::chrono_literals;

namespace moil::daemon::test {
namespace {

TEST(EventLoopTest, WhatATaskOrATimerThrowsDoesNotEndIt) {
  EventLoop loop;
  loop.post([] { throw std::logic_error("a task"); });
  loop.post([] { throw 7; });
  loop.after(0ms, [] { throw std::runtime_error("a timer"); });
  bool reached = false;
  loop.after(1ms, [&] {
    reached = true;
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(reached);
}

TEST(EventLoopTest, AWatchThatThrowsRestsAndIsTriedAgain) {
  EventLoop loop;
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const UniqueFd reader(pipe[0]);
  UniqueFd writer(pipe[1]);
  writer.reset();  // hung up: ready for ever
  int calls = 0;
  loop.watch(reader.get(), EPOLLIN, [&](std::uint32_t) {
    if (++calls == 1) throw std::runtime_error("cannot read");
    if (calls == 2) loop.stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  loop.run();
  EXPECT_GE(calls, 2);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 50ms);
  loop.unwatch(reader.get());
}

TEST(EventLoopTest, AWatchThatThrowsMayHaveEndedItself) {
  EventLoop loop;
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const UniqueFd reader(pipe[0]);
  UniqueFd writer(pipe[1]);
  writer.reset();
  loop.watch(reader.get(), EPOLLIN, [&](std::uint32_t) {
    loop.unwatch(reader.get());
    loop.after(1ms, [&] { loop.stop(); });
    throw std::runtime_error("gone");
  });
  loop.run();
}

TEST(EventLoopTest, WhatIsPostedAgainAndAgainLetsOthersHaveTheirTurn) {
  EventLoop loop;
  int posted = 0;
  const std::function<void()> again = [&] {
    ++posted;
    std::this_thread::sleep_for(1ms);
    loop.post(again);
  };
  for (int i = 0; i < 100; ++i) loop.post(again);
  loop.after(5ms, [&] { loop.post([&] { loop.stop(); }); });
  loop.run();
  EXPECT_LT(posted, 300);
}

TEST(EventLoopTest, WhatIsUrgentGoesBeforeClients) {
  EventLoop loop;
  std::vector<std::unique_ptr<UniqueFd>> ready;
  int served = 0, at = -1;
  for (int i = 0; i < 200; ++i) {
    ready.push_back(std::make_unique<UniqueFd>(::eventfd(1, EFD_CLOEXEC)));
    loop.watch(ready.back()->get(), EPOLLIN, [&](std::uint32_t) {
      std::this_thread::sleep_for(1ms);
      if (++served == 400) loop.stop();
    });
  }
  loop.after(
      20ms, [&] { at = served; }, EventLoop::Priority::kUrgent);
  loop.run();
  EXPECT_GE(at, 0);
  EXPECT_LT(at, 60) << "it waited for all of them";
  for (const auto& fd : ready) loop.unwatch(fd->get());
}

// Its destruction tells in which thread it was.
struct Witness {
  std::thread::id* where;
  explicit Witness(std::thread::id* place) : where(place) {}
  ~Witness() { *where = std::this_thread::get_id(); }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
};

TEST(BackgroundTest, WhatATaskHoldsIsDestroyedOnTheLoop) {
  EventLoop loop;
  Background background(loop);
  std::vector<std::thread::id> where(50);
  for (auto& place : where) {
    const auto held = std::make_shared<Witness>(&place);
    background.submit([held]() -> Background::Done { return [] {}; });
  }
  background.submit([&loop]() -> Background::Done { return [&loop] { loop.stop(); }; });
  loop.run();
  for (const auto& place : where) EXPECT_EQ(place, std::this_thread::get_id());
}

TEST(BackgroundTest, WhatWaitsAtItsEndIsDroppedAndNothingMoreIsTaken) {
  EventLoop loop;
  std::promise<void> begun, go_on;
  bool refused = false;
  struct Last {
    Background* background;
    bool* refused;
    ~Last() {
      try {
        background->submit([]() -> Background::Done { return [] {}; });
      } catch (const Error& error) {
        *refused = error.code() == ErrorCode::kCancelled;
      }
    }
  };
  std::thread release;
  {
    Background background(loop);
    background.submit([&]() -> Background::Done {
      begun.set_value();
      go_on.get_future().wait();
      return [] {};
    });
    const auto last = std::shared_ptr<Last>(new Last{&background, &refused});
    background.submit([last]() -> Background::Done { return [] {}; });
    begun.get_future().wait();
    release = std::thread([&] {
      std::this_thread::sleep_for(20ms);
      go_on.set_value();
    });
  }
  release.join();
  EXPECT_TRUE(refused);
}

TEST(OutsideCallsTest, TheResultOrTheErrorComesToTheLoop) {
  EventLoop loop;
  OutsideCalls outside(loop, 10s);
  const auto loop_thread = std::this_thread::get_id();
  int result = 0;
  std::string text;
  outside.start<int>([] { return 7; },
                     [&](int seven) {
                       EXPECT_EQ(std::this_thread::get_id(), loop_thread);
                       result = seven;
                       outside.start<int>([]() -> int { throw std::runtime_error("broken"); },
                                          [](int) {},
                                          [&](const std::exception_ptr& error) {
                                            try {
                                              std::rethrow_exception(error);
                                            } catch (const std::exception& e) {
                                              text = e.what();
                                            }
                                            loop.stop();
                                          });
                     },
                     [](const std::exception_ptr&) {});
  loop.run();
  EXPECT_EQ(result, 7);
  EXPECT_EQ(text, "broken");
}

TEST(OutsideCallsTest, HungReadsOfUsersLeaveRoomForOtherUsersAndTheDaemonItself) {
  const auto open = std::make_shared<std::promise<void>>();
  const std::shared_future<void> gate = open->get_future().share();
  EventLoop loop;
  OutsideCalls outside(loop, 10s);
  const auto hang = [&](std::optional<uid_t> user) {
    outside.start<int>(
        [gate] {
          gate.wait();
          return 1;
        },
        [](int) {}, [](const std::exception_ptr&) {}, user);
  };
  const auto fill = [&](std::optional<uid_t> user) {
    for (int i = 0; i < 1000; ++i) {
      try {
        hang(user);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
        return i;
      }
    }
    return 1000;
  };
  EXPECT_LE(fill(1), 16);
  EXPECT_GT(fill(2), 0) << "another user";
  for (uid_t user = 3; user < 100; ++user) fill(user);
  EXPECT_EQ(fill(100), 0) << "users together have a limit";
  EXPECT_NO_THROW(hang(std::nullopt)) << "a schedule looks at its pack";
  open->set_value();
}

TEST(OutsideCallsTest, ACallThatHangsIsGivenUpAndItsEndWaitsForNobody) {
  // The threads that hang hold these: they outlive all of this.
  const auto open = std::make_shared<std::promise<void>>();
  const std::shared_future<void> gate = open->get_future().share();
  const auto ended = std::make_shared<std::promise<void>>();
  bool gave_up = false;
  {
    EventLoop loop;
    OutsideCalls outside(loop, 20ms);
    outside.start<int>(
        [gate, ended] {
          gate.wait();
          ended->set_value();
          return 1;
        },
        [](int) { FAIL() << "its time was over"; },
        [&](const std::exception_ptr& error) {
          EXPECT_THROW(std::rethrow_exception(error), GaveUp);
          gave_up = true;
          loop.stop();
        });
    loop.run();
  }
  EXPECT_TRUE(gave_up);
  open->set_value();
  ended->get_future().wait();
}

}  // namespace
}  // namespace moil::daemon::test
