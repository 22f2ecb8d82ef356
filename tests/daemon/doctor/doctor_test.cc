// What the doctor finds: each judgement by itself, and the whole of it through the protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "daemon/doctor/machine_checks.h"
#include "daemon/doctor/storage_checks.h"
#include "daemon/doctor/system_checks.h"
#include "tests/daemon/support/test_server.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

using ::testing::HasSubstr;
using Level = Finding::Level;

Finding named(const Findings& findings, const std::string& what) {
  for (const Finding& finding : findings) {
    if (finding.what == what) return finding;
  }
  ADD_FAILURE() << "there is no finding " << what;
  return {};
}

TEST(Doctor, AFolderThatOthersMayEnterIsAProblem) {
  const TempFolder folder;
  EXPECT_EQ(check_state_folder(folder.path()).level, Level::kOk);
  fs::permissions(folder.path(), fs::perms(0750));
  const Finding open = check_state_folder(folder.path());
  EXPECT_EQ(open.level, Level::kProblem);
  EXPECT_THAT(open.says, HasSubstr("mode 0750"));
  EXPECT_EQ(open.remedy, "chmod 0700 " + folder.path().string());
  EXPECT_EQ(check_state_folder(folder / "none").level, Level::kProblem);
}

TEST(Doctor, ASocketThatIsGoneIsAProblem) {
  const TempFolder folder;
  const TestServer server(folder / "state");
  EXPECT_THAT(check_socket(server.socket()).says, HasSubstr("mode 0600"));
  fs::permissions(server.socket(), fs::perms(0666));
  EXPECT_THAT(check_socket(server.socket()).says, HasSubstr("turns away whom"));
  EXPECT_EQ(check_socket(folder / "none").level, Level::kProblem);
  std::ofstream(folder / "file") << "no socket";
  EXPECT_EQ(check_socket(folder / "file").level, Level::kProblem);
}

TEST(Doctor, RoomIsHeldAgainstWhatMoildKeepsFree) {
  const DiskConfig disk{.reserve_bytes = 1 << 20, .leave_free_bytes = 1 << 30};
  EXPECT_EQ(judge_room(2U << 30, disk).level, Level::kOk);
  EXPECT_EQ(judge_room(1U << 29, disk).level, Level::kWarning);
  EXPECT_EQ(judge_room(1U << 20, disk).level, Level::kProblem);
  EXPECT_THAT(judge_room(1U << 29, disk).says, HasSubstr("512 MiB are free; below 1.0 GiB"));
}

TEST(Doctor, ADiskIsMeasuredAndLeavesNothing) {
  const TempFolder folder;
  const DiskSpeed speed = measure_disk(folder.path());
  EXPECT_GT(speed.sync_seconds, 0);
  EXPECT_GT(speed.write_megabytes, 0);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_EQ(judge_disk({.sync_seconds = 0.01, .write_megabytes = 50}).level, Level::kOk);
  EXPECT_EQ(judge_disk({.sync_seconds = 0.2, .write_megabytes = 50}).level, Level::kWarning);
  EXPECT_EQ(judge_disk({.sync_seconds = 0.01, .write_megabytes = 2}).level, Level::kWarning);
  EXPECT_EQ(judge_disk({.sync_seconds = 2, .write_megabytes = 50}).level, Level::kProblem);
  EXPECT_THROW((void)measure_disk(folder / "none"), Error);
}

TEST(Doctor, WhatTheKernelHasIsReadFromProcAndSys) {
  const TempFolder root;
  const auto write = [&](const std::string& file, const std::string& text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text << "\n";
  };
  EXPECT_EQ(named(check_kernel(root.path()), "pressure").level, Level::kWarning);
  EXPECT_THAT(named(check_kernel(root.path()), "memory-limit").remedy,
              HasSubstr("cgroup_enable=memory"));
  write("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0");
  write("proc/self/cgroup", "0::/system.slice/moild.service");
  write("sys/fs/cgroup/system.slice/moild.service/memory.max", "1073741824");
  EXPECT_EQ(named(check_kernel(root.path()), "pressure").level, Level::kOk);
  EXPECT_THAT(named(check_kernel(root.path()), "memory-limit").says, HasSubstr("to 1.0 GiB"));
  write("sys/fs/cgroup/system.slice/moild.service/memory.max", "max");
  EXPECT_THAT(named(check_kernel(root.path()), "memory-limit").says, HasSubstr("without a limit"));
}

TEST(Doctor, AGpuIsTold) {
  const TempFolder root;
  EXPECT_THAT(check_gpu(root.path()).says, HasSubstr("sees none"));
  std::filesystem::create_directories(root.path() / "dev/dri");
  const auto node = root.path() / "dev/dri/renderD128";
  std::ofstream(node) << "";
  EXPECT_EQ(check_gpu(root.path()).level, Level::kOk);
  EXPECT_THAT(check_gpu(root.path()).says, HasSubstr("renderD128 may be used"));
  std::filesystem::permissions(node, std::filesystem::perms::none);
  const bool is_root = ::geteuid() == 0;  // who may open every device node
  EXPECT_EQ(check_gpu(root.path()).level, is_root ? Level::kOk : Level::kWarning);
}

