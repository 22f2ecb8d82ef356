#include "daemon/backup/restored_checks.h"

#include <set>
#include <vector>

#include "base/error.h"
#include "base/files/folder_entries.h"
#include "base/sqlite/database.h"
#include "daemon/backup/members.h"
#include "daemon/state/job_store.h"
#include "daemon/state/schedule_store.h"
#include "datasets/labels/label_store.h"
#include "datasets/labels/schema.h"
#include "datasets/pack/manifest.h"

namespace fs = std::filesystem;

namespace moil::backup {
namespace {

using Access = Database::Access;
using Prepare = void (*)(Database&);

void require_sound(const fs::path& file) {
  if (!fs::exists(file)) throw bad(file.filename().string() + " is not in it");
  const Database database(file, Access::kReadOnly);
  Statement check(database, "PRAGMA integrity_check(1)");
  const std::string found = check.step() ? check.text(0) : "nothing";
  if (found != "ok") throw bad(file.filename().string() + ": " + found);
}

// Tables, indices, and whatever else somebody may have put there.
std::set<std::string> schema_of(const Database& database) {
  Statement rows(database,
                 "SELECT type || ' ' || tbl_name || ' ' || sql FROM sqlite_schema WHERE sql IS "
                 "NOT NULL AND name NOT IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4')");
  std::set<std::string> schema;
  while (rows.step()) schema.insert(rows.text(0));
  return schema;
}

// Brings it to the present version; then it must be what a new one is.
void bring_up_to_date(const fs::path& file, Prepare prepare) {
  require_sound(file);
  const fs::path other = file.parent_path() / "new.db";
  {
    Database database(file, Access::kReadWrite), fresh(other, Access::kReadWrite);
    database.run("PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON;");
    prepare(database);
    prepare(fresh);
    if (schema_of(database) != schema_of(fresh))
      throw bad(file.filename().string() + " has other tables than moild's");
    if (Statement(database, "PRAGMA foreign_key_check").step())
      throw bad(file.filename().string() + " names what is not in it");
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(other.native() + end);
}

void require_names(const Database& database, const char* names) {
  Statement rows(database, names);
  while (rows.step())
    if (const auto wrong = daemon::check_name(rows.text(0)))
      throw bad("moild.db: a model's name: " + *wrong);
}

// Whatever the daemon reads of it at its start, and later.
void require_readable(Database& database, const daemon::StateLayout& layout) {
  require_names(database,
                "SELECT model FROM versions UNION SELECT model FROM jobs UNION SELECT model FROM "
                "removed_versions UNION SELECT model FROM withdrawals");
  try {
    daemon::ModelStore models(database, layout);
    daemon::JobStore jobs(database, models);
    for (const auto& v : models.list()) {
      if (v.version < 1 || !fs::exists(layout.version(v.model, v.version) / "model.json"))
        throw bad("the files of model " + v.model + " version " + std::to_string(v.version) +
                  " are not in it");
    }
    jobs.list({}, 0, daemon::Details::kWith, [](const daemon::Job&) { return true; });
    (void)daemon::ScheduleStore(database, jobs).all();
  } catch (const Json::exception& error) {
    throw bad("moild.db: " + std::string(error.what()));
  } catch (const Error& error) {
    throw bad("moild.db: " + std::string(error.what()));
  }
}

void require_samples(const data::LabelStore& labels, const data::SampleFiles& files) {
  labels.for_each_sample({}, [&](const data::SampleRecord& sample) {
    if (sample.size <= data::kInlineBytes) return;
    std::error_code error;
    if (fs::file_size(files.path_of(sample.digest), error) != sample.size || error)
      throw bad("the sample " + sample.digest.hex() + " is not in it");
  });
}

void look_for_packs_in(Database& database, const fs::path& before, const fs::path& now) {
  const std::string from = before / "", to = now / "";
  if (from == to) return;
  for (const char* update :
       {"UPDATE schedules SET description = json_set(description, '$.job.global.pack', ?2 || "
        "substr(json_extract(description, '$.job.global.pack'), length(?1) + 1)) WHERE "
        "substr(json_extract(description, '$.job.global.pack'), 1, length(?1)) = ?1",
        "UPDATE jobs SET spec = json_set(spec, '$.global.pack', ?2 || "
        "substr(json_extract(spec, '$.global.pack'), length(?1) + 1)) WHERE "
        "substr(json_extract(spec, '$.global.pack'), 1, length(?1)) = ?1"})
    Statement(database, update).bind(std::string_view(from)).bind(std::string_view(to)).run();
}

Json without_unreadable_packs(const fs::path& packs) {
  Json left_out = Json::array();
  for (const fs::path& pack : entries_of(packs)) {
    try {
      (void)data::read_manifest(pack);
    } catch (const Error& error) {
      left_out.push_back({{"pack", pack.filename().string()}, {"why", error.what()}});
      fs::remove_all(pack);
    }
  }
  return left_out;
}

}  // namespace

Json check_restored(const daemon::StateLayout& layout, const std::string& before) {
  const daemon::StateLayout staged(layout.restoring());
  bring_up_to_date(staged.database(), daemon::prepare_database);
  bring_up_to_date(staged.labels() / "labels.db", data::migrate_label_schema);
  {
    Database database(staged.database(), Access::kReadWrite);
    require_readable(database, staged);
    const daemon::StateLayout there(before);
    look_for_packs_in(database, there.packs(), layout.packs());
  }
  require_samples(data::LabelStore(staged.labels(), data::LabelStore::Access::kReadWrite),
                  data::SampleFiles(staged.labels() / "files"));
  return without_unreadable_packs(staged.packs());
}

}  // namespace moil::backup
