// The datasets of one night: the global pack D_G and the label store's samples D_L.
#pragma once

#include <memory>
#include <optional>

#include "daemon/models/model_folder.h"
#include "daemon/night/data/decoding.h"
#include "daemon/night/data/origins.h"
#include "daemon/spec/job_spec.h"
#include "daemon/spec/state_layout.h"
#include "datasets/labels/label_types.h"
#include "datasets/pack/manifest.h"
#include "datasets/sampling/mix.h"

namespace moil::data {
class LabelDataset;
}

namespace moil::night {

// That a sample may take while it is decoded: what does not fit a night's budget is left out.
[[nodiscard]] std::size_t most_for_samples(const daemon::JobSpec& spec);

// How many parts the sample has; one that cannot be read, or takes more than `most_bytes`, has 1:
// it is found and named when it is decoded. Reads its file.
[[nodiscard]] std::uint32_t parts_of(const data::Kind& kind, const data::SampleDataset& samples,
                                     std::size_t index, std::size_t most_bytes = kNoLimit);

// Opens both, the label store read-only (the daemon writes it). What is wrong with either is told
// at the job's field (field_error.h). The model outlives it.
class NightData {
 public:
  // A job that trains nothing has the labels that the model knows beside its own: what is learned
  // must not be taken for them.
  NightData(const daemon::StateLayout& layout, const daemon::JobSpec& spec,
            const StoredModel& model);
  ~NightData();

  const data::Dataset& global() const;
  const data::Dataset& local() const;
  // All samples that the model can read, whichever labels the job names.
  const data::LabelDataset& labelled() const;
  // Takes the local samples as the label store has them now; to be called before they are used.
  void look_again();
  std::size_t known_samples() const { return global().size() + local().size(); }
  const Origins& origins() const { return origins_; }
  // From now on decoding is held within the room, until another is named; null: within none.
  void decode_within(DecodingRoom* room) { origins_.room = room; }

  // D_M of the job: the same for the same job and data. If the model's outputs are labels',
  // classes are rows of the model. An error at the job's field if D_M is empty, if the model lacks
  // a class of the pack, if a local label is mapped to a class that neither has, or if the model's
  // task cannot learn a label.
  [[nodiscard]] data::Mix draw_mix(const daemon::JobSpec& spec, const StoredModel& model,
                                   const std::unordered_set<data::Digest>& unreadable = {}) const;
  // How many parts each sample of the mix has, and which of them hold no signal; one that cannot be
  // read, or takes more than the job's budget, has 1: it is left out later. Reads every sample's
  // file if the kind's samples may have several parts.
  void count_parts(data::Mix& mix, const data::Kind& kind) const;
  // The same without reading more than a few: all get the mean of these, on each side.
  void guess_parts(data::Mix& mix, const data::Kind& kind) const;
  // What the mix's local training samples have that the kind does not know (Kind::unknown_symbols),
  // sorted; nothing of one that cannot be read, or takes more than the job's budget. Reads their
  // files if there may be any.
  [[nodiscard]] std::vector<std::string> unknown_symbols(const data::Mix& mix,
                                                         const data::Kind& kind) const;
  // Whether a head can begin at this value: if the pack holds feature maps, only at theirs.
  bool can_split_at(const std::string& value) const;
  // Feature maps made elsewhere are worth as much as our own only if the same backbone made them,
  // at the same value. backbone: its network's fingerprint.
  void check_features(const std::string& backbone, const std::string& split) const;

  // Whether the user still wants the sample used: a local one that was forgotten is gone at once.
  bool is_remembered(const data::MixedSample& sample) const;
  // Whether the label store has noted that a night uses the sample, or knows the sample no more.
  bool is_used(const data::Digest& digest) const;

  // Samples of the label store that the model cannot read, by media type.
  const std::map<std::string, std::uint64_t>& other_media() const;

 private:
  // Labels that the job names, which must be there, and labels that are taken if they are there.
  struct Choice {
    std::vector<std::string> labels, where_there;
  };
  static Choice labels_of(const daemon::JobSpec& spec, const StoredModel& model);
  void open_local();
  void choose(const Choice& choice);
  void open_pack(const std::filesystem::path& pack, const data::Kind& kind);
  std::uint32_t count_parts(const data::MixedSample& sample, const data::Kind& kind) const;
  void listen(const std::vector<data::MixedSample*>& heard, const data::Kind& kind) const;
  void listen(data::MixedSample& sample, const data::Kind& kind, DecodingRoom& room) const;

  struct Readers;
  std::unique_ptr<Readers> readers_;
  const data::Kind& kind_;
  const std::size_t most_bytes_;  // that a sample may take
  std::optional<Choice> choice_;  // if the job names labels
  Origins origins_;
  data::Reconciliation reconciliation_;
  data::PackTargets targets_ = data::PackTargets::kLabels;
};

}  // namespace moil::night
