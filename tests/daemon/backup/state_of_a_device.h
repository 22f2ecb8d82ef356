// A state folder with something of everything that a backup holds, without a daemon.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "daemon/state/job_store.h"
#include "daemon/state/schedule_store.h"
#include "datasets/labels/label_store.h"
#include "tests/scratch_folder.h"

namespace moil::backup::test {

namespace fs = std::filesystem;

inline void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

// As a photo begins; what is longer than data::kInlineBytes is a file of its own.
inline std::vector<std::uint8_t> photo(const std::string& what, std::size_t bytes = 100) {
  std::string text = "\xff\xd8\xff" + what;
  text.resize(bytes, '.');
  return {text.begin(), text.end()};
}

inline data::Digest large_photo(data::LabelStore& labels, const std::string& what) {
  const std::vector<std::string> label{"seven"};
  return labels.add_sample(photo(what, data::kInlineBytes + 1), label).digest;
}

inline daemon::JobSpec job_spec(const fs::path& pack) {
  return daemon::job_spec_from_json(
      {{"name", "night"}, {"model", "digits"}, {"global", {{"pack", pack.string()}}}});
}

class Device {
 public:
  Device() {
    for (const fs::path& part : {layout.models(), layout.packs(), layout.jobs()})
      fs::create_directories(part);
    daemon::prepare_database(database);
    for (const char* weights : {"first", "second"}) add_version(weights);
    write(layout.pack("mine") / "pack.json", "{}");
    write(layout.accuracies("digits"), "{}");
    write(layout.cache() / "data.mdb", "maps");
    const std::vector<std::string> seven{"seven"};
    labels.add_sample(photo("small"), seven);
    large_photo(labels, "large");
    daemon::RecurringSpec nightly;
    nightly.name = "nightly";
    nightly.job = job_spec(layout.pack("mine"));
    schedules.add(nightly);
    jobs.submit(job_spec(layout.pack("mine")), false);
  }

  std::int64_t add_version(const std::string& weights) {
    const std::int64_t version = models.reserve("digits", {}, {});
    write(layout.version("digits", version) / "model.json", "{}");
    write(layout.version("digits", version) / "weights.safetensors", weights);
    models.record("digits", version, "imported", Json::object(), true);
    return version;
  }

  const moil::test::ScratchFolder folder;
  const daemon::StateLayout layout{folder / "state"};

 private:
  const bool made_ = fs::create_directories(layout.root());

 public:
  Database database{layout.database(), Database::Access::kReadWrite};
  daemon::ModelStore models{database, layout};
  daemon::JobStore jobs{database, models};
  daemon::ScheduleStore schedules{database, jobs};
  data::LabelStore labels{layout.labels(), data::LabelStore::Access::kReadWrite};
};

}  // namespace moil::backup::test
