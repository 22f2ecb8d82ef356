#include "daemon/pretrain/pretraining.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/error.h"
#include "daemon/models/known_symbols.h"
#include "daemon/models/sequence_of_kind.h"
#include "daemon/night/judge/judge.h"
#include "daemon/night/maps/head_slice.h"
#include "daemon/pretrain/beginning.h"
#include "daemon/pretrain/unreadable.h"
#include "daemon/pretrain/usual_network.h"
#include "datasets/pack/feature_pack.h"
#include "datasets/pack/sample_pack.h"
#include "datasets/readers/split_labels.h"
#include "datasets/sampling/per_class.h"
#include "engine/io/fingerprint.h"
#include "engine/io/model_json.h"
#include "engine/model/preparation.h"
#include "engine/model/surgery.h"
#include "engine/train/tasks/predict.h"
#include "engine/train/tasks/tag.h"

namespace moil::pretrain {
namespace {

using data::MixedSample;
using nlohmann::json;

constexpr std::int64_t kEvaluationBatch = 32;

std::vector<MixedSample> samples_of(const data::Dataset& dataset, data::Split split,
                                    const std::vector<std::string>* classes) {
  std::vector<MixedSample> samples;
  for (const std::size_t i : data::samples_of(dataset, split)) {
    const auto labels = dataset.labels(i);
    const std::string& name = dataset.classes()[labels[0]];
    if (classes && std::find(classes->begin(), classes->end(), name) == classes->end()) continue;
    samples.push_back({{data::Source::kGlobal, i}, {}, {labels.begin(), labels.end()}});
  }
  return samples;
}

bool is_tagging(const PretrainingOptions& options) { return options.task == "tag"; }

bool is_of_sequences(const PretrainingOptions& options) { return options.task == "sequence"; }

TaskPtr task_of(const PretrainingOptions& options, const data::Dataset& dataset,
                std::size_t outputs, const data::Kind& kind) {
  if (is_of_sequences(options)) return night::sequence_task_of(kind);
  if (options.task == "predict")
    return predict_task(describe_numbers(dataset, outputs, options.number_loss));
  // Whoever made the dataset looked for all of its labels, which are few.
  if (is_tagging(options)) return tag_task({.unnamed_is_unknown = false});
  return task_from_json({{"task", options.task}});
}

std::vector<std::string> output_names(const PretrainingOptions& options,
                                      const data::Dataset& dataset) {
  if (is_of_sequences(options)) return {};
  return options.task == "predict" ? options.outputs : dataset.classes();
}

// Takes the model that the options begin with.
night::ModelBundle beginning(const data::SampleDataset& dataset, PretrainingOptions& options) {
  std::vector<std::string> labels = output_names(options, dataset);
  night::ModelBundle model;
  if (options.from) {
    model = std::move(*options.from);
    night::learn_symbols(model, unknown_symbols(*model.kind, dataset));
  } else {
    model.description = complete_model(options.model.empty()
                                           ? usual_network(dataset, options.task, options.kind.ids)
                                           : read_model(options.model));
    model.kind = kind_of_data(model.description, dataset, options.kind);
    if (model.kind->can_learn_symbols()) resize_tables(model.description, model.kind->symbols());
    if (is_of_sequences(options)) resize_classifier(model.description, model.kind->symbols());
  }
  const TaskPtr task = task_of(options, dataset, labels.size(), *model.kind);
  give_labels(model, std::move(labels), task, options.trainer.seed);
  return model;
}

// The tables learn whatever else does: in them alone is what the model does not know yet.
Freeze freeze_of(const night::ModelBundle& model, std::optional<int> trainable_layers) {
  Freeze freeze = freeze_all_but_last(model.description, trainable_layers);
  if (model.kind->can_learn_symbols()) train_tables(model.description, freeze);
  return freeze;
}

// Hidden ids teach what there is to say of one that nobody knows.
night::Augmentation as_usual(night::Augmentation augmentation, const data::Kind& kind) {
  constexpr int kViewsOfIds = 8;
  const bool hides = kind.can_learn_symbols() && kind.has_views();
  if (augmentation.views == 0) augmentation.views = hides ? kViewsOfIds : 1;
  return augmentation;
}

std::string in_percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

// Classes with few samples count little in an accuracy. Empty if they are told about as well as the
// others.
std::string hidden_by_accuracy(const json& result) {
  constexpr double kMostApart = 0.1;
  const json all = result.value("accuracy", json()),
             mean = result.value("balanced_accuracy", json());
  if (!all.is_number() || !mean.is_number()) return {};
  if (all.get<double>() - mean.get<double>() <= kMostApart) return {};
  std::string worst;
  double least = 1;
  for (const auto& [name, of_class] : result.at("classes").items()) {
    const double share = of_class.at("right").get<double>() / of_class.at("held_out").get<double>();
    if (share >= least) continue;
    least = share;
    worst = name + ": " + of_class.at("right").dump() + " of " + of_class.at("held_out").dump();
  }
  return "accuracy hides classes that have few samples: the mean over classes is " +
         in_percent(mean) + ", not " + in_percent(all) + " (" + worst + " held-out ones are told)";
}

class Pretraining {
 public:
  // `out` gets a folder of feature maps while layers are frozen.
  Pretraining(const data::SampleDataset& dataset, PretrainingOptions options,
              const std::filesystem::path& out, const PretrainingEvents& events)
      : dataset_(dataset),
        options_(std::move(options)),
        events_(events),
        bundle_(beginning(dataset, options_)),
        augmentation_(as_usual(options_.augmentation, *bundle_.kind)),
        freeze_(freeze_of(bundle_, options_.trainable_layers)),
        head_(night::head_slice(bundle_.description, freeze_)),
        backbone_(
            bundle_.description,
            [this](const ModelDescription& part) { return weights_of(part, bundle_.weights); },
            freeze_, kEvaluationBatch, kernels_) {
    if (!backbone_.is_identity()) cache_.emplace(out / "features", backbone_, *bundle_.kind);
    origins_.global_samples = &dataset;
    train_ = with_parts(samples_of(dataset, data::Split::kTrain, nullptr));
    groups_[""] = with_parts(samples_of(dataset, data::Split::kValidation, nullptr));
    for (const auto& [name, classes] : options_.groups)
      groups_[name] = with_parts(samples_of(dataset, data::Split::kValidation, &classes));
    data::Mix all;
    all.classes = dataset.classes();
    all.global_classes = all.classes.size();
    all.train = train_;
    all.global_validation = groups_[""];
    targets_ = std::make_unique<night::MixTargets>(*bundle_.task, all, bundle_.labels.size());
  }

