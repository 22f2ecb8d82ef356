// The program moild: how it starts, refuses to start, stops, and what survives its death.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sysexits.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "daemon/json/base64.h"
#include "daemon/rpc/receive.h"
#include "tests/daemon/support/hung_file.h"
#include "tests/daemon/support/process.h"
#include "tests/daemon/support/test_server.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void import_digits(const fs::path& socket) {
  const TempFolder folder;
  std::ofstream(folder / "model.json") << "{}";
  result_of(socket, "model.import", {{"name", "digits"}, {"path", folder.path().string()}});
}

Finished start_moild(const fs::path& state, const fs::path& socket, const std::string& config) {
  return run_program({MOILD, "--foreground", "--state-dir", state.string(), "--socket",
                      socket.string(), "--config", config});
}

class Moild : public ::testing::Test {
 protected:
  Moild() { std::ofstream(folder_ / "quick.json") << quick_settings(); }
  std::string config(const std::string& text) const {
    std::ofstream(folder_ / "moild.json") << text;
    return folder_ / "moild.json";
  }
  // Does not come up, with this status, and says these words.
  void expect_refused(int status, const std::vector<std::string>& words, const fs::path& state,
                      const fs::path& socket, const std::string& config) const {
    const Finished end = start_moild(state, socket, config);
    EXPECT_EQ(end.status, status);
    for (const std::string& word : words) EXPECT_THAT(end.err, HasSubstr(word));
  }
  void expect_refused(int status, const std::vector<std::string>& words,
                      const fs::path& state) const {
    expect_refused(status, words, state, folder_ / "s.sock", folder_ / "quick.json");
  }
  TempFolder folder_;
};

// A test that read the machine on which it runs would fail if that is busy, warm or on battery.
TEST_F(Moild, ADaemonOfATestSeesAMadeUpDeviceAndNotThisMachine) {
  const auto device = [](const MoildProcess& moild) {
    return result_of(moild.socket(), "system.status")["device"];
  };
  {
    const MoildProcess moild(folder_ / "state", quick_settings());
    for (const char* reading : {"on_mains", "battery", "load_per_cpu", "temperature_c",
                                "memory_pressure", "io_pressure", "user_idle_minutes"})
      EXPECT_TRUE(device(moild)[reading].is_null()) << reading;
  }
  const fs::path zone =
      MoildProcess::device_of(folder_ / "state") / "sys/class/thermal/thermal_zone0";
  fs::create_directories(zone);
  std::ofstream(zone / "temp") << "123000\n";
  const MoildProcess moild(folder_ / "state", quick_settings());
  EXPECT_EQ(device(moild)["temperature_c"], 123.0);
}

// A program that is started meanwhile does not have it open: who watches takes files that nobody
// writes to.
void write_closed(const fs::path& file, const std::string& content) {
  std::FILE* to = std::fopen(file.c_str(), "we");
  ASSERT_NE(to, nullptr);
  std::fwrite(content.data(), 1, content.size(), to);
  std::fclose(to);
}

TEST_F(Moild, AWatchedFolderIsTakenFromThroughAnUpgradeOfMoild) {
  const fs::path inbox = folder_ / "inbox";
  fs::create_directories(inbox / "cat");
  auto moild = std::make_unique<MoildProcess>(folder_ / "state", quick_settings());
  const fs::path socket = moild->socket();
  Finished watched;
  std::jthread watching([&] {
    watched = run_program({MOILCTL, "--socket", socket.string(), "label", "watch", inbox.string()});
  });
  const auto taken = [&](std::size_t count) {
    return eventually([&] {
      return result_of(socket, "label.samples", Json::object())["samples"].size() == count;
    });
  };
  fs::create_directories(inbox / "caf\xe9");  // no UTF-8, and no reason to wait for moild
  write_closed(inbox / "caf\xe9/z.jpg", photo("z"));
  write_closed(inbox / "cat/a.jpg", photo("a"));
  EXPECT_TRUE(taken(1));
  EXPECT_EQ(moild->stop(), EX_OK);
  write_closed(inbox / "cat/b.jpg", photo("b"));  // nobody is there to take it
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  moild = std::make_unique<MoildProcess>(folder_ / "state", quick_settings());
  EXPECT_TRUE(taken(2));
  write_closed(inbox / "cat/c.jpg", photo("c"));
  EXPECT_TRUE(taken(3));
  fs::remove_all(inbox);
  watching.join();
  EXPECT_THAT(watched.err, HasSubstr("trying again until it answers"));
  EXPECT_THAT(watched.err, HasSubstr("is not valid UTF-8"));
  EXPECT_THAT(watched.err, HasSubstr("the folder is gone"));
}

