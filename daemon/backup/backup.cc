#include "daemon/backup/backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/files/open_file.h"
#include "base/seconds.h"
#include "base/version.h"
#include "daemon/backup/archive.h"
#include "daemon/backup/members.h"
#include "daemon/backup/snapshot.h"
#include "daemon/state/job.h"
#include "datasets/labels/label_store.h"

namespace fs = std::filesystem;

namespace moil::backup {
namespace {

std::int64_t size_of(int file) {
  struct stat info {};
  return ::fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : -1;
}

class Writer {
 public:
  Writer(int descriptor, const Json& first, const Pace::Tell& tell)
      : archive_(descriptor), pace_(first.at("bytes").get<std::uint64_t>(), tell) {
    const std::string text = first.dump() + "\n";
    archive_.add(kFirst, text);
    seal_.add(kFirst, text);
  }

  void add(const fs::path& path, int file, std::uint64_t size) {
    archive_.begin(path.native(), size);
    seal_.begin(path.native(), size);
    while (size > 0) {
      const ssize_t n = ::read(file, piece_.data(), std::min<std::uint64_t>(size, piece_.size()));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw system_error("cannot read " + path.string(), n < 0 ? errno : EIO);
      const auto read = std::span(piece_).first(static_cast<std::size_t>(n));
      archive_.add(read);
      seal_.add(read);
      pace_.add(read.size());
      size -= read.size();
    }
  }
  void add(const fs::path& path, const fs::path& from) {
    const UniqueFd file(open_file(from, O_RDONLY));
    const std::int64_t size = file ? size_of(file.get()) : -1;
    if (size < 0) throw system_error("cannot open " + from.string(), errno);
    add(path, file.get(), static_cast<std::uint64_t>(size));
  }
  Json close() {
    const Json last = seal_.told();
    archive_.add(kLast, last.dump() + "\n");
    archive_.close();
    return last;
  }

 private:
  ArchiveWriter archive_;
  Seal seal_;
  Pace pace_;
  std::vector<std::uint8_t> piece_ = std::vector<std::uint8_t>(kPieceBytes);
};

// Files of samples, as the copy of the store knows them. Those that are not there as they should be
// are forgotten in the copy; their number.
std::size_t add_samples(const daemon::StateLayout& layout, data::LabelStore& copy, Writer& writer) {
  const data::SampleFiles files(layout.labels() / "files"), members("labels/files");
  std::vector<data::Digest> gone;
  copy.for_each_sample({}, [&](const data::SampleRecord& sample) {
    if (sample.size <= data::kInlineBytes) return;
    const UniqueFd file(open_file(files.path_of(sample.digest), O_RDONLY));
    if (file && size_of(file.get()) == static_cast<std::int64_t>(sample.size))
      writer.add(members.path_of(sample.digest), file.get(), sample.size);
    else
      gone.push_back(sample.digest);
  });
  for (const data::Digest& digest : gone) copy.forget(digest);
  return gone.size();
}

std::uint64_t bytes_of(const Snapshot& snapshot, const daemon::StateLayout& copy,
                       const data::LabelStore& labels) {
  std::uint64_t bytes = fs::file_size(copy.database()) + fs::file_size(copy.labels() / "labels.db");
  for (const KeptFile& kept : snapshot.files) bytes += kept.size;
  labels.for_each_sample({}, [&](const data::SampleRecord& sample) {
    if (sample.size > data::kInlineBytes) bytes += sample.size;
  });
  return bytes;
}

Json first_of(const daemon::StateLayout& layout, const daemon::StateLayout& copy,
              const Snapshot& snapshot, const data::LabelStore& labels) {
  const Database state(copy.database(), Database::Access::kReadOnly);
  const data::StoreCounts counts = labels.counts();
  return {{"format", kFormat},
          {"moild", kVersion},
          {"made_at", daemon::utc_text(now_milliseconds())},
          {"state_dir", layout.root().string()},
          {"bytes", bytes_of(snapshot, copy, labels)},
          {"holds",
           {{"samples", counts.samples},
            {"labels", counts.labels},
            {"models", state.number("SELECT count(DISTINCT model) FROM versions "
                                    "WHERE state = 'ready'")},
            {"versions", snapshot.versions},
            {"schedules", state.number("SELECT count(*) FROM schedules")},
            {"packs", snapshot.packs}}}};
}

Json packs_elsewhere(const daemon::StateLayout& layout, const daemon::StateLayout& copy) {
  const Database state(copy.database(), Database::Access::kReadOnly);
  Statement rows(state,
                 "SELECT json_extract(description, '$.job.global.pack') AS pack FROM schedules "
                 "WHERE pack IS NOT NULL UNION SELECT json_extract(spec, '$.global.pack') AS pack "
                 "FROM jobs WHERE state IN ('queued', 'running') AND pack IS NOT NULL");
  Json packs = Json::array();
  while (rows.step())
    if (fs::path(rows.text(0)).parent_path() != layout.packs()) packs.push_back(rows.text(0));
  return packs;
}

}  // namespace

Json make_backup(const daemon::StateLayout& layout, const fs::path& scratch, int descriptor,
                 const Pace::Tell& tell) {
  const daemon::StateLayout copy(scratch);
  Snapshot snapshot = take_snapshot(layout, scratch);
  auto labels =
      std::make_unique<data::LabelStore>(copy.labels(), data::LabelStore::Access::kReadWrite);
  Json told = first_of(layout, copy, snapshot, *labels);
  Writer writer(descriptor, told, tell);
  for (KeptFile& kept : snapshot.files) {
    if (kept.file)
      writer.add(kept.path, kept.file.get(), kept.size);
    else
      writer.add(kept.path, layout.root() / kept.path);
    kept.file.reset();
  }
  told["samples_left_out"] = add_samples(layout, *labels, writer);
  labels.reset();  // writes its log into the file
  writer.add("labels/labels.db", copy.labels() / "labels.db");
  writer.add("moild.db", copy.database());
  told["files"] = writer.close().at("files");
  told["packs_elsewhere"] = packs_elsewhere(layout, copy);
  return told;
}

}  // namespace moil::backup
