#include "daemon/packs/answered_pack.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/half_floats.h"
#include "base/hash.h"
#include "base/index.h"
#include "daemon/models/model_folder.h"
#include "daemon/night/maps/classifier_features.h"
#include "daemon/night/maps/feature_reader.h"
#include "daemon/night/maps/head_network.h"
#include "daemon/night/maps/head_slice.h"
#include "daemon/packs/described_features.h"
#include "datasets/pack/feature_pack.h"
#include "engine/model/surgery.h"
#include "engine/train/batch.h"

namespace moil::packs {
namespace fs = std::filesystem;

namespace {

// Features that are described of each output, and together, if outputs are few or many.
constexpr std::uint64_t kTrained = 4, kHeldOut = 1;
constexpr std::uint64_t kFewTrained = 400, kFewHeldOut = 200, kManyTrained = 4000;
constexpr std::size_t kManyHeldOut = 1000;
constexpr double kHeldOutShare = 0.2;  // of samples
constexpr std::int64_t kMapsAtOnce = 16;
constexpr std::size_t kDescribedAtOnce = 64;
constexpr std::uint32_t kMostParts = 32;  // of a sample: of a long recording, at even distances

[[noreturn]] void fail(const std::string& why) {
  throw Error(ErrorCode::kUnimplemented,
              why + ", so no pack can be made of its own answers; use a pack of labelled data");
}

void require_labels(const night::ModelBundle& model) {
  if (!model.task->outputs_are_labels()) fail("the outputs of this model are numbers");
}

// The last layer alone is trained behind the pack's features.
Freeze freeze_of(const ModelDescription& model) {
  Freeze freeze = freeze_all_but_last(model, 1);
  if (freeze.split.empty()) fail("nothing of this model is frozen behind LF(1)");
  return freeze;
}

ClassifierInput input_of(const ModelDescription& head) {
  const auto input = classifier_input(head);
  if (!input || !night::front_of(head, *input).layers.empty())
    fail("the classifier of this model is no product of rows and features");
  return *input;
}

// As a shard holds it, so that the answer is that of what will be read.
void round_to_bf16(std::span<float> values) {
  for (float& x : values) x = from_bf16(to_bf16(x));
}

data::Digest digest_of_feature(std::span<const float> values) {
  Hasher hasher;
  hasher.add({reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()});
  return {hasher.hash128()};
}

class Making {
 public:
  Making(const fs::path& model, const fs::path& out)
      : model_(night::read_model_folder(model)),
        freeze_((require_labels(model_), freeze_of(model_.description))),
        head_(night::head_slice(model_.description, freeze_)),
        input_(input_of(head_)),
        backbone_(model_.description, weights(), freeze_, kMapsAtOnce, kernels_),
        answers_(head_, kernels_),
        writer_(out, model_.labels, model_.kind, pack_backbone(),
                {.targets = data::PackTargets::kModel}) {
    answers_.allocate(weights());
    made_.outputs = model_.labels.size();
  }

  void add_described() {
    const NamedTensor& weight = model_.weights.at(input_.weight);
    const NamedTensor& bias = model_.weights.at(input_.bias);
    const ClassifierRows rows{
        .width = static_cast<std::size_t>(input_.width),
        .outputs = bias.data.size(),
        .weights = weight.data,
        .bias = bias.data,
        .each_by_itself = model_.task->loss(model_.description).type != "softmax_cross_entropy"};
    const auto draws = [&](std::uint64_t usual, std::uint64_t few) {
      return std::max<std::uint64_t>(usual, (few + rows.outputs - 1) / rows.outputs);
    };
    const std::uint64_t many = std::max<std::uint64_t>(1, kManyTrained / rows.outputs);
    const std::uint64_t trained = draws(std::min(kTrained, many), kFewTrained);
    const std::uint64_t all = trained + draws(kHeldOut, kFewHeldOut);
    for (std::uint64_t draw = 0; draw < all; ++draw)
      add_draw(rows, draw, draw < trained ? data::Split::kTrain : data::Split::kValidation);
  }

