#include "daemon/backup/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include "base/error.h"
#include "base/files/disk_full.h"
#include "daemon/backup/members.h"

namespace moil::backup {
namespace {

constexpr std::size_t kBlockBytes = 64 << 10;
constexpr std::uint64_t kMostTextBytes = 1 << 20;

}  // namespace

void ArchiveWriter::Free::operator()(archive* handle) const { archive_write_free(handle); }
void ArchiveWriter::Free::operator()(archive_entry* entry) const { archive_entry_free(entry); }
void ArchiveReader::Free::operator()(archive* handle) const { archive_read_free(handle); }

ArchiveWriter::ArchiveWriter(int descriptor)
    : archive_(archive_write_new()), entry_(archive_entry_new()) {
  check(archive_write_set_format_gnutar(archive_.get()));
  check(archive_write_set_bytes_per_block(archive_.get(), kBlockBytes));
  check(archive_write_set_bytes_in_last_block(archive_.get(), 1));
  check(archive_write_open_fd(archive_.get(), descriptor));
}

void ArchiveWriter::begin(const std::string& path, std::uint64_t size) {
  archive_entry_clear(entry_.get());
  archive_entry_set_pathname(entry_.get(), path.c_str());
  archive_entry_set_filetype(entry_.get(), AE_IFREG);
  archive_entry_set_perm(entry_.get(), 0600);
  archive_entry_set_size(entry_.get(), static_cast<la_int64_t>(size));
  check(archive_write_header(archive_.get(), entry_.get()));
}

void ArchiveWriter::add(std::span<const std::uint8_t> piece) {
  while (!piece.empty()) {
    const auto written = archive_write_data(archive_.get(), piece.data(), piece.size());
    if (written <= 0) check(ARCHIVE_FATAL);
    piece = piece.subspan(static_cast<std::size_t>(written));
  }
}

void ArchiveWriter::add(const std::string& path, const std::string& content) {
  begin(path, content.size());
  add({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
}

void ArchiveWriter::close() { check(archive_write_close(archive_.get())); }

void ArchiveWriter::check(int code) const {
  if (code >= ARCHIVE_WARN) return;
  throw_write_error("the backup cannot be written", archive_errno(archive_.get()));
}

ArchiveReader::ArchiveReader(int descriptor) : archive_(archive_read_new()) {
  archive_read_support_format_tar(archive_.get());
  if (archive_read_open_fd(archive_.get(), descriptor, kBlockBytes) < ARCHIVE_WARN) fail();
}

std::optional<ArchiveReader::Member> ArchiveReader::next() {
  archive_entry* entry = nullptr;
  const int code = archive_read_next_header(archive_.get(), &entry);
  if (code == ARCHIVE_EOF) return std::nullopt;
  if (code < ARCHIVE_WARN) fail();
  const char* path = archive_entry_pathname(entry);
  if (path == nullptr) throw bad("it has a member without a name");
  const bool is_link =
      archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr;
  if (is_link || archive_entry_filetype(entry) != AE_IFREG ||
      archive_entry_sparse_count(entry) > 0 || archive_entry_size(entry) < 0)
    throw bad("the member \"" + std::string(path) + "\" is not a plain file");
  return Member{path, static_cast<std::uint64_t>(archive_entry_size(entry))};
}

std::size_t ArchiveReader::read(std::span<std::uint8_t> to) {
  const auto read = archive_read_data(archive_.get(), to.data(), to.size());
  if (read < 0) fail();
  return static_cast<std::size_t>(read);
}

std::string ArchiveReader::text(const Member& member) {
  if (member.size > kMostTextBytes)
    throw bad("the member \"" + member.path + "\" has " + std::to_string(member.size) + " bytes");
  std::vector<std::uint8_t> bytes(member.size + 1);
  std::size_t size = 0;
  while (const std::size_t more = read(std::span(bytes).subspan(size))) size += more;
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

void ArchiveReader::fail() const {
  const char* why = archive_error_string(archive_.get());
  throw bad(why != nullptr ? why : "it cannot be read");
}

}  // namespace moil::backup
