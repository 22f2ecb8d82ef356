#include "datasets/labels/sample_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/open_file.h"
#include "base/files/unique_fd.h"

namespace moil::data {
namespace fs = std::filesystem;

fs::path SampleFiles::path_of(const Digest& digest) const {
  const std::string name = digest.hex();
  return root_ / name.substr(0, 2) / name;
}

void SampleFiles::write(const Digest& digest, std::span<const std::uint8_t> bytes) const {
  const fs::path path = path_of(digest);
  make_private_folder(root_);
  make_private_folder(path.parent_path());
  write_file_atomic(path, bytes);
}

std::vector<std::uint8_t> SampleFiles::read(const Digest& digest, std::uint64_t size) const {
  const fs::path path = path_of(digest);
  auto bytes = read_file(path, size);
  if (digest_of(bytes) != digest) {
    throw Error(ErrorCode::kBadData, path.string() + ": the content is damaged");
  }
  return bytes;
}

UniqueFd SampleFiles::open(const Digest& digest) const {
  const fs::path path = path_of(digest);
  UniqueFd fd(open_file(path, O_RDONLY));
  if (!fd) throw system_error("cannot open " + path.string(), errno);
  return fd;
}

std::vector<std::uint8_t> SampleFiles::read_head(const Digest& digest, std::size_t most) const {
  const fs::path path = path_of(digest);
  const UniqueFd fd = open(digest);
  std::vector<std::uint8_t> bytes(most);
  std::size_t read = 0;
  while (read < most) {
    const ssize_t n = ::read(fd.get(), bytes.data() + read, most - read);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("cannot read " + path.string(), errno);
    if (n == 0) break;
    read += static_cast<std::size_t>(n);
  }
  bytes.resize(read);
  return bytes;
}

void SampleFiles::remove(std::span<const Digest> digests) const {
  std::set<fs::path> folders;
  std::optional<Error> failure;
  for (const Digest& digest : digests) {
    const fs::path path = path_of(digest);
    if (::unlink(path.c_str()) == 0) {
      folders.insert(path.parent_path());
    } else if (errno != ENOENT && !failure) {
      failure = system_error("cannot remove " + path.string(), errno);
    }
  }
  for (const fs::path& folder : folders) sync_folder(folder);
  if (failure) throw *failure;
}

std::size_t SampleFiles::remove_orphans(const std::function<bool(const Digest&)>& known) const {
  if (!fs::exists(root_)) return 0;
  const auto is_known = [&](const std::string& name) {
    try {
      return known(Digest::from_hex(name));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kInvalidArgument) return false;  // a file half written
      throw;
    }
  };
  std::vector<fs::path> orphans;
  for (const auto& entry : fs::recursive_directory_iterator(root_)) {
    if (!entry.is_directory() && !is_known(entry.path().filename())) orphans.push_back(entry);
  }
  for (const auto& path : orphans) fs::remove(path);
  return orphans.size();
}

}  // namespace moil::data