  void add_samples(const data::SampleDataset& samples, night::UnreadableSamples& unreadable,
                   const std::function<void(std::size_t, std::size_t)>& progress) {
    night::Origins origins;
    origins.global_samples = &samples;
    night::FeatureReader reader(origins, model_.kind, backbone_, nullptr, {});
    Group group;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      take(samples, i, group, unreadable);
      const bool is_full = group.parts >= static_cast<std::size_t>(kMapsAtOnce);
      if (is_full || i + 1 == samples.size()) add_group(group, reader, unreadable);
      if (progress && (is_full || i + 1 == samples.size())) progress(i + 1, samples.size());
    }
    if (made_.samples == 0)
      throw Error(ErrorCode::kInvalidArgument,
                  unreadable.empty() ? "there is no sample that the model takes"
                                     : "none of the samples can be read; " +
                                           unreadable.front().name + ": " + unreadable.front().why);
  }

  AnsweredPack finish() {
    made_.reached = reached_.size();
    writer_.set_reached(reached_.size());
    writer_.finish();
    return made_;
  }

 private:
  night::WeightsOfPart weights() {
    return [this](const ModelDescription& part) { return weights_of(part, model_.weights); };
  }

  data::PackBackbone pack_backbone() const {
    return {backbone_.network_fingerprint(), freeze_.split, backbone_.feature_shape(),
            data::FeatureType::kBfloat16};
  }

  // What the model says of features, one after the other; of one it says nothing of, the likeliest.
  std::vector<std::vector<data::ClassId>> said_of(std::span<const float> maps) {
    Network& network = answers_.network();
    const std::size_t elements = backbone_.feature_elements(), all = maps.size() / elements;
    const auto batch = static_cast<std::size_t>(kMapsAtOnce);
    std::vector<std::vector<data::ClassId>> labels;
    for (std::size_t at = 0; at < all; at += batch) {
      const std::size_t count = std::min(batch, all - at);
      scatter(maps.data() + at * elements, count, NetworkBatch(network).inputs());
      network.forward();
      const std::span<const float> outputs(network.output(0), count * made_.outputs);
      for (std::size_t i = 0; i < count; ++i)
        labels.push_back(said(outputs.subspan(i * made_.outputs, made_.outputs)));
    }
    return labels;
  }
  std::vector<data::ClassId> said(std::span<const float> output) const {
    auto labels = model_.task->said(output, answers_.form());
    if (labels.empty())
      labels.push_back(
          static_cast<data::ClassId>(std::ranges::max_element(output) - output.begin()));
    return labels;
  }

  void add_draw(const ClassifierRows& rows, std::uint64_t draw, data::Split split) {
    const std::size_t step =
        split == data::Split::kTrain ? 1 : (rows.outputs + kManyHeldOut - 1) / kManyHeldOut;
    std::vector<float> features = describe_features(rows, draw, step);
    round_to_bf16(features);
    const std::size_t all = features.size() / rows.width;
    for (std::size_t first = 0; first < all; first += kDescribedAtOnce) {
      const std::size_t count = std::min(kDescribedAtOnce, all - first);
      add_described(std::span(features).subspan(first * rows.width, count * rows.width), split);
    }
  }

  // At every position of a map the classifier reads the same.
  void add_described(std::span<const float> features, data::Split split) {
    const auto width = static_cast<std::size_t>(input_.width);
    const std::size_t elements = backbone_.feature_elements();
    std::vector<float> maps;
    for (std::size_t at = 0; at < features.size(); at += width)
      for (std::size_t position = 0; position < elements; position += width)
        maps.insert(maps.end(), features.begin() + wide(at), features.begin() + wide(at + width));
    const auto said = said_of(maps);
    for (std::size_t i = 0; i < said.size(); ++i) {
      const auto map = std::span(maps).subspan(i * elements, elements);
      writer_.add(split, said[i], digest_of_feature(map), map, /*described=*/true);
      ++made_.described;
    }
  }

