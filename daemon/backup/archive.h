// A backup's archive, to and from a descriptor, which may be a pipe: tar, by libarchive.
//
// A member's content goes by in pieces, however large it is. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct archive;
struct archive_entry;

namespace moil::backup {

inline constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

class ArchiveWriter {
 public:
  explicit ArchiveWriter(int descriptor);
  // Throw kIo, or DiskFull, saying that the backup cannot be written.
  void begin(const std::string& path, std::uint64_t size);
  void add(std::span<const std::uint8_t> piece);
  void add(const std::string& path, const std::string& content);  // a whole member
  void close();

 private:
  void check(int code) const;

  struct Free {
    void operator()(archive* handle) const;
    void operator()(archive_entry* entry) const;
  };
  std::unique_ptr<archive, Free> archive_;
  std::unique_ptr<archive_entry, Free> entry_;
};

class ArchiveReader {
 public:
  explicit ArchiveReader(int descriptor);

  struct Member {
    std::string path;
    std::uint64_t size = 0;
  };
  // The next member, a plain file without holes; empty at the archive's end. kBadData: it is no tar
  // archive, it is cut off, or the member is something else.
  std::optional<Member> next();
  // The member's next bytes, as many as fit; none at its end.
  std::size_t read(std::span<std::uint8_t> to);
  // All of a small member. kBadData if it is none.
  std::string text(const Member& member);

 private:
  [[noreturn]] void fail() const;

  struct Free {
    void operator()(archive* handle) const;
  };
  std::unique_ptr<archive, Free> archive_;
};

}  // namespace moil::backup
