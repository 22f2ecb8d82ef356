#include "daemon/night/train/distillation.h"

#include <vector>

#include "daemon/night/data/soft_targets.h"
#include "engine/train/batch.h"

namespace moil::night {
namespace {

std::size_t classes_of(HeadNetwork& teacher) {
  return static_cast<std::size_t>(teacher.network().output_info(0).dims.elements_per_sample());
}

// What the teacher says of one batch.
void ask(HeadNetwork& teacher, const Task& task, std::span<const SampleView> batch,
         FeatureReader& reader, std::vector<float>& rows) {
  Network& network = teacher.network();
  const std::size_t classes = classes_of(teacher);
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
      for (std::uint32_t part = 0; s.is_global() && part < s.parts; ++part) {
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
  for (const data::MixedSample& s : portion.samples) parts += s.is_global() ? s.parts : 0;
  return parts;
}

// Rows one after the other, as many questions at once as the teacher takes.
class Questions {
 public:
  Questions(const std::filesystem::path& path, HeadNetwork& teacher, const Task& task,
            const Portion& portion, FeatureReader& reader)
      : teacher_(teacher),
        task_(task),
        reader_(reader),
        not_asked_(classes_of(teacher)),
        file_(path, static_cast<std::uint64_t>(reader.views_of(data::Source::kGlobal)),
              count_parts(portion), not_asked_.size()) {
    batch_ = static_cast<std::size_t>(teacher.network().input_info(0).dims[0]);
  }

  void add(const SampleView& view, bool is_asked) {
    is_asked_.push_back(is_asked ? 1 : 0);
    if (is_asked) views_.push_back(view);
  }
  bool is_full() const { return views_.size() == batch_ || is_asked_.size() == kMostRows; }
  void flush() {
    if (!views_.empty()) ask(teacher_, task_, views_, reader_, rows_);
    const std::size_t classes = not_asked_.size();
    std::size_t at = 0;
    for (const char is_asked : is_asked_) {
      file_.add(is_asked != 0 ? std::span(rows_).subspan(at, classes) : std::span(not_asked_));
      if (is_asked != 0) at += classes;
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
  std::size_t batch_ = 0;
  std::int64_t asked_ = 0;
  std::vector<SampleView> views_;
  std::vector<char> is_asked_;
  std::vector<float> rows_;
  const std::vector<float> not_asked_;  // zeros, of a row
  SoftTargetsFile file_;
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
  Questions questions(path, teacher, task, portion, reader);
  bool goes_on = true;
  const auto flush = [&] {
    questions.flush();
    return progress(questions.asked());
  };
  for_each_row(portion, reader, [&](const SampleView& view, bool is_asked) {
    questions.add(view, is_asked);
    if (questions.is_full()) goes_on = flush();
    return goes_on;
  });
  if (!goes_on || !flush()) return false;
  questions.commit();
  return true;
}

}  // namespace moil::night
