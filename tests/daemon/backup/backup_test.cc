// A state, through a backup, into another folder.
#include "daemon/backup/backup.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "base/files/disk_full.h"
#include "base/files/open_file.h"
#include "daemon/backup/archive.h"
#include "daemon/backup/members.h"
#include "daemon/backup/restore.h"
#include "daemon/state/restored_state.h"
#include "tests/daemon/backup/state_of_a_device.h"
#include "tests/errors.h"

namespace moil::backup::test {
namespace {

using moil::test::expect_error;
using moil::test::ScratchFolder;

class Backups : public ::testing::Test {
 protected:
  // Into backup_.
  Json make() {
    const UniqueFd file(open_file(backup_, O_WRONLY | O_CREAT | O_TRUNC));
    const fs::path scratch = device_.layout.backing_up(1);
    make_private_folder(scratch);
    Json told = make_backup(device_.layout, scratch, file.get(), {});
    fs::remove_all(scratch);
    return told;
  }
  Json read(const fs::path& backup) const {
    fs::create_directories(there_.root());
    fs::remove_all(there_.restoring());
    make_private_folder(there_.restoring());
    const UniqueFd file(open_file(backup, O_RDONLY));
    return read_backup(there_, file.get(), {});
  }
  void restore() const {
    (void)read(backup_);
    fs::rename(there_.restoring(), there_.restored());
    daemon::put_restored_in_place(there_);
  }
  void refused(ErrorCode code, const std::string& words) const {
    expect_error(code, words, [&] { (void)read(backup_); });
  }

