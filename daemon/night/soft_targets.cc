#include "daemon/night/soft_targets.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/open_file.h"
#include "base/unnamed_file.h"
#include "daemon/night/feature_source.h"
#include "daemon/night/head_network.h"
#include "engine/train/batch.h"

namespace moil::night {
namespace {

constexpr const char* kUnreadable = "the job's soft targets cannot be read";

struct Header {
  std::array<char, 8> magic = {'M', 'O', 'I', 'L', 'S', 'O', 'F', 'T'};
  std::uint64_t views = 0, samples = 0, classes = 0;
};

bool is_global(const data::MixedSample& s) { return s.ref.source == data::Source::kGlobal; }

std::span<const std::uint8_t> bytes_of(const void* data, std::size_t size) {
  return {static_cast<const std::uint8_t*>(data), size};
}

// What the teacher says of one batch.
void ask(HeadNetwork& teacher, const Task& task, std::span<const SampleView> batch,
         FeatureReader& reader, std::vector<float>& rows) {
  Network& network = teacher.network();
  const auto classes = static_cast<std::size_t>(network.output_info(0).dims.elements_per_sample());
  reader.read(batch, NetworkBatch(network).inputs());
  network.forward();
  rows.assign(network.output(0), network.output(0) + batch.size() * classes);
  for (std::size_t i = 0; i < batch.size(); ++i)
    task.soften({rows.data() + i * classes, classes}, teacher.form());
}

}  // namespace

std::int64_t count_questions(const std::vector<data::MixedSample>& samples,
                             const FeatureReader& reader) {
  std::int64_t parts = 0;
  for (const data::MixedSample& s : samples) parts += is_global(s) ? std::int64_t{s.parts} : 0;
  return parts * reader.views_of(data::Source::kGlobal);
}

bool write_soft_targets(const std::filesystem::path& path, HeadNetwork& teacher, const Task& task,
                        const std::vector<data::MixedSample>& samples, FeatureReader& reader,
                        const std::function<bool(std::int64_t done)>& progress) {
  Network& network = teacher.network();
  std::vector<SampleView> global;
  for (const data::MixedSample& s : samples)
    for (std::uint32_t part = 0; is_global(s) && part < s.parts; ++part)
      global.push_back({&s, 0, part});
  Header header;
  header.views = static_cast<std::uint64_t>(reader.views_of(data::Source::kGlobal));
  header.samples = global.size();
  header.classes = static_cast<std::uint64_t>(network.output_info(0).dims.elements_per_sample());
  AtomicFile file(path);
  file.write(bytes_of(&header, sizeof header));
  const auto batch = static_cast<std::size_t>(network.input_info(0).dims[0]);
  const std::size_t all = header.views * header.samples;
  std::vector<SampleView> some;
  std::vector<float> rows;
  for (std::size_t begin = 0; begin < all; begin += batch) {
    some.clear();
    for (std::size_t row = begin; row < std::min(begin + batch, all); ++row) {
      some.push_back(global[row % global.size()]);
      some.back().view = static_cast<std::uint16_t>(row / global.size());
    }
    ask(teacher, task, some, reader, rows);
    file.write(bytes_of(rows.data(), rows.size() * sizeof(float)));
    if (!progress(static_cast<std::int64_t>(begin + some.size()))) return false;
  }
  file.commit();
  return true;
}

SoftTargets::SoftTargets(const std::filesystem::path& path,
                         const std::vector<data::MixedSample>& samples, int views) {
  rows_.reserve(samples.size());
  std::int64_t global = 0;
  for (const data::MixedSample& s : samples) {
    rows_.push_back(is_global(s) ? global : -1);
    if (is_global(s)) global += s.parts;
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