  PretrainingResult run() {
    night::FeatureReader reader(origins_, bundle_.kind, backbone_,
                                cache_ ? &cache_->cache() : nullptr,
                                cache_ ? cache_->model() : cache::ModelId{}, augmentation_);
    if (cache_) fill(reader);
    TrainerConfig config = options_.trainer;
    config.batch = std::min<std::int64_t>(config.batch, static_cast<std::int64_t>(train_.size()));
    config.loss = bundle_.task->loss(head_);
    Trainer trainer(head_, &freeze_.trainable_layers, config, kernels_);
    trainer.allocate(bundle_.weights);
    night::FeatureSource source(train_, *targets_, reader);
    Trainer::Callbacks callbacks;
    callbacks.order = [&](std::int64_t epoch) {
      return source.order(
          data::epoch_order(train_.size(), config.seed, static_cast<std::uint64_t>(epoch)), epoch);
    };
    callbacks.on_epoch = [&](const EpochSummary& summary) {
      after_epoch(summary, trainer, reader);
    };
    trainer.run(source, callbacks);
    std::string hidden = hidden_by_accuracy(result_);
    return {std::move(bundle_), quality_, std::move(result_), std::move(hidden)};
  }

 private:
  void fill(night::FeatureReader& reader) {
    const night::FeatureReader::Portion portions[] = {{train_, options_.trainer.epochs, false},
                                                      {groups_.at("")}};
    night::FeatureReader::Filled filled;
    const std::int64_t all = reader.feature_maps(portions);
    (void)reader.fill(portions, filled, [&](std::int64_t done) {
      if (events_.on_features) events_.on_features(done, all);
      return true;
    });
    if (!filled.unreadable.empty()) throw Error(ErrorCode::kBadData, filled.unreadable.front().why);
    backbone_.release();
  }

  std::vector<MixedSample> with_parts(std::vector<MixedSample> samples) const {
    for (MixedSample& sample : samples) {
      const std::size_t i = sample.ref.index;
      const bool is_drawn = augmentation_.views > 1 || bundle_.kind->has_silence();
      if (cache_ || is_drawn) sample.digest = dataset_.digest(i);
      if (!bundle_.kind->has_parts()) continue;
      auto [parts, silent] = bundle_.kind->signal(dataset_.encoded(i), dataset_.name(i));
      sample.parts = parts;
      sample.silent = std::move(silent);
    }
    return samples;
  }

