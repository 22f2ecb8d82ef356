#include "daemon/night/data/soft_targets.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/files/open_file.h"
#include "base/files/unnamed_file.h"

namespace moil::night {
namespace {

constexpr const char* kUnreadable = "the job's soft targets cannot be read";

struct Header {
  std::array<char, 8> magic = {'M', 'O', 'I', 'L', 'S', 'O', 'F', 'T'};
  std::uint64_t views = 0, samples = 0, classes = 0;
};

std::span<const std::uint8_t> bytes_of(const void* data, std::size_t size) {
  return {static_cast<const std::uint8_t*>(data), size};
}

}  // namespace

SoftTargetsFile::SoftTargetsFile(const std::filesystem::path& path, std::uint64_t views,
                                 std::uint64_t parts, std::uint64_t classes)
    : file_(path) {
  Header header;
  header.views = views;
  header.samples = parts;
  header.classes = classes;
  file_.write(bytes_of(&header, sizeof header));
}

void SoftTargetsFile::add(std::span<const float> row) {
  file_.write(bytes_of(row.data(), row.size_bytes()));
}

SoftTargets::SoftTargets(const std::filesystem::path& path,
                         const std::vector<data::MixedSample>& samples, int views) {
  rows_.reserve(samples.size());
  std::int64_t global = 0;
  for (const data::MixedSample& s : samples) {
    rows_.push_back(s.is_global() ? global : -1);
    if (s.is_global()) global += s.parts;
  }
  global_ = static_cast<std::size_t>(global);
  file_ = UniqueFd(open_file(path, O_RDONLY));
  if (!file_) throw system_error("cannot open " + path.string(), errno);
  Header header;
  const Header expected;
  const std::uint64_t bytes = std::filesystem::file_size(path);
  const bool complete = bytes >= sizeof header;
  if (complete) read_at(file_, 0, std::as_writable_bytes(std::span(&header, 1)), kUnreadable);
  const bool fits =
      complete && header.magic == expected.magic &&
      header.views == static_cast<std::uint64_t>(views) && header.samples == global_ &&
      header.classes > 0 && header.classes <= bytes &&
      bytes == sizeof header + header.views * header.samples * header.classes * sizeof(float);
  classes_ = header.classes;
  if (fits) return;
  throw Error(ErrorCode::kBadData, path.string() + ": not the soft targets of this job's " +
                                       std::to_string(global_) + " global samples' parts in " +
                                       std::to_string(views) + " views");
}

void SoftTargets::read(std::int64_t sample, std::uint32_t part, std::uint16_t view,
                       std::span<float> row) const {
  const auto number =
      view * global_ + static_cast<std::size_t>(rows_[static_cast<std::size_t>(sample)]) + part;
  const std::size_t at = sizeof(Header) + number * classes_ * sizeof(float);
  read_at(file_, at, std::as_writable_bytes(row.first(classes_)), kUnreadable);
}

}  // namespace moil::night