TEST_F(Moild, StopsWellAndLeavesNoSocket) {
  MoildProcess moild(folder_ / "state", quick_settings());
  import_digits(moild.socket());
  const auto id = submit(moild.socket(), "slow");
  wait_for(moild.socket(), id, "running");
  EXPECT_EQ(moild.stop(), EX_OK);
  EXPECT_FALSE(fs::exists(moild.socket()));
  std::ofstream(folder_ / "state/go") << "go";
  const MoildProcess again(folder_ / "state", quick_settings());
  EXPECT_EQ(wait_for(again.socket(), id, "succeeded")["failures"], 0);
}

// Its log shows what the sanitizers say, if it was built with them.
TEST_F(Moild, StoppedAmongQueuedRequestsItEndsWell) {
  for (int round = 0; round < 5; ++round) {
    MoildProcess moild(folder_ / "state", quick_settings());
    std::vector<std::unique_ptr<Line>> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(std::make_unique<Line>(moild.socket()));
      std::string many;
      for (int k = 0; k < 20; ++k) {
        const Json params = {{"labels", {"cat"}},
                             {"samples", {{{"content", encode_base64(photo(std::to_string(k)))}}}}};
        many += request_line("label.add", params, k) + request_line("cache.stats");
      }
      clients.back()->send(many);
    }
    clients.front()->read();  // the first of them are under way
    EXPECT_EQ(moild.stop(), EX_OK) << moild.log();
    EXPECT_THAT(moild.log(), Not(HasSubstr("Sanitizer")));
  }
}

TEST_F(Moild, StoppedWhileAFileHangsItEndsAtOnce) {
  const HungFile hung;
  if (!hung.is_there()) GTEST_SKIP() << "no right to mount a file system";
  MoildProcess moild(folder_ / "state", quick_settings());
  const UniqueFd file(::open(hung.path().c_str(), O_RDONLY | O_CLOEXEC));
  const int fd = file.get();
  Line client(moild.socket());
  const std::string request =
      request_line("label.add", {{"labels", {"a"}}, {"samples", {{{"file", 0}}}}});
  ASSERT_GT(send_with(client.descriptor(), request, std::span(&fd, 1)), 0);
  ASSERT_TRUE(eventually([&] { return hung.reads() > 0; }));
  EXPECT_EQ(moild.stop(), EX_OK);
}

TEST_F(Moild, AHangUpSignalIsNotItsEnd) {
  MoildProcess moild(folder_ / "state", quick_settings());
  ASSERT_EQ(::kill(moild.pid(), SIGHUP), 0);
  EXPECT_TRUE(eventually([&] { return moild.log().find("SIGHUP") != std::string::npos; }));
  result_of(moild.socket(), "system.status");
  EXPECT_EQ(moild.stop(), EX_OK);
}

TEST_F(Moild, WhatIsNoDeadSocketIsLeftAlone) {
  std::ofstream(folder_ / "diary") << "dear diary";
  fs::create_directory(folder_ / "folder");
  fs::create_symlink(folder_ / "diary", folder_ / "link");
  for (const char* name : {"diary", "folder", "link"}) {
    expect_refused(EX_CANTCREAT, {"is there and is no socket"}, folder_ / "state", folder_ / name,
                   folder_ / "quick.json");
  }
  EXPECT_EQ(fs::file_size(folder_ / "diary"), 10U);
  EXPECT_TRUE(fs::is_directory(folder_ / "folder"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
}

TEST_F(Moild, TheSocketOfADeadDaemonIsReplacedAndAnothersIsNotRemoved) {
  {
    MoildProcess dead(folder_ / "state", quick_settings());
    dead.kill_hard();
    EXPECT_TRUE(fs::exists(dead.socket()));
  }
  MoildProcess moild(folder_ / "state", quick_settings());
  fs::remove(moild.socket());
  std::ofstream(moild.socket()) << "another's";
  EXPECT_EQ(moild.stop(), EX_OK);
  EXPECT_TRUE(fs::exists(moild.socket()));
}

fs::perms permissions_of(const fs::path& path) { return fs::status(path).permissions(); }

TEST_F(Moild, AFolderThatIsNotItsOwnIsRefusedAndKeptAsItIs) {
  const auto open = fs::perms(01777);
  fs::create_directory(folder_ / "shared");
  fs::permissions(folder_ / "shared", open);
  expect_refused(EX_CANTCREAT, {"open to other users (mode 1777)"}, folder_ / "shared");
  EXPECT_EQ(permissions_of(folder_ / "shared"), open);

  fs::create_directory(folder_ / "photos");
  fs::permissions(folder_ / "photos", fs::perms::owner_all);
  std::ofstream(folder_ / "photos/a.jpg") << "x";
  expect_refused(EX_CANTCREAT, {"files that are not moild's (a.jpg)"}, folder_ / "photos");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "photos"), {}), 1);
}

