#include "daemon/night/data/night_data.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <set>

#include "daemon/models/class_space.h"
#include "daemon/models/pack_kind.h"
#include "daemon/night/data/field_error.h"
#include "daemon/night/data/global_share.h"
#include "datasets/labels/text.h"
#include "datasets/pack/feature_pack.h"
#include "datasets/pack/sample_pack.h"
#include "datasets/readers/label_dataset.h"
#include "datasets/samples/subset.h"

namespace moil::night {

struct NightData::Readers {
  explicit Readers(const std::filesystem::path& labels)
      : store(labels, data::LabelStore::Access::kReadOnly) {}

  data::LabelStore store;
  std::unique_ptr<data::LabelDataset> labelled;
  std::unique_ptr<data::ClassSubset> chosen;  // if the job names labels
  std::unique_ptr<data::SamplePack> images;
  std::unique_ptr<data::FeaturePack> features;
};

std::size_t most_for_samples(const daemon::JobSpec& spec) {
  const auto& budget = spec.memory.budget_bytes;
  return budget ? static_cast<std::size_t>(*budget) : kNoLimit;
}

NightData::NightData(const daemon::StateLayout& layout, const daemon::JobSpec& spec,
                     const StoredModel& model)
    : readers_(std::make_unique<Readers>(layout.labels())),
      kind_(*model.kind),
      most_bytes_(most_for_samples(spec)) {
  if (spec.local.labels) choice_ = labels_of(spec, model);
  open_local();
  at_field("/global/pack", [&] { open_pack(spec.global.pack, kind_); });
  reconciliation_ = readers_->store.reconciliation();
  origins_.global_samples = readers_->images.get();
  origins_.global_features = readers_->features.get();
}

NightData::~NightData() = default;

NightData::Choice NightData::labels_of(const daemon::JobSpec& spec, const StoredModel& model) {
  Choice choice{*spec.local.labels, {}};
  if (spec.train.epochs > 0) return choice;
  for (const std::string& label : model.labels) choice.where_there.push_back(data::normal(label));
  return choice;
}

void NightData::open_local() {
  readers_->labelled = std::make_unique<data::LabelDataset>(readers_->store, kind_);
  if (choice_) choose(*choice_);
  origins_.local_samples = readers_->labelled.get();
  if (readers_->chosen) origins_.local_samples = readers_->chosen.get();
}

void NightData::look_again() {
  readers_->chosen.reset();
  open_local();
}

const data::LabelDataset& NightData::labelled() const { return *readers_->labelled; }

void NightData::choose(const Choice& choice) {
  const std::vector<std::string>& labels = choice.labels;
  std::vector<std::string> known = readers_->labelled->classes();
  std::ranges::copy(readers_->labelled->denials(), std::back_inserter(known));
  std::vector<std::string> names;
  daemon::FieldErrors errors;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    names.push_back(data::normal(labels[i]));
    if (std::ranges::find(known, names[i]) != known.end()) continue;
    errors.push_back(
        {"/local/labels/" + std::to_string(i), daemon::unknown_message("label", labels[i], known)});
  }
  if (!errors.empty()) throw daemon::ValidationError("the job description", std::move(errors));
  for (const std::string& name : choice.where_there) {
    const bool is_there = std::ranges::find(known, name) != known.end();
    if (is_there && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  readers_->chosen = std::make_unique<data::ClassSubset>(*readers_->labelled, names);
}

void NightData::open_pack(const std::filesystem::path& pack, const data::Kind& kind) {
  const data::PackManifest manifest = data::read_manifest(pack);
  require_same_kind(manifest, kind);
  targets_ = manifest.targets;
  if (manifest.kind == data::PackKind::kSamples) {
    readers_->images = data::open_sample_pack(pack);
  } else {
    readers_->features = data::open_feature_pack(pack);
  }
}

const data::Dataset& NightData::global() const {
  if (origins_.global_samples != nullptr) return *origins_.global_samples;
  return *origins_.global_features;
}

const data::Dataset& NightData::local() const { return *origins_.local_samples; }

std::uint32_t parts_of(const data::Kind& kind, const data::SampleDataset& samples,
                       std::size_t index, std::size_t most_bytes) {
  if (!kind.has_parts()) return 1;
  try {
    if (most_bytes != kNoLimit && decoding_bytes(samples, index, kind, most_bytes) > most_bytes)
      return 1;
    return kind.parts(samples.encoded(index), samples.name(index));
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kBadData && e.code() != ErrorCode::kNotFound) throw;
    return 1;
  }
}

namespace {

void check_labels(const data::Mix& mix, const StoredModel& model) {
  const auto check = [&](const char* field, std::size_t begin, std::size_t end) {
    const auto first = mix.classes.begin();
    const std::vector<std::string> labels(first + static_cast<std::ptrdiff_t>(begin),
                                          first + static_cast<std::ptrdiff_t>(end));
    at_field(field, [&] { (void)model.task->targets(labels, model.labels.size(), {}); });
  };
  check("/global/pack", 0, mix.global_classes);
  check("/local/labels", mix.global_classes, mix.classes.size());
}

void require_no_denials(const data::Dataset& local, const StoredModel& model) {
  if (local.denials().empty()) return;
  throw field_error("/local/labels",
                    "samples are said to be not \"" + local.denials().front() +
                        "\", and a model of task \"" + std::string(model.task->name()) +
                        "\" has no outputs that are labels; relabel or forget them, or name labels "
                        "without it");
}

}  // namespace

data::Mix NightData::draw_mix(const daemon::JobSpec& spec, const StoredModel& model,
                              const std::unordered_set<data::Digest>& unreadable) const {
  data::MixOptions options;
  const daemon::GlobalSpec share =
      global_share(spec, data::samples_of(local(), data::Split::kTrain).size());
  if (share.limit) options.limit = static_cast<std::size_t>(*share.limit);
  options.labels_are_numbers = !model.task->outputs_are_labels();
  if (options.labels_are_numbers) require_no_denials(local(), model);
  if (!options.labels_are_numbers) options.known_labels = model.labels;
  data::Mix mix = at_field("/local/labels", [&] {
    return data::mix(global(), local(), reconciliation_, share.alpha, spec.seed, unreadable,
                     options);
  });
  if (!options.labels_are_numbers)
    at_field("/global/pack", [&] { renumber_classes(mix, model.labels); });
  mix.global_is_answered = targets_ == data::PackTargets::kModel;
  check_labels(mix, model);
  if (mix.train.empty()) {
    throw field_error("/global/alpha",
                      "there is nothing to train on: no labelled samples, and global.alpha is " +
                          Json(spec.global.alpha).dump());
  }
  return mix;
}

std::uint32_t NightData::count_parts(const data::MixedSample& sample,
                                     const data::Kind& kind) const {
  const data::SampleDataset* files = files_of(origins_, sample.ref.source);
  return files == nullptr ? sample.parts : parts_of(kind, *files, sample.ref.index, most_bytes_);
}

// Samples that teach their labels, or are judged, are listened to; what a pack's teach, the model
// before says.
void NightData::count_parts(data::Mix& mix, const data::Kind& kind) const {
  if (!kind.has_parts()) return;
  std::vector<data::MixedSample*> heard;
  for (auto* list : {&mix.train, &mix.global_validation, &mix.local_validation}) {
    for (data::MixedSample& sample : *list) {
      const bool is_global = sample.is_global();
      const bool teaches = is_global && list == &mix.train;
      if (teaches || !kind.has_silence() || files_of(origins_, sample.ref.source) == nullptr)
        sample.parts = count_parts(sample, kind);
      else
        heard.push_back(&sample);
    }
  }
  listen(heard, kind);
}

void NightData::listen(const std::vector<data::MixedSample*>& heard, const data::Kind& kind) const {
  std::exception_ptr error;
  DecodingRoom room(most_bytes_ / 2);  // nothing is planned yet
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < heard.size(); ++i) {
    try {
      listen(*heard[i], kind, room);
    } catch (...) {
#pragma omp critical(moil_silence)
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

void NightData::listen(data::MixedSample& sample, const data::Kind& kind,
                       DecodingRoom& room) const {
  const data::SampleDataset& samples = *files_of(origins_, sample.ref.source);
  const std::size_t index = sample.ref.index;
  sample.parts = 1;
  try {
    const std::size_t bytes =
        most_bytes_ == kNoLimit ? 0 : decoding_bytes(samples, index, kind, most_bytes_);
    if (bytes > most_bytes_) return;  // it is left out later
    const std::size_t taken = std::min(bytes, room.bytes());
    room.enter(taken, samples, index);
    const DecodingRoom::Place place(room, taken);
    auto [parts, silent] = kind.signal(samples.encoded(index), samples.name(index));
    sample.parts = parts;
    sample.silent = std::move(silent);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kBadData && e.code() != ErrorCode::kNotFound) throw;
  }
}

void NightData::guess_parts(data::Mix& mix, const data::Kind& kind) const {
  if (!kind.has_parts()) return;
  constexpr std::size_t kLookedAt = 8;  // of each side
  for (const data::Source source : {data::Source::kGlobal, data::Source::kLocal}) {
    std::vector<data::MixedSample*> side;
    for (auto* list : {&mix.train, &mix.global_validation, &mix.local_validation})
      for (data::MixedSample& sample : *list)
        if (sample.ref.source == source) side.push_back(&sample);
    const std::size_t looked_at = std::min(side.size(), kLookedAt);
    std::uint64_t parts = 0;
    for (std::size_t i = 0; i < looked_at; ++i)
      parts += count_parts(*side[i * side.size() / looked_at], kind);
    for (data::MixedSample* sample : side)
      sample->parts = static_cast<std::uint32_t>((parts + looked_at / 2) / looked_at);
  }
}

std::vector<std::string> NightData::unknown_symbols(const data::Mix& mix,
                                                    const data::Kind& kind) const {
  if (!kind.can_learn_symbols()) return {};
  const data::SampleDataset& samples = *origins_.local_samples;
  std::set<std::string> found;
  for (const data::MixedSample& sample : mix.train) {
    const std::size_t index = sample.ref.index;
    if (sample.is_global()) continue;
    try {
      if (most_bytes_ != kNoLimit &&
          decoding_bytes(samples, index, kind, most_bytes_) > most_bytes_)
        continue;
      for (std::string& one : kind.unknown_symbols(samples.encoded(index), samples.name(index)))
        found.insert(std::move(one));
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kBadData && e.code() != ErrorCode::kNotFound) throw;
    }
  }
  return {found.begin(), found.end()};
}

bool NightData::is_remembered(const data::MixedSample& sample) const {
  return sample.is_global() || readers_->store.has(sample.digest);
}

bool NightData::is_used(const data::Digest& digest) const {
  const auto sample = readers_->store.find(digest);
  return !sample || sample->is_used;
}

const std::map<std::string, std::uint64_t>& NightData::other_media() const {
  return readers_->labelled->passed_over();
}

bool NightData::can_split_at(const std::string& value) const {
  const data::FeatureDataset* pack = origins_.global_features;
  return pack == nullptr || pack->split_point() == value;
}

void NightData::check_features(const std::string& backbone, const std::string& split) const {
  const data::FeatureDataset* pack = origins_.global_features;
  if (pack == nullptr) return;
  if (pack->backbone() == backbone && can_split_at(split)) return;
  throw field_error("/global/pack",
                    "the global pack holds feature maps of another backbone or split (\"" +
                        pack->split_point() + "\"; this night splits at \"" + split +
                        "\"); use a pack of samples, or the pack made for this model and freeze");
}

}  // namespace moil::night