TEST(Doctor, AClockIsJudgedByItsYearItsJumpsAndItsRecords) {
  constexpr std::int64_t kNow = 1'795'000'000'000, kHour = 3'600'000;  // in 2026
  const ClockReading good{.now = kNow, .is_synchronised = true, .newest_record = kNow - kHour};
  EXPECT_EQ(judge_clock(good).level, Level::kOk);
  ClockReading clock = good;
  clock.now = 0;
  EXPECT_EQ(judge_clock(clock).level, Level::kProblem);
  EXPECT_THAT(judge_clock(clock).says, HasSubstr("1970-01-01"));
  clock = good;
  clock.moved = -3 * kHour;
  EXPECT_THAT(judge_clock(clock).says, HasSubstr("set back by 3 h"));
  clock = good;
  clock.newest_record = kNow + 30 * 24 * kHour;
  EXPECT_EQ(judge_clock(clock).level, Level::kWarning);
  clock = good;
  clock.is_synchronised = false;
  EXPECT_THAT(judge_clock(clock).remedy, HasSubstr("timedatectl"));
  clock.is_synchronised.reset();
  EXPECT_EQ(judge_clock(clock).level, Level::kOk);
}

TEST(Doctor, TheDeviceIsHeldAgainstTheConditions) {
  const Conditions conditions;
  DeviceReading device;
  for (const Finding& finding : judge_device(device, conditions))
    EXPECT_EQ(finding.level, Level::kOk) << finding.says << ": what is not told blocks nothing";
  device.on_mains = false;
  device.battery = 0.5;
  device.load_per_cpu = 0.9;
  device.temperature_c = 80;
  device.hottest = "x86_pkg_temp";
  device.ignored = {"thermal_zone3 says 200 C"};
  const Findings findings = judge_device(device, conditions);
  for (const char* what : {"power", "temperature", "load", "sensor"})
    EXPECT_EQ(named(findings, what).level, Level::kWarning) << what;
  EXPECT_THAT(named(findings, "temperature").says, HasSubstr("x86_pkg_temp is at 80.0 C"));
}

Json speed(double product, double peak) {
  return {{"threads", 4},
          {"sgemm_gflops", product},
          {"peak_gflops", peak},
          {"copy_gbytes", 12.5},
          {"blas", "OpenBLAS 0.3"},
          {"blas_kernel", "Prescott"},
          {"vector_target", "AVX2"},
          {"onednn", "3.0.0"},
          {"unconfined", ""}};
}

TEST(Doctor, AWorkerThatIsNotConfinedIsNamed) {
  Json open = speed(80, 100);
  EXPECT_EQ(named(judge_machine(open, false), "confinement").level, Level::kOk);
  open["unconfined"] = "this kernel has no Landlock: the worker may open what its user may";
  EXPECT_EQ(named(judge_machine(open, false), "confinement").level, Level::kWarning);
}

TEST(Doctor, AKernelThatDoesNotFitTheCpuIsNamed) {
  EXPECT_EQ(named(judge_machine(speed(80, 100), false), "blas").level, Level::kOk);
  const Finding poor = named(judge_machine(speed(20, 100), false), "blas");
  EXPECT_EQ(poor.level, Level::kWarning);
  EXPECT_THAT(poor.says, HasSubstr("20.0 % of the 100"));
  EXPECT_THAT(poor.says, HasSubstr("kernel Prescott"));
  EXPECT_EQ(named(judge_machine(speed(20, 100), true), "blas").level, Level::kOk) << "busy";
  EXPECT_EQ(named(judge_machine(speed(1, 1.4), false), "blas").level, Level::kWarning) << "slow";
}

class Examined : public ::testing::Test {
 protected:
  static Json finding(const Json& reply, const std::string& what) {
    for (const Json& found : reply["findings"]) {
      if (found["what"] == what) return found;
    }
    ADD_FAILURE() << "there is no finding " << what << " in " << reply.dump();
    return Json::object();
  }
  TempFolder folder_;
};

TEST_F(Examined, EveryPartHasAFinding) {
  const TestServer server(folder_ / "state");
  import_model(server);
  wait_for(server.socket(), submit(server.socket(), "night"), "succeeded");
  const Json reply = result_of(server.socket(), "system.doctor");
  for (const char* what : {"state-folder", "socket", "disk-room", "disk-speed", "cache", "landlock",
                           "worker", "blas", "clock", "power", "queue", "last-night"})
    EXPECT_FALSE(finding(reply, what).empty());
  EXPECT_THAT(finding(reply, "blas")["says"].get<std::string>(), HasSubstr("kernel Round"));
  EXPECT_EQ(finding(reply, "last-night")["level"], "ok");
  EXPECT_EQ(finding(reply, "schedule")["level"], "warning") << "nothing will run";
}

TEST_F(Examined, AWorkerThatIsMissingIsAProblemAndTheRestIsLookedAt) {
  Config config = quick_config();
  config.worker.path = (folder_ / "no-worker").string();
  const TestServer server(folder_ / "state", config);
  const Json reply = result_of(server.socket(), "system.doctor");
  EXPECT_GE(reply["problems"], 1);
  EXPECT_EQ(finding(reply, "worker")["level"], "problem");
  EXPECT_THAT(finding(reply, "worker")["says"].get<std::string>(), HasSubstr("no-worker"));
  EXPECT_FALSE(finding(reply, "disk-speed").empty());
}

TEST_F(Examined, AFailedNightAndADamagedCacheAreFound) {
  const TestServer server(folder_ / "state");
  import_model(server);
  wait_for(server.socket(), submit(server.socket(), "bad-data"), "failed");
  fs::create_directories(folder_ / "state/cache");
  std::ofstream(folder_ / "state/cache/data.mdb") << "this is no cache";
  const Json reply = result_of(server.socket(), "system.doctor");
  EXPECT_EQ(finding(reply, "last-night")["level"], "problem");
  EXPECT_EQ(finding(reply, "last-night")["remedy"], "moilctl logs 1");
  EXPECT_EQ(finding(reply, "cache")["level"], "problem");
  EXPECT_EQ(finding(reply, "cache")["remedy"], "moilctl cache verify --repair");
}

}  // namespace
}  // namespace moil::daemon::test
