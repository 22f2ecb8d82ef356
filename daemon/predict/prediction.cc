#include "daemon/predict/prediction.h"

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "base/error.h"
#include "daemon/models/part_answers.h"
#include "daemon/models/part_network.h"
#include "daemon/predict/continuation.h"
#include "daemon/predict/likeliest.h"
#include "daemon/predict/timeline.h"
#include "datasets/labels/label_types.h"
#include "datasets/labels/something_else.h"
#include "datasets/sounds/sound_bytes.h"

namespace moil::night {
namespace {

[[noreturn]] void refuse_timeline(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument,
              what + "; a timeline is of labels, and of a model that has some");
}

class Predictor {
 public:
  Predictor(ModelBundle bundle, const PredictionWanted& wanted)
      : model_(std::move(bundle)),
        top_(std::min(wanted.top, labels_.size())),
        tells_when_(wanted.timeline),
        answers_(kind_.part_answer(), task_, model_.form()),
        silent_answers_(kind_.part_answer(), task_, model_.form()) {
    if (tells_when_) require_timeline();
  }

  Json of(const AskedSample& sample) {
    Json found = found_of(output_of(sample));
    // What a model says of silence is a guess, however sure it is of that.
    if (is_silent_ && task_.outputs_are_labels()) found["not_sure"] = true;
    if (std::string remark = model_.maker().remark(); !remark.empty())
      found["remark"] = std::move(remark);
    return found;
  }

 private:
  Json found_of(std::span<const float> output) {
    const std::vector<float> answer = model_.answer_of(output);
    if (!task_.outputs_are_labels()) return {{"values", values(answer)}};
    const std::vector<std::uint32_t> said = task_.said(output, model_.form());
    Json names = Json::array();
    for (const std::uint32_t label : said) names.push_back(labels_[label]);
    Json found = {{"top", listed(likeliest(answer, top_), answer)}, {"labels", std::move(names)}};
    if (task_.compares_samples()) found["said"] = listed(by_probability(said, answer), answer);
    const auto none = std::ranges::find(labels_, data::kSomethingElse);
    if (none != labels_.end())
      found["something_else"] = answer[static_cast<std::size_t>(none - labels_.begin())];
    if (const auto is_sure = model_.is_sure(answer)) found["not_sure"] = !*is_sure;
    if (timeline_) found["timeline"] = told(*timeline_);
    return found;
  }

  void require_timeline() const {
    if (!task_.outputs_are_labels()) refuse_timeline("the model tells numbers");
    if (!kind_.has_parts())
      throw Error(ErrorCode::kInvalidArgument,
                  "the model sees a sample as a whole; a timeline is of recordings, of which it "
                  "sees one part after the other");
  }

  // How many parts it has.
  std::uint32_t load(const std::vector<std::uint8_t>& bytes) {
    const std::uint32_t parts = kind_.has_parts() ? kind_.parts(bytes, kName) : 1;
    // As a night draws it. What is long enough to be streamed is not laid anywhere.
    content_ = kind_.has_silence() ? data::digest_of(bytes) : data::Digest{};
    if (tells_when_) begin_timeline(kind_.part_places(bytes, kName).value());
    model_.maker().load(bytes, kName);
    return parts;
  }

  std::uint32_t stream(int file) {
    content_ = {};
    const auto recording = std::make_shared<data::SoundBytesOfFile>(file, kName);
    const auto [parts, places] = kind_.parts_of(recording, kName);
    if (tells_when_) begin_timeline(places);
    model_.maker().stream(recording, kName);
    return parts;
  }

  void begin_timeline(const data::PartPlaces& places) {
    timeline_.emplace(places, intervals_left_);
    is_one_place_ = places.hop == 0;
  }

  bool is_streamed(const AskedSample& sample) const {
    struct stat status {};
    return sample.file >= 0 && kind_.streams() && ::fstat(sample.file, &status) == 0 &&
           S_ISREG(status.st_mode) &&
           static_cast<std::uint64_t>(status.st_size) > data::kMaxSampleBytes;
  }

