#include "daemon/night/data/soft_targets.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/open_file.h"
#include "base/unnamed_file.h"
#include "daemon/night/maps/feature_source.h"
#include "daemon/night/maps/head_network.h"
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

// Rows of the file in their order, and whether they are asked for.
template <typename Each>
void for_each_row(const Portion& portion, const FeatureReader& reader, const Each& each) {
  for (int view = 0; view < reader.views_of(data::Source::kGlobal); ++view) {
    for (std::size_t i = 0; i < portion.samples.size(); ++i) {
      const data::MixedSample& s = portion.samples[i];
      std::uint32_t n = 0;  // of the parts that are shown
      for (std::uint32_t part = 0; is_global(s) && part < s.parts; ++part) {
        const SampleView one{&s, static_cast<std::uint16_t>(view), part};
        const bool is_shown = n < s.shown_parts() && s.shown_part(n) == part;
        if (!each(one, is_shown && reader.asks_for(portion, i, one, n))) return;
        n += is_shown ? 1 : 0;
      }
    }
  }
}

std::uint64_t count_parts(const Portion& portion) {
  std::uint64_t parts = 0;
  for (const data::MixedSample& s : portion.samples) parts += is_global(s) ? s.parts : 0;
  return parts;
}

// Writes rows one after the other, as many questions at once as the teacher takes.
class SoftTargetsWriter {
 public:
  SoftTargetsWriter(const std::filesystem::path& path, HeadNetwork& teacher, const Task& task,
                    FeatureReader& reader)
      : teacher_(teacher), task_(task), reader_(reader), file_(path) {
    const Network& network = teacher.network();
    batch_ = static_cast<std::size_t>(network.input_info(0).dims[0]);
    not_asked_.resize(static_cast<std::size_t>(network.output_info(0).dims.elements_per_sample()));
  }

  void begin(const Portion& portion) {
    Header header;
    header.views = static_cast<std::uint64_t>(reader_.views_of(data::Source::kGlobal));
    header.samples = count_parts(portion);
    header.classes = not_asked_.size();
    file_.write(bytes_of(&header, sizeof header));
  }
  void add(const SampleView& view, bool is_asked) {
    is_asked_.push_back(is_asked ? 1 : 0);
    if (is_asked) views_.push_back(view);
  }
  bool is_full() const { return views_.size() == batch_ || is_asked_.size() == kMostRows; }
  void flush() {
    if (!views_.empty()) ask(teacher_, task_, views_, reader_, rows_);
    const float* row = rows_.data();
    for (const char is_asked : is_asked_) {
      file_.write(
          bytes_of(is_asked != 0 ? row : not_asked_.data(), not_asked_.size() * sizeof(float)));
      if (is_asked != 0) row += not_asked_.size();
    }
    asked_ += static_cast<std::int64_t>(views_.size());
    views_.clear();
    is_asked_.clear();
  }
  std::int64_t asked() const { return asked_; }
  void commit() { file_.commit(); }

 private:
  static constexpr std::size_t kMostRows = 1024;

  HeadNetwork& teacher_;
  const Task& task_;
  FeatureReader& reader_;
  AtomicFile file_;
  std::size_t batch_ = 0;
  std::int64_t asked_ = 0;
  std::vector<SampleView> views_;
  std::vector<char> is_asked_;
  std::vector<float> rows_, not_asked_;
};

}  // namespace

std::int64_t count_questions(const Portion& portion, const FeatureReader& reader) {
  std::int64_t asked = 0;
  for_each_row(portion, reader, [&](const SampleView&, bool is_asked) {
    asked += is_asked ? 1 : 0;
    return true;
  });
  return asked;
}

bool write_soft_targets(const std::filesystem::path& path, HeadNetwork& teacher, const Task& task,
                        const Portion& portion, FeatureReader& reader,
                        const std::function<bool(std::int64_t done)>& progress) {
  SoftTargetsWriter writer(path, teacher, task, reader);
  writer.begin(portion);
  bool goes_on = true;
  const auto flush = [&] {
    writer.flush();
    return progress(writer.asked());
  };
  for_each_row(portion, reader, [&](const SampleView& view, bool is_asked) {
    writer.add(view, is_asked);
    if (writer.is_full()) goes_on = flush();
    return goes_on;
  });
  if (!goes_on || !flush()) return false;
  writer.commit();
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