TEST_F(Moild, AnEmptyPrivateFolderIsTaken) {
  fs::create_directory(folder_ / "state");
  fs::permissions(folder_ / "state", fs::perms::owner_all);
  MoildProcess moild(folder_ / "state/", quick_settings());
  result_of(moild.socket(), "system.status");
  EXPECT_EQ(moild.stop(), EX_OK);
}

TEST_F(Moild, ANewStateFolderIsPrivate) {
  const MoildProcess moild(folder_ / "deep/er/state", quick_settings());
  EXPECT_EQ(permissions_of(folder_ / "deep/er/state"), fs::perms::owner_all);
}

TEST_F(Moild, ASecondDaemonOnTheSameStateIsRefused) {
  const MoildProcess first(folder_ / "state", quick_settings());
  expect_refused(EX_UNAVAILABLE, {"is in use by process " + std::to_string(first.pid())},
                 folder_ / "state");
  result_of(first.socket(), "system.status");
}

TEST_F(Moild, ASecondDaemonOnTheSameSocketIsRefused) {
  const MoildProcess first(folder_ / "state", quick_settings());
  expect_refused(EX_UNAVAILABLE, {"another program listens on"}, folder_ / "state2", first.socket(),
                 folder_ / "quick.json");
  result_of(first.socket(), "system.status");
}

TEST_F(Moild, AFileInPlaceOfTheStateFolder) {
  std::ofstream(folder_ / "file") << "x";
  for (const fs::path& state : {folder_ / "file", folder_ / "file/below"})
    expect_refused(EX_CANTCREAT, {state.string()}, state);
}

TEST_F(Moild, AStateFolderThatIsNotWritable) {
  const fs::path state = ::geteuid() == 0 ? fs::path("/proc/moild-state") : folder_ / "closed";
  if (::geteuid() != 0) {
    fs::create_directory(state);
    fs::permissions(state, fs::perms::owner_read | fs::perms::owner_exec);
  }
  expect_refused(EX_CANTCREAT, {"state folder", "--state-dir"}, state);
}

TEST_F(Moild, ASocketThatCannotBeMade) {
  expect_refused(EX_CANTCREAT, {"cannot bind the socket"}, folder_ / "state",
                 folder_ / "no/such/folder.sock", folder_ / "quick.json");
}

TEST_F(Moild, WrongConfigurationNamesKeyAndLine) {
  expect_refused(EX_CONFIG,
                 {"/worker/nce: line 4: unknown field \"nce\"; did you mean \"nice\"",
                  "/poll_seconds: line 6: expected a number, found \"often\""},
                 folder_ / "state", folder_ / "s.sock",
                 config("{\n  // a comment\n  \"worker\": {\n    \"nce\": 3\n"
                        "  },\n  \"poll_seconds\": \"often\"\n}\n"));
}

TEST_F(Moild, AMissingConfigurationAndAnUnknownOption) {
  EXPECT_EQ(start_moild(folder_ / "s", folder_ / "s.sock", folder_ / "none.json").status,
            EX_CONFIG);
  EXPECT_EQ(run_program({MOILD, "--nonsense"}).status, EX_USAGE);
  EXPECT_EQ(run_program({MOILD, "--version"}).out, "moild " MOIL_VERSION "\n");
}

TEST_F(Moild, AStateOfANewerMoildIsLeftAlone) {
  {
    MoildProcess moild(folder_ / "state", quick_settings());
    EXPECT_EQ(moild.stop(), EX_OK);
  }
  Database database(folder_ / "state/moild.db", Database::Access::kReadWrite);
  database.run("PRAGMA user_version = 99");
  expect_refused(EX_CONFIG, {"newer moild (format 99"}, folder_ / "state");
  EXPECT_EQ(database.number("PRAGMA user_version"), 99);
}

TEST_F(Moild, TheShippedConfigurationIsTheDefaults) {
  const Finished shipped = run_program(
      {MOILD, "--check", "--config", std::string(PROJECT_SOURCE_DIR) + "/config/moild.json"});
  const Finished empty = run_program({MOILD, "--check", "--config", config("{}")});
  EXPECT_EQ(shipped.status, EX_OK);
  EXPECT_EQ(shipped.out, empty.out);
  EXPECT_THAT(shipped.out, HasSubstr("\"window\""));
}

}  // namespace
}  // namespace moil::daemon::test