  std::span<const float> output_of(const AskedSample& sample) {
    timeline_.reset();
    const std::uint32_t parts = is_streamed(sample) ? stream(sample.file) : load(sample.read());
    model_.each_part(content_, parts, [&](std::uint32_t part) {
      const std::span<const float> output = model_.output();
      const bool has_signal = model_.maker().has_signal();
      (has_signal ? answers_ : silent_answers_).add(output);
      if (timeline_ && !is_one_place_ && has_signal) tell(part, output);
    });
    is_silent_ = answers_.parts() == 0;
    const std::span<const float> quiet = silent_answers_.take();
    const std::span<const float> answer = is_silent_ ? quiet : answers_.take();
    if (timeline_ && is_one_place_ && !is_silent_) tell(0, answer);
    return answer;
  }

  void tell(std::uint32_t part, std::span<const float> output) {
    timeline_->add(part, task_.said(output, model_.form()), model_.answer_of(output));
  }

  Json told(Timeline& timeline) {
    const auto [heard, more] = timeline.take();
    intervals_left_ -= heard.size();
    Json intervals = Json::array();
    for (const Heard& h : heard)
      intervals.push_back({{"from", h.from},
                           {"to", h.to},
                           {"label", labels_[h.label]},
                           {"probability", h.probability}});
    return {{"unit", timeline.unit()}, {"intervals", std::move(intervals)}, {"more", more}};
  }

  Json values(const std::vector<float>& numbers) const {
    Json found = Json::array();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      found.push_back({{"name", labels_[i]}, {"value", numbers[i]}});
    return found;
  }

  using Order = std::vector<std::uint32_t>;

  static Order by_probability(Order labels, const std::vector<float>& chances) {
    std::ranges::stable_sort(labels, std::ranges::greater{}, [&](auto k) { return chances[k]; });
    return labels;
  }

  Json listed(const Order& labels, const std::vector<float>& chances) const {
    Json list = Json::array();
    for (const std::uint32_t label : labels)
      list.push_back({{"label", labels_[label]}, {"probability", chances[label]}});
    return list;
  }

  PartNetwork model_;
  const std::vector<std::string>& labels_ = model_.labels();
  const Task& task_ = model_.task();
  const data::Kind& kind_ = model_.kind();
  data::Digest content_{};  // of what was loaded
  std::size_t top_;
  const bool tells_when_;
  static constexpr std::string_view kName = "the sample";
  // For all samples, so that a reply stays one.
  static constexpr std::size_t kMostIntervals = 50'000;
  std::size_t intervals_left_ = kMostIntervals;
  std::optional<Timeline> timeline_;  // of the sample that is looked at
  bool is_one_place_ = false;         // in which all parts of that lie
  bool is_silent_ = false;            // that no part of it holds a signal

  PartAnswers answers_, silent_answers_;
};

}  // namespace

namespace {

Json each_of(const std::vector<AskedSample>& samples,
             const std::function<Json(const AskedSample&)>& predicted) {
  Json predictions = Json::array();
  for (const AskedSample& sample : samples) {
    try {
      predictions.push_back(predicted(sample));
    } catch (const Error& e) {
      predictions.push_back({{"error", {{"code", to_string(e.code())}, {"message", e.what()}}}});
    }
  }
  return predictions;
}

}  // namespace

Json predict(const std::filesystem::path& model_folder, const std::vector<AskedSample>& samples,
             const PredictionWanted& wanted) {
  ModelBundle bundle = read_model_folder(model_folder);
  if (bundle.task->teaches_itself()) {
    if (wanted.timeline) refuse_timeline("the model says what comes next");
    KernelSelector kernels = PartNetwork::first_kernels();
    Continuation continuation(bundle, wanted.top, kernels);
    return each_of(samples, [&](const AskedSample& sample) {
      const std::vector<std::uint8_t> bytes = sample.read();
      return continuation.of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    });
  }
  Predictor predictor(std::move(bundle), wanted);
  return each_of(samples, [&](const AskedSample& sample) { return predictor.of(sample); });
}

}  // namespace moil::night
