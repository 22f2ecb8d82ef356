#include "daemon/night/stages/scene_stage.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>

#include "datasets/readers/label_dataset.h"
#include "engine/kernels/parallel.h"

namespace moil::night {
namespace {

using daemon::Stage;
using std::chrono::milliseconds;

constexpr std::size_t kAtOnce = 64;  // samples told in one event
constexpr int kMostRounds = 3;       // if samples are added meanwhile, or the daemon is slow
constexpr milliseconds kPatience{60'000}, kPause{10};

// One sample after the other if memory is scarce: nothing is planned yet.
std::size_t room_for(std::span<const std::size_t> samples, const NightContext& night) {
  data::Mix mix;
  for (const std::size_t i : samples) mix.train.push_back({{data::Source::kLocal, i}, {}, {}});
  Origins origins;
  origins.local_samples = &night.data.labelled();
  const auto needs =
      decoding_needs(origins, mix, *night.base.kind, thread_count(), most_for_samples(night.spec));
  const auto& budget = night.spec.memory.budget_bytes;
  if (!budget) return choose_room(needs, std::nullopt);
  return choose_room(needs, std::min(needs.largest, static_cast<std::size_t>(*budget) / 2));
}

// Nothing if another night may know more: the room is too small, or the sample was forgotten. It
// may be used all the same.
std::optional<data::SampleLikeness> look_at_one(const data::LabelDataset& samples, std::size_t i,
                                                const data::Kind& kind, data::SampleMaker& maker,
                                                DecodingRoom& room) {
  data::SampleLikeness told{samples.digest(i), {}};
  if (!kind.has_likeness()) return told;
  std::optional<DecodingRoom::Place> place;  // outlives what is decoded in it
  try {
    if (decoding_bytes(samples, i, kind, room.bytes()) > room.bytes()) return std::nullopt;
    load_sample(maker, kind, samples, i, &room, place);
    told.likeness = maker.likeness();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotFound) return std::nullopt;
    if (error.code() != ErrorCode::kBadData) throw;
  }
  maker.release();
  return told;
}

}  // namespace

std::string passed_over_remark(std::size_t samples) {
  if (samples == 0) return "";
  return std::to_string(samples) +
         (samples == 1 ? " sample held out looks" : " samples held out look") +
         " nearly the same as samples that are trained on, and local accuracy is measured "
         "without " +
         (samples == 1 ? "it" : "them");
}

void SceneStage::run() {
  set_thread_count(night_.file.threads);
  for (int round = 0; round < kMostRounds; ++round) {
    const Indices samples = wanted();
    if (samples.empty()) return;
    look_at(not_looked_at());
    use(samples);
    night_.data.look_again();
  }
  const auto rest = not_known();
  const auto unheard = std::ranges::count_if(
      rest, [&](const data::Digest& digest) { return told_.contains(digest); });
  if (!told_.empty() && static_cast<std::size_t>(unheard) == told_.size())
    throw Error(ErrorCode::kIo, "the labels kept changing while the night looked at their samples");
  if (!rest.empty())
    night_.events.note(
        std::to_string(rest.size()) +
        " of the local samples came while the night began, and are left to the next");
}

std::unordered_set<data::Digest> SceneStage::not_known() const {
  std::unordered_set<data::Digest> digests;
  for (const std::size_t i : wanted()) digests.insert(night_.data.labelled().digest(i));
  return digests;
}

SceneStage::Indices SceneStage::wanted() const {
  Indices samples;
  std::ranges::set_union(not_looked_at(), night_.data.labelled().not_used(),
                         std::back_inserter(samples));
  return samples;
}

SceneStage::Indices SceneStage::not_looked_at() const {
  const data::LabelDataset& labelled = night_.data.labelled();
  Indices samples = labelled.not_looked_at();
  std::erase_if(samples, [&](std::size_t i) { return passed_over_.contains(labelled.digest(i)); });
  return samples;
}

void SceneStage::look_at(const Indices& samples) {
  if (samples.empty()) return;
  DecodingRoom room(room_for(samples, night_));
  const auto all = static_cast<std::int64_t>(samples.size());
  night_.begin(Stage::kScenes, all);
  for (std::size_t begin = 0; begin < samples.size(); begin += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, samples.size() - begin);
    const auto told = likenesses_of(std::span(samples).subspan(begin, count), room);
    night_.events.likenesses(told);
    looked_at_ += told.size();
    night_.progress(Stage::kScenes, static_cast<std::int64_t>(begin + count), all);
  }
}

// All as one, so that the side of none depends on which were told of first.
void SceneStage::use(const Indices& samples) {
  std::vector<data::Digest> digests;
  for (const std::size_t i : samples) digests.push_back(night_.data.labelled().digest(i));
  told_.insert(digests.begin(), digests.end());
  night_.events.uses(digests);
  wait_for(digests.back());
}

std::vector<data::SampleLikeness> SceneStage::likenesses_of(std::span<const std::size_t> batch,
                                                            DecodingRoom& room) {
  const data::LabelDataset& samples = night_.data.labelled();
  std::vector<std::optional<data::SampleLikeness>> found(batch.size());
  std::exception_ptr failed;
  const auto count = static_cast<std::int64_t>(batch.size());
#pragma omp parallel
  {
    const auto maker = night_.base.kind->maker({});
#pragma omp for schedule(dynamic)
    for (std::int64_t k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(k);
      try {
        found[i] = look_at_one(samples, batch[i], *night_.base.kind, *maker, room);
      } catch (...) {
#pragma omp critical(look_failed)
        failed = std::current_exception();
      }
    }
  }
  if (failed) std::rethrow_exception(failed);
  std::vector<data::SampleLikeness> told;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (found[i])
      told.push_back(*found[i]);
    else
      passed_over_.insert(samples.digest(batch[i]));
  }
  return told;
}

// Events are recorded in their order.
void SceneStage::wait_for(const data::Digest& digest) const {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!night_.data.is_used(digest)) {
    if (night_.is_stopped()) throw Stopped{};
    if (std::chrono::steady_clock::now() > until) return;  // the next round tells it again
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace moil::night