  void after_epoch(const EpochSummary& summary, Trainer& trainer, night::FeatureReader& reader) {
    const bool last = summary.epoch == options_.trainer.epochs;
    nlohmann::json point = {
        {"epoch", summary.epoch}, {"seconds", summary.seconds}, {"loss", summary.loss}};
    EpochReport report{summary.epoch, options_.trainer.epochs, summary.loss, summary.seconds,
                       std::nullopt,  bundle_.task->headline()};
    if (last || options_.evaluate_every_epoch) {
      trainer.network().save(bundle_.weights);
      auto scores = groups_scores(reader);
      for (const auto& [name, of_group] : scores) {
        if (!name.empty()) point[name] = of_group[0].value ? json(*of_group[0].value) : json();
      }
      point.update(night::to_json(scores.at("")));
      report.quality = quality_ = scores.at("")[0].value;
    }
    result_["curve"].push_back(point);
    if (last) {
      for (const Score& score : bundle_.task->scorer({})->scores())
        result_[score.name] = point[score.name];
      result_["task"] = bundle_.task->name();
      result_["metric"] = bundle_.task->headline().name;
      for (const auto& [name, of_class] : by_class_)
        result_["classes"][name] = {{"held_out", of_class.held_out}, {"right", of_class.right}};
      result_["groups"] = nlohmann::json::object();
      for (const auto& [name, classes] : options_.groups) result_["groups"][name] = point[name];
      result_["seconds"] = summary.seconds;
      result_["epochs"] = summary.epoch;
      result_["samples"] = {{"train", train_.size()}, {"validation", groups_[""].size()}};
      result_["planned_bytes"] = trainer.planned_bytes();
    }
    if (events_.on_epoch) events_.on_epoch(report);
  }

  std::map<std::string, std::vector<Score>> groups_scores(night::FeatureReader& reader) {
    WeightMap weights = weights_of(head_, bundle_.weights);
    const ModelDescription prepared = prepare_inference(head_, weights);
    Network network(prepared, {.batch = kEvaluationBatch, .plan = {}}, kernels_);
    network.allocate();
    network.load(weights);
    const OutputForm form{answers_probabilities(bundle_.description)};
    std::map<std::string, std::vector<Score>> scores;
    for (const auto& group : groups_) {
      const auto& samples = group.second;
      const auto scorer = bundle_.task->scorer(form);
      std::map<std::string, night::Right> by_class;
      night::for_each_sample(samples, *targets_, reader, {network, *bundle_.task, form},
                             [&](std::int64_t i, auto output, auto target) {
                               scorer->add(output, target);
                               count(samples[static_cast<std::size_t>(i)],
                                     bundle_.task->said(output, form), by_class);
                             });
      scores[group.first] = scorer->scores();
      if (group.first.empty()) by_class_ = std::move(by_class);
    }
    return scores;
  }

  // How many of each class are held out, and how many of them are told.
  void count(const MixedSample& sample, const std::vector<std::uint32_t>& said,
             std::map<std::string, night::Right>& by_class) const {
    if (!bundle_.task->outputs_are_labels()) return;
    for (const data::ClassId label : sample.labels) {
      night::Right& of_class = by_class[dataset_.classes()[label]];
      ++of_class.held_out;
      of_class.right += std::ranges::find(said, label) != said.end() ? 1 : 0;
    }
  }

  const data::SampleDataset& dataset_;
  PretrainingOptions options_;
  const PretrainingEvents& events_;
  night::ModelBundle bundle_;
  const night::Augmentation augmentation_;
  std::unique_ptr<night::MixTargets> targets_;
  const Freeze freeze_;
  const ModelDescription head_;  // all of it if nothing is frozen
  KernelSelector kernels_;
  night::Backbone backbone_;
  std::optional<PretrainingCache> cache_;  // if there is a backbone
  night::Origins origins_;
  std::vector<MixedSample> train_;
  std::map<std::string, std::vector<MixedSample>> groups_;  // "": every held-out sample
  std::map<std::string, night::Right> by_class_;
  std::optional<double> quality_;
  nlohmann::json result_ = {{"curve", nlohmann::json::array()}};
};

}  // namespace

namespace {

void require_known(const std::vector<std::string>& classes, const std::string& group,
                   const std::string& name) {
  if (std::find(classes.begin(), classes.end(), name) != classes.end()) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the group \"" + group + "\" has \"" + name + "\", which is no class of the data");
}

// There, so that a folder that cannot be written says so now.
void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw system_error("cannot make " + folder.string(), error.value());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw system_error("cannot write into " + folder.string(), errno);
}

}  // namespace

