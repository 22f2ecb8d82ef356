// A moild in a thread of the test, on a state folder of its own, with a fake device and a worker
// that computes nothing; and the words the tests are written in.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/seconds.h"
#include "daemon/service/service.h"

namespace moil::daemon::test {

// Removed at the end of its life.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// At 03:00 on mains, cool and idle, until the test says otherwise. Any thread.
class FakeWorld : public World {
 public:
  std::atomic<int> minute = 180, weekday = 3;
  std::atomic<bool> on_mains = true;
  std::atomic<double> temperature = 40;
  std::atomic<double> load = 0, memory_pressure = 0, io_pressure = 0;
  std::atomic<double> user_idle_minutes = 60;

  std::atomic<std::int64_t> clock_ahead = 0;   // milliseconds by which the clock is wrong
  std::atomic<std::int64_t> steady_ahead = 0;  // that have gone by unnoticed
  std::atomic<std::uint64_t> free = 1 << 30;
  const TempFolder machine;  // its /sys tells what energy is taken; nothing, until a test writes it

  std::int64_t now_milliseconds() const override { return moil::now_milliseconds() + clock_ahead; }
  std::int64_t steady_milliseconds() const override {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since).count() + steady_ahead;
  }
  LocalTime local_time() const override { return {weekday, minute}; }
  std::int64_t local_moment(int days, int at) const override {
    return (now_milliseconds() / 60'000 + days * 1440 + at - minute) * 60'000;
  }
  DeviceReading device() const override {
    return {.on_mains = on_mains,
            .battery = 0.9,
            .load_per_cpu = load,
            .temperature_c = temperature,
            .hottest = {},
            .memory_pressure = memory_pressure,
            .io_pressure = io_pressure,
            .user_idle_minutes = user_idle_minutes,
            .ignored = {}};
  }
  EnergyMeter energy_meter() const override { return EnergyMeter(machine.path()); }
  std::optional<std::uint64_t> free_bytes(const std::filesystem::path&) const override {
    return free;
  }
};

// A configuration for tests: looks often, retries at once, waits briefly.
Config quick_config();

class TestServer {
 public:
  explicit TestServer(const std::filesystem::path& state, Config config = quick_config());
  ~TestServer();  // shuts down well
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  const std::filesystem::path& socket() const { return socket_; }
  FakeWorld world;

 private:
  std::filesystem::path socket_;
  EventLoop loop_;
  std::unique_ptr<Service> service_;
  std::thread thread_;
};

// A raw client: lines out, lines in; no reply within ten seconds is a failure.
class Line {
 public:
  explicit Line(const std::filesystem::path& socket);
  void send(const std::string& text) const;  // as it is; add the newline yourself
  Json read();                               // the next message; null at the end of the stream
  bool is_closed_within(std::chrono::milliseconds time);
  int descriptor() const { return socket_.get(); }

 private:
  bool fill(std::chrono::milliseconds time);
  UniqueFd socket_;
  std::string buffer_;
};

// A request as a client sends it.
std::string request_line(const std::string& method, const Json& params = Json::object(),
                         int id = 1);
// One request on a connection of its own: the whole reply.
Json ask(const std::filesystem::path& socket, const std::string& method,
         const Json& params = Json::object());
// The same, but expects a result.
Json result_of(const std::filesystem::path& socket, const std::string& method,
               const Json& params = Json::object());

// A model in the store of the server, active, version 1.
void import_model(const TestServer& server, const std::string& name = "digits");
// A complete description whose worker behaves as `name` says (fake_worker/main.cc). The pack is
// the socket: a file that is there.
Json job_named(const std::string& name, const std::filesystem::path& pack);
std::int64_t submit(const std::filesystem::path& socket, const std::string& name, bool now = true);
// Waits until the job's state is `state` and returns job.get's "job"; fails after 20 seconds.
Json wait_for(const std::filesystem::path& socket, std::int64_t id, const std::string& state);
// What a label store takes for a photo: the first bytes of a JPEG, then the text.
inline std::string photo(const std::string& text) { return "\xff\xd8\xff" + text; }
// Polls `condition` for at most 20 seconds.
bool eventually(const std::function<bool()>& condition);

}  // namespace moil::daemon::test