  // Samples whose parts are computed together, for fewer take the backbone as long.
  struct Group {
    std::vector<data::MixedSample> samples;
    std::size_t parts = 0;
  };

  static std::uint32_t taken_parts(const data::MixedSample& sample) {
    return std::min(sample.shown_parts(), kMostParts);
  }

  // One that is new and holds a signal.
  void take(const data::SampleDataset& samples, std::size_t i, Group& group,
            night::UnreadableSamples& unreadable) {
    data::MixedSample sample{{data::Source::kGlobal, i}, {}, {}};
    try {
      sample.digest = samples.digest(i);
      if (model_.kind->has_parts()) {
        auto [parts, silent] = model_.kind->signal(samples.encoded(i), samples.name(i));
        sample.parts = parts;
        sample.silent = std::move(silent);
      }
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBadData && error.code() != ErrorCode::kNotFound) throw;
      unreadable.push_back({nullptr, samples.name(i), error.what()});
      return;
    }
    if (!seen_.insert(sample.digest).second || !sample.has_signal()) return;
    group.parts += taken_parts(sample);
    group.samples.push_back(std::move(sample));
  }

  void add_group(Group& group, night::FeatureReader& reader, night::UnreadableSamples& unreadable) {
    std::vector<night::SampleView> views;
    for (const data::MixedSample& sample : group.samples) {
      const std::uint32_t taken = taken_parts(sample), step = sample.shown_parts() / taken;
      for (std::uint32_t n = 0; n < taken; ++n)
        views.push_back({&sample, 0, sample.shown_part(n * step)});
    }
    const std::size_t elements = backbone_.feature_elements();
    std::vector<float> maps(views.size() * elements);
    night::UnreadableSamples found;
    if (!views.empty()) reader.read(views, maps.data(), &found);
    std::size_t at = 0;
    for (const data::MixedSample& sample : group.samples) {
      const std::size_t count = taken_parts(sample) * elements;
      const bool is_fine =
          std::ranges::find(found, &sample, &night::UnreadableSample::sample) == found.end();
      if (is_fine) write_sample(sample.digest, std::span(maps).subspan(at, count));
      made_.samples += is_fine ? 1 : 0;
      at += count;
    }
    for (night::UnreadableSample& one : found) {
      one.sample = nullptr;  // which is gone
      unreadable.push_back(std::move(one));
    }
    group = {};
  }

  // All parts lie on one side.
  void write_sample(const data::Digest& content, std::span<float> maps) {
    round_to_bf16(maps);
    const data::Split split = data::split_of(content, kHeldOutShare);
    const auto said = said_of(maps);
    const std::size_t elements = backbone_.feature_elements();
    for (std::size_t part = 0; part < said.size(); ++part) {
      const auto map = maps.subspan(part * elements, elements);
      writer_.add(split, said[part], digest_of_feature(map), map);
      ++made_.parts;
      if (split == data::Split::kTrain) reached_.insert(said[part].begin(), said[part].end());
    }
  }

  night::ModelBundle model_;
  const Freeze freeze_;
  const ModelDescription head_;
  const ClassifierInput input_;
  KernelSelector kernels_;
  night::Backbone backbone_;
  night::HeadNetwork answers_;
  data::FeaturePackWriter writer_;
  std::set<data::ClassId> reached_;
  std::set<data::Digest> seen_;
  AnsweredPack made_;
};

}  // namespace

AnsweredPack write_described_pack(const fs::path& model, const fs::path& out) {
  Making making(model, out);
  making.add_described();
  return making.finish();
}

AnsweredPack write_unlabelled_pack(const fs::path& model, const data::SampleDataset& samples,
                                   const fs::path& out, night::UnreadableSamples& unreadable,
                                   const std::function<void(std::size_t, std::size_t)>& progress) {
  Making making(model, out);
  making.add_samples(samples, unreadable, progress);
  making.add_described();
  return making.finish();
}

}  // namespace moil::packs