void check_pretraining(const data::SampleDataset& dataset, const PretrainingOptions& options,
                       const std::filesystem::path& out) {
  if (!options.model.empty() && options.from)
    throw Error(ErrorCode::kInvalidArgument,
                "a training begins with --model, a network's description, or with --from, a "
                "model's folder, not with both");
  if (options.model.empty() && !options.from)
    (void)usual_network(dataset, options.task, options.kind.ids);
  if (options.trainable_layers && !options.from)
    throw Error(ErrorCode::kInvalidArgument,
                "--trainable-layers leaves layers as they are, which is for a model that has "
                "learned; begin --from one");
  const auto& classes = dataset.classes();
  if (options.number_loss != NumberLoss::kSquares && options.task != "predict")
    throw Error(ErrorCode::kInvalidArgument, "--loss is of numbers, which --task predict learns");
  if (options.task == "predict")
    for (const std::string& label : classes) (void)numbers_of(label, options.outputs.size());
  if (is_tagging(options)) (void)data::SplitLabels(dataset, data::kLabelSeparator);
  if (options.task == "classify" && classes.size() < 2 && !options.may_be_one_class) {
    throw Error(ErrorCode::kInvalidArgument,
                "the data has one class alone, \"" + classes.at(0) +
                    "\", which there is nothing to tell from; expected a folder for each class. "
                    "Where others join it on the device, name it with --classes");
  }
  if (samples_of(dataset, data::Split::kTrain, nullptr).empty())
    throw Error(ErrorCode::kInvalidArgument, "every sample is held out; none is left to train on");
  for (const auto& [group, names] : options.groups)
    for (const std::string& name : names) require_known(classes, group, name);
  if (std::filesystem::exists(out / "model")) {
    throw Error(ErrorCode::kAlreadyExists,
                (out / "model").string() + " exists already; name another folder, or remove it");
  }
  data::check_sample_pack(out / "pack", dataset);
  make_folder(out);
}

PretrainingResult pretrain(const data::SampleDataset& dataset, PretrainingOptions options,
                           const std::filesystem::path& out, const PretrainingEvents& events) {
  if (!is_tagging(options)) return Pretraining(dataset, std::move(options), out, events).run();
  const data::SplitLabels tagged(dataset, data::kLabelSeparator);
  return Pretraining(tagged, std::move(options), out, events).run();
}

namespace {

// As many at once as the backbone takes, for fewer take as long.
void write_maps(const std::vector<MixedSample>& samples, data::Split split,
                const data::SampleDataset& dataset, night::FeatureReader& reader,
                data::FeaturePackWriter& writer, night::UnreadableSamples& left_out) {
  const std::size_t batch = reader.batch(), elements = reader.elements();
  std::vector<float> features(batch * elements);
  for (std::size_t begin = 0; begin < samples.size(); begin += batch) {
    std::vector<night::SampleView> some;
    for (std::size_t i = begin; i < std::min(begin + batch, samples.size()); ++i)
      some.push_back({&samples[i]});
    night::UnreadableSamples unreadable;
    reader.read(some, features.data(), &unreadable);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto found =
          std::ranges::find(unreadable, some[i].sample, &night::UnreadableSample::sample);
      if (found != unreadable.end()) {
        left_out.push_back({nullptr, found->name, found->why});
        continue;
      }
      writer.add(split, some[i].sample->labels, dataset.digest(some[i].sample->ref.index),
                 std::span(features).subspan(i * elements, elements));
    }
  }
}

}  // namespace

std::vector<std::string> write_features(const std::filesystem::path& model,
                                        const std::filesystem::path& pack, int trainable_layers,
                                        const std::filesystem::path& out) {
  const night::ModelBundle bundle = night::read_model_folder(model);
  const auto images = data::open_sample_pack(pack);
  if (bundle.kind->has_parts())
    throw Error(ErrorCode::kUnimplemented,
                "samples of this model have several parts, which a pack of feature maps does not "
                "hold; ship the pack of samples");
  const Freeze freeze = freeze_all_but_last(bundle.description, trainable_layers);
  if (freeze.split.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "with " + std::to_string(trainable_layers) + " trainable layers nothing is frozen");
  }
  KernelSelector kernels;
  night::Backbone backbone(
      bundle.description,
      [&](const ModelDescription& part) { return weights_of(part, bundle.weights); }, freeze,
      kEvaluationBatch, kernels);
  night::Origins origins;
  origins.global_samples = images.get();
  night::FeatureReader reader(origins, bundle.kind, backbone, nullptr, {});
  data::PackBackbone description;
  description.fingerprint = backbone.network_fingerprint();
  description.split_point = freeze.split;
  description.shape = backbone.feature_shape();
  data::FeaturePackWriter writer(out, images->classes(), bundle.kind, description);
  night::UnreadableSamples left_out;
  for (const data::Split split : {data::Split::kTrain, data::Split::kValidation})
    write_maps(samples_of(*images, split, nullptr), split, *images, reader, writer, left_out);
  if (left_out.size() == images->size() && !left_out.empty())
    throw Error(ErrorCode::kBadData, "none of the samples can be read; " + left_out.front().name +
                                         ": " + left_out.front().why);
  writer.finish();
  return told(left_out, images->size());
}

}  // namespace moil::pretrain
