// The stores of a daemon on a state folder, without the daemon, and a model in service.
#pragma once

#include <gtest/gtest.h>

#include "daemon/state/job_store.h"
#include "tests/daemon/support/test_server.h"

namespace moil::daemon::test {

class StoresTest : public ::testing::Test {
 protected:
  StoresTest()
      : database_(layout_.database(), Database::Access::kReadWrite), models_(database_, layout_) {
    prepare_database(database_);
    std::filesystem::create_directories(layout_.models());
    const std::int64_t version = reserved(models_.reserve("digits", {}, {}));
    models_.record("digits", version, "imported", Json::object(), /*activate=*/true);
  }

  std::int64_t submit(bool now = false, int priority = 0) {
    const JobSpec spec = job_spec_from_json(job_named("night", "/pack"));
    return jobs_.submit(spec, now, JobStore::Origin{"", priority});
  }
  // A job that runs, and has written the version that it may promote.
  std::int64_t running() {
    const std::int64_t id = submit();
    reserved(jobs_.prepare(id).version);
    jobs_.begin(id);
    return id;
  }

  TempFolder folder_;
  StateLayout layout_{folder_.path()};
  Database database_;
  ModelStore models_;
  JobStore jobs_{database_, models_};

 private:
  std::int64_t reserved(std::int64_t version) {
    std::filesystem::create_directories(layout_.version("digits", version));
    return version;
  }
};

}  // namespace moil::daemon::test
