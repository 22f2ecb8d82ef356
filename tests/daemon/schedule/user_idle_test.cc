// Against a logind of the test's own, at the other end of a pair of sockets.
#include "daemon/schedule/user_idle.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace moil::daemon {
namespace {

class FakeLogind {
 public:
  FakeLogind() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    client_ = ends[0];
    thread_ = std::thread([this, fd = ends[1]] { serve(fd); });
  }
  ~FakeLogind() {
    over_ = true;
    thread_.join();
  }
  sd_bus* connect() {
    sd_bus* bus = nullptr;
    EXPECT_GE(::sd_bus_new(&bus), 0);
    EXPECT_GE(::sd_bus_set_fd(bus, client_, client_), 0);
    EXPECT_GE(::sd_bus_start(bus), 0);
    return bus;
  }

  std::atomic<int> idle = 0;
  std::atomic<std::uint64_t> since = 0;

 private:
  static int get_idle(sd_bus*, const char*, const char*, const char*, sd_bus_message* reply,
                      void* self, sd_bus_error*) {
    const int value = static_cast<FakeLogind*>(self)->idle;
    return ::sd_bus_message_append(reply, "b", value);
  }
  static int get_since(sd_bus*, const char*, const char*, const char*, sd_bus_message* reply,
                       void* self, sd_bus_error*) {
    const std::uint64_t value = static_cast<FakeLogind*>(self)->since;
    return ::sd_bus_message_append(reply, "t", value);
  }

  void serve(int fd) {
    static const sd_bus_vtable table[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("IdleHint", "b", get_idle, 0, 0),
        SD_BUS_PROPERTY("IdleSinceHint", "t", get_since, 0, 0),
        SD_BUS_VTABLE_END,
    };
    sd_id128_t id{};
    ::sd_id128_randomize(&id);
    sd_bus* bus = nullptr;
    ::sd_bus_new(&bus);
    ::sd_bus_set_fd(bus, fd, fd);
    ::sd_bus_set_server(bus, 1, id);
    ::sd_bus_set_anonymous(bus, 1);
    ::sd_bus_add_object_vtable(bus, nullptr, "/org/freedesktop/login1",
                               "org.freedesktop.login1.Manager", table, this);
    ::sd_bus_start(bus);
    while (!over_ && ::sd_bus_process(bus, nullptr) >= 0) ::sd_bus_wait(bus, 5000);
    ::sd_bus_close_unref(bus);
  }

  int client_ = -1;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

std::uint64_t microseconds_ago(std::chrono::minutes ago) {
  using std::chrono::microseconds;
  const auto then = std::chrono::system_clock::now() - ago;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<microseconds>(then.time_since_epoch()).count());
}

TEST(UserIdle, TellsHowLongNobodyWasThere) {
  FakeLogind logind;
  UserIdle users([&] { return logind.connect(); });
  EXPECT_EQ(users.minutes(), 0) << "it is used";
  logind.since = microseconds_ago(std::chrono::minutes(17));
  logind.idle = 1;
  const auto minutes = users.minutes();
  ASSERT_TRUE(minutes);
  EXPECT_NEAR(*minutes, 17, 0.1);
  logind.since = 0;
  EXPECT_GT(users.minutes().value_or(0), 1e9) << "nobody has ever been there";
}

TEST(UserIdle, NobodyAnswersAndIsNotAskedAgainAtOnce) {
  int asked = 0;
  UserIdle users([&]() -> sd_bus* {
    ++asked;
    return nullptr;
  });
  EXPECT_FALSE(users.minutes());
  EXPECT_FALSE(users.minutes());
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace moil::daemon