  Device device_;
  const ScratchFolder other_;
  const fs::path backup_ = other_ / "backup.tar";
  const daemon::StateLayout there_{other_ / "state"};
};

TEST_F(Backups, AllComesBackInAnotherStateFolder) {
  const Json told = make();
  EXPECT_EQ(told["holds"], Json({{"samples", 2},
                                 {"labels", 1},
                                 {"models", 1},
                                 {"versions", 2},
                                 {"schedules", 1},
                                 {"packs", 1}}));
  EXPECT_EQ(told["samples_left_out"], 0);
  EXPECT_EQ(told["packs_elsewhere"], Json::array());
  restore();

  EXPECT_EQ(read_text(there_.version("digits", 1) / "weights.safetensors"), "first");
  EXPECT_EQ(read_text(there_.version("digits", 2) / "weights.safetensors"), "second");
  EXPECT_TRUE(fs::exists(there_.accuracies("digits")));
  Database database(there_.database(), Database::Access::kReadWrite);
  daemon::ModelStore models(database, there_);
  daemon::JobStore jobs(database, models);
  EXPECT_EQ(models.active("digits")->version, 2);
  const auto nightly = daemon::ScheduleStore(database, jobs).get("nightly");
  EXPECT_EQ(nightly.spec.job.global.pack, there_.pack("mine").string());
  EXPECT_EQ(jobs.get(1).spec.global.pack, there_.pack("mine").string());
  const data::LabelStore labels(there_.labels(), data::LabelStore::Access::kReadWrite);
  std::size_t samples = 0;
  labels.for_each_sample({}, [&](const data::SampleRecord& sample) {
    EXPECT_EQ(labels.content(sample.digest), device_.labels.content(sample.digest));
    EXPECT_EQ(sample.labels, std::vector<std::string>{"seven"});
    ++samples;
  });
  EXPECT_EQ(samples, 2U);
}

TEST_F(Backups, WhatIsMadeAgainIsNotInIt) {
  make();
  restore();
  EXPECT_FALSE(fs::exists(there_.cache()));
  EXPECT_TRUE(fs::is_empty(there_.jobs()));
}

TEST_F(Backups, ASampleThatHasNoFileIsLeftOutAndTheRestServes) {
  const data::Digest lost = large_photo(device_.labels, "lost"),
                     cut = large_photo(device_.labels, "cut");
  const data::SampleFiles files(device_.layout.labels() / "files");
  fs::remove(files.path_of(lost));
  fs::resize_file(files.path_of(cut), 7);
  EXPECT_EQ(make()["samples_left_out"], 2);
  restore();
  const data::LabelStore labels(there_.labels(), data::LabelStore::Access::kReadWrite);
  EXPECT_EQ(labels.counts().samples, 2U);
  EXPECT_FALSE(labels.has(lost));
}

TEST_F(Backups, PacksOutsideTheStateFolderAreNamed) {
  daemon::RecurringSpec spec;
  spec.name = "other";
  spec.job = job_spec("/srv/pack");
  device_.schedules.add(spec);
  EXPECT_EQ(make()["packs_elsewhere"], Json::array({"/srv/pack"}));
}

TEST_F(Backups, WhileLabelsAreAddedAndForgottenAndVersionsComeAndGo) {
  std::atomic<bool> stop = false;
  std::thread labelling([&] {
    for (int i = 0; !stop; ++i) {
      const data::Digest digest = large_photo(device_.labels, "during " + std::to_string(i));
      if (i % 2 == 0) device_.labels.forget(digest);
    }
  });
  std::thread learning([&] {
    Database database(device_.layout.database(), Database::Access::kReadWrite);
    daemon::ModelStore models(database, device_.layout);
    while (!stop) {
      const std::int64_t added = models.reserve("digits", {}, {});
      const fs::path folder = device_.layout.version("digits", added);
      write(folder / "model.json", "{}");
      write(folder / "weights.safetensors", std::to_string(added));
      models.record("digits", added, "", Json::object(), false);
      models.remove("digits", added);
      fs::remove_all(folder);
    }
  });
  for (int i = 0; i < 10; ++i) {
    make();
    (void)read(backup_);  // which finds each sample and version that its databases name
  }
  stop = true;
  labelling.join();
  learning.join();
}

TEST_F(Backups, AFullDiskIsSaidToBeFull) {
  const UniqueFd full(open_file("/dev/full", O_WRONLY));
  const fs::path scratch = device_.layout.backing_up(1);
  make_private_folder(scratch);
  EXPECT_THROW((void)make_backup(device_.layout, scratch, full.get(), {}), DiskFull);
}

TEST_F(Backups, MoreThanTheDiskHasIsRefusedBeforeItIsWritten) {
  make();
  const UniqueFd file(open_file(backup_, O_WRONLY | O_TRUNC));
  ArchiveWriter archive(file.get());
  archive.add(kFirst, Json({{"format", 1},
                            {"moild", "0.1.0"},
                            {"made_at", ""},
                            {"state_dir", "/"},
                            {"bytes", std::uint64_t{1} << 62},
                            {"holds", Json::object()}})
                          .dump());
  archive.close();
  refused(ErrorCode::kResourceExhausted, "bytes on the disk");
}

// At each length of a backup's headers and ends, and between.
TEST_F(Backups, OneThatIsCutOffIsRefused) {
  make();
  const std::string whole = read_text(backup_);
  const std::size_t step = 509;  // a prime: within and at the blocks of 512
  for (std::size_t size = 0; size < whole.size() - 1024; size += step) {
    std::ofstream(backup_, std::ios::trunc) << whole.substr(0, size);
    SCOPED_TRACE(size);
    refused(ErrorCode::kBadData, "no backup of moild that could be restored");
  }
}

TEST_F(Backups, OneThatIsDamagedAnywhereIsRefused) {
  make();
  const std::string whole = read_text(backup_);
  for (std::size_t at = 0; at < whole.size() - 1024; at += 1021) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    std::ofstream(backup_, std::ios::trunc) << damaged;
    SCOPED_TRACE(at);
    try {
      (void)read(backup_);
      // What only fills up blocks, or says whose a file is, may be what it likes.
      EXPECT_EQ(whole.find_first_not_of('\0', at) == at, false) << "at " << at;
    } catch (const Error& error) {
      EXPECT_THAT(error.code(), ::testing::AnyOf(ErrorCode::kBadData, ErrorCode::kUnimplemented,
                                                 ErrorCode::kResourceExhausted))
          << error.what();
    }
  }
}

// The members of a whole backup, to be written otherwise.
class Hostile : public Backups {
 protected:
  using Members = std::vector<std::pair<std::string, std::string>>;
  Members members() {
    make();
    const UniqueFd file(open_file(backup_, O_RDONLY));
    ArchiveReader archive(file.get());
    Members found;
    while (const auto member = archive.next()) {
      std::vector<std::uint8_t> bytes(member->size + 1);
      std::size_t size = 0;
      while (const std::size_t more = archive.read(std::span(bytes).subspan(size))) size += more;
      found.emplace_back(member->path,
                         std::string(bytes.begin(), bytes.begin() + static_cast<long>(size)));
    }
    return found;
  }
  // With an end that fits.
  void write_backup(Members content) {
    const UniqueFd file(open_file(backup_, O_WRONLY | O_CREAT | O_TRUNC));
    ArchiveWriter archive(file.get());
    Seal seal;
    content.pop_back();
    for (const auto& [path, bytes] : content) {
      archive.add(path, bytes);
      seal.add(path, bytes);
    }
    archive.add(kLast, seal.told().dump());
    archive.close();
  }
  static std::string& content(Members& members, const std::string& path) {
    for (auto& [name, bytes] : members)
      if (name == path) return bytes;
    throw std::runtime_error("no " + path);
  }
  // The database of a backup, changed by SQL.
  void change(Members& members, const std::string& path, const char* sql) {
    const fs::path file = other_ / "changed.db";
    fs::remove(file);
    std::ofstream(file, std::ios::binary) << content(members, path);
    {
      Database database(file, Database::Access::kReadWrite);
      database.run(sql);
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    content(members, path) = read_text(file);
  }
};

TEST_F(Hostile, OneThatIsWrittenAgainServes) {
  write_backup(members());
  restore();
}

TEST_F(Hostile, PathsThatAreNoMembers) {
  const Members whole = members();
  for (const char* path : {"../outside",
                           "/etc/passwd",
                           "models/../../outside",
                           "models/digits/1/../../../outside",
                           "models/digits/01/model.json",
                           "models/digits/0/model.json",
                           "models/digits/1/other",
                           "models/.hidden/1/model.json",
                           "models/a/b/1/model.json",
                           "models",
                           "models/",
                           "moild.db-wal",
                           "moild.db/",
                           "./moild.db",
                           "labels/labels.db-wal",
                           "labels/lock",
                           "lock",
                           "cache/data.mdb",
                           "jobs/1/job.json",
                           "packs/mine/../x",
                           "packs/mine/.x",
                           "packs/mine/a/b",
                           "packs/mine/",
                           "profiles/other.json",
                           "profiles/accuracy/../x.json",
                           "labels/files/ab/abcd",
                           "labels/files/ab/cd000000000000000000000000000000",
                           "labels/files/ab/ABab0000000000000000000000000000",
                           "",
                           ".",
                           "..",
                           "backup.json"}) {
    SCOPED_TRACE(path);
    EXPECT_FALSE(is_member(path));
    if (std::string_view(path).empty()) continue;
    Members more = whole;
    more.insert(more.begin() + 1, {path, "x"});
    write_backup(more);
    refused(ErrorCode::kBadData, "");
    EXPECT_FALSE(fs::exists(other_ / "outside"));
    EXPECT_FALSE(fs::exists(there_.root() / "outside"));
  }
}

TEST_F(Hostile, AMemberThatIsThereTwiceAndOneBehindTheEnd) {
  Members more = members();
  more.insert(more.begin() + 1, more[1]);
  write_backup(more);
  refused(ErrorCode::kBadData, "twice");
}

TEST_F(Hostile, OneOfANewerMoildIsRefusedByName) {
  Members newer = members();
  Json first = parsed_json(newer[0].second);
  first["format"] = 2;
  first["moild"] = "9.8.7";
  newer[0].second = first.dump();
  write_backup(newer);
  refused(ErrorCode::kUnimplemented, "made by a newer moild (9.8.7, format 2)");
  Members state = members();
  change(state, "moild.db", "PRAGMA user_version = 99");
  write_backup(state);
  refused(ErrorCode::kUnimplemented, "newer moild");
  Members labels = members();
  change(labels, "labels/labels.db", "PRAGMA user_version = 99");
  write_backup(labels);
  refused(ErrorCode::kUnimplemented, "");
}

TEST_F(Hostile, DatabasesThatAreNotMoilds) {
  const Members whole = members();
  const std::pair<const char*, const char*> changes[] = {
      {"moild.db", "CREATE TRIGGER t AFTER INSERT ON jobs BEGIN DELETE FROM versions; END"},
      {"moild.db", "CREATE VIEW v AS SELECT 1"},
      {"moild.db", "DROP INDEX jobs_by_state"},
      {"moild.db", "PRAGMA foreign_keys = OFF; UPDATE versions SET model = '../../outside'"},
      {"moild.db", "PRAGMA foreign_keys = OFF; UPDATE versions SET version = 77 WHERE version = 1"},
      {"moild.db", "UPDATE schedules SET description = '{'"},
      {"moild.db", "UPDATE schedules SET description = '{\"name\": 3}'"},
      {"moild.db", "UPDATE jobs SET spec = '{'"},
      {"moild.db", "UPDATE versions SET metrics = '['"},
      {"moild.db", "UPDATE jobs SET model = '/'"},
      {"labels/labels.db", "CREATE TABLE further (x)"},
      {"labels/labels.db", "UPDATE samples SET size = size + 1 WHERE content IS NULL"},
  };
  for (const auto& [path, sql] : changes) {
    SCOPED_TRACE(sql);
    Members changed = whole;
    change(changed, path, sql);
    write_backup(changed);
    refused(ErrorCode::kBadData, "");
  }
  for (const char* path : {"moild.db", "labels/labels.db"}) {
    Members changed = whole;
    content(changed, path) = "no database";
    write_backup(changed);
    refused(ErrorCode::kBadData, "");
    std::erase_if(changed, [&](const auto& member) { return member.first == path; });
    write_backup(changed);
    refused(ErrorCode::kBadData, "is not in it");
  }
}

TEST_F(Hostile, FilesThatItsDatabasesNameAreThere) {
  for (const char* part : {"models/digits/1/model.json", "labels/files/"}) {
    Members less = members();
    std::erase_if(less, [&](const auto& member) { return member.first.starts_with(part); });
    write_backup(less);
    refused(ErrorCode::kBadData, "not in it");
  }
}

TEST_F(Hostile, APackThatCannotBeReadIsLeftOut) {
  make();
  const Json told = read(backup_);
  ASSERT_EQ(told["packs_left_out"].size(), 1U);
  EXPECT_EQ(told["packs_left_out"][0]["pack"], "mine");
  EXPECT_FALSE(fs::exists(there_.restoring() / "packs" / "mine"));
}

// Of a process that puts a backup in its place: it ends before, or after, so many renames.
int renames_left = -1;
bool ends_before = false;

// The status of a child that does the work, and is killed at the step.
int in_child(int renames, bool before, const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    renames_left = renames;
    ends_before = before;
    try {
      work();
    } catch (const std::exception& error) {
      (void)::write(STDERR_FILENO, error.what(), std::string_view(error.what()).size());
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace
}  // namespace moil::backup::test

// In place of the C library's.
extern "C" int rename(const char* from, const char* to) {
  using namespace moil::backup::test;
  const bool ends = renames_left == 0;
  if (renames_left >= 0) --renames_left;
  if (ends && ends_before) ::raise(SIGKILL);
  const long result = ::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (ends) ::raise(SIGKILL);
  return static_cast<int>(result);
}

namespace moil::backup::test {
namespace {

TEST_F(Backups, KilledAtAnyStepTheNextStartGoesOn) {
  make();
  for (int kills = 0, step = 0; step == 0 || kills > 0; ++step) {
    kills = 0;
    for (const bool before : {true, false}) {
      SCOPED_TRACE(step);
      fs::remove_all(there_.root());
      for (const char* part : {"models/old/1", "packs/old", "jobs/7", "cache", "labels/files/ab"})
        write(there_.root() / part / "file", "old");
      for (const char* file : {"moild.db", "moild.db-wal", "moild.db-shm", "lost-nights.json"})
        write(there_.root() / file, "old");
      (void)read(backup_);
      fs::rename(there_.restoring(), there_.restored());
      const auto put = [&] { daemon::put_restored_in_place(there_); };
      kills += in_child(step, before, put) == -SIGKILL ? 1 : 0;
      ASSERT_EQ(in_child(-1, false, put), 0);
      EXPECT_FALSE(fs::exists(there_.restored()));
      for (const char* gone : {"models/old", "packs/old", "jobs/7", "cache", "moild.db-wal",
                               "labels/files/ab/file", "lost-nights.json"})
        EXPECT_FALSE(fs::exists(there_.root() / gone)) << gone;
      EXPECT_EQ(read_text(there_.version("digits", 2) / "weights.safetensors"), "second");
      const Database database(there_.database(), Database::Access::kReadOnly);
      EXPECT_EQ(database.number("SELECT count(*) FROM versions"), 2);
    }
    ASSERT_LT(step, 100);
    EXPECT_EQ(kills, step == 0 ? 2 : kills);
  }
}

TEST_F(Backups, WhatNeverBecameReadyIsThrownAway) {
  make();
  write(there_.root() / "moild.db", "old");
  (void)read(backup_);
  write(there_.backing_up(3) / "moild.db", "half a copy");
  daemon::put_restored_in_place(there_);
  EXPECT_EQ(read_text(there_.database()), "old");
  EXPECT_FALSE(fs::exists(there_.restoring()));
  EXPECT_FALSE(fs::exists(there_.backing_up(3)));
}

}  // namespace
}  // namespace moil::backup::test
