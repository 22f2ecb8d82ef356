#include "daemon/backup/restore.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/files/disk_full.h"
#include "base/files/file.h"
#include "base/files/open_file.h"
#include "base/files/write_all.h"
#include "base/version.h"
#include "daemon/backup/archive.h"
#include "daemon/backup/members.h"
#include "daemon/backup/restored_checks.h"
#include "daemon/json/parse.h"
#include "daemon/spec/worker_protocol.h"
#include "daemon/state/restored_state.h"

namespace fs = std::filesystem;

namespace moil::backup {
namespace {

Json document_of(const std::string& path, const std::string& text) {
  Json document;
  try {
    document = daemon::parse_json(text, daemon::kMostNesting);
  } catch (const Error& error) {
    throw bad(path + ": " + error.what());
  }
  if (!document.is_object()) throw bad(path + " is no object");
  return document;
}

Json first_of(ArchiveReader& archive, Seal& seal) {
  const auto member = archive.next();
  if (!member || member->path != kFirst) throw bad("it does not begin as one");
  const std::string text = archive.text(*member);
  seal.add(kFirst, text);
  Json first = document_of(kFirst, text);
  const Json format = first.value("format", Json());
  if (!format.is_number_integer() || format < 1) throw bad("backup.json names no format");
  if (format > kFormat) {
    const Json by = first.value("moild", Json());
    throw Error(ErrorCode::kUnimplemented,
                "the backup was made by a newer moild (" +
                    (by.is_string() ? by.get<std::string>() : "unknown") + ", format " +
                    format.dump() + "); this one, " + kVersion + ", knows formats up to " +
                    std::to_string(kFormat));
  }
  for (const char* name : {"moild", "made_at", "state_dir"})
    if (!first.value(name, Json()).is_string()) throw bad("backup.json lacks " + std::string(name));
  if (!first.value("bytes", Json()).is_number_unsigned() ||
      !first.value("holds", Json()).is_object())
    throw bad("backup.json does not say what it holds");
  return first;
}

void require_room(const fs::path& folder, std::uint64_t bytes, const std::string& what) {
  const auto free = free_disk_bytes(folder);
  if (free && bytes > *free)
    throw DiskFull(what + " needs " + std::to_string(bytes) + " bytes on the disk, " +
                   std::to_string(*free) + " are free");
}

void flush_disk(const fs::path& folder) {
  const UniqueFd open(open_file(folder, O_RDONLY | O_DIRECTORY));
  if (!open || ::syncfs(open.get()) != 0)
    throw_write_error("cannot flush " + folder.string(), errno);
}

class Reading {
 public:
  Reading(const fs::path& into, int descriptor) : into_(into), archive_(descriptor) {}

  Json all(const Pace::Tell& tell) {
    Json first = first_of(archive_, seal_);
    const auto bytes = first["bytes"].get<std::uint64_t>();
    require_room(into_, bytes, "the backup");
    Pace pace(bytes, tell);
    for (;;) {
      const auto member = archive_.next();
      if (!member) throw bad("it is cut off: its end is not there");
      if (member->path == kLast) {
        if (document_of(kLast, archive_.text(*member)) != seal_.told())
          throw bad("it is damaged: its content is not what its end says");
        break;
      }
      take(*member, pace);
    }
    if (archive_.next()) throw bad("it goes on behind its end");
    return first;
  }

 private:
  void take(const ArchiveReader::Member& member, Pace& pace) {
    if (!is_member(member.path))
      throw bad("the member \"" + member.path + "\" has no place in a backup");
    require_room(into_, member.size, "the member " + member.path);
    const fs::path path = into_ / member.path;
    fs::create_directories(path.parent_path());
    const UniqueFd file(open_file(path, O_WRONLY | O_CREAT | O_EXCL));
    if (!file && errno == EEXIST) throw bad("the member \"" + member.path + "\" is there twice");
    if (!file) throw_write_error("cannot create " + path.string(), errno);
    seal_.begin(member.path, member.size);
    while (const std::size_t size = archive_.read(piece_)) {
      const auto piece = std::span(piece_).first(size);
      if (!write_all(file.get(), piece)) throw_write_error("cannot write " + path.string(), errno);
      seal_.add(piece);
      pace.add(size);
    }
  }

  const fs::path into_;
  ArchiveReader archive_;
  Seal seal_;
  std::vector<std::uint8_t> piece_ = std::vector<std::uint8_t>(kPieceBytes);
};

}  // namespace

Json read_backup(const daemon::StateLayout& layout, int descriptor, const Pace::Tell& tell) {
  const fs::path folder = layout.restoring();
  try {
    Json told = Reading(folder, descriptor).all(tell);
    for (const char* part : daemon::kRestoredParts)
      if (fs::path(part).extension().empty()) fs::create_directories(folder / part);
    told["packs_left_out"] = check_restored(layout, told.at("state_dir").get<std::string>());
    flush_disk(folder);
    return told;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadData) throw;
    throw bad("this is no backup of moild that could be restored: " + std::string(error.what()));
  }
}

}  // namespace moil::backup
