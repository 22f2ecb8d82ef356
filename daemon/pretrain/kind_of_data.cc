#include "daemon/pretrain/kind_of_data.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "daemon/pretrain/usual_network.h"
#include "datasets/kinds/image/image_kind.h"
#include "datasets/kinds/rows/ids_kind.h"
#include "datasets/kinds/rows/rows_kind.h"
#include "datasets/kinds/several/several_kind.h"
#include "datasets/kinds/sound/sound_kind.h"
#include "datasets/kinds/tokens/tokens_kind.h"
#include "datasets/labels/media_type.h"
#include "datasets/samples/sample_table.h"

namespace moil::pretrain {
namespace {

using Dims = data::Kind::Dims;

// The files of one name in a dataset of archives.
class FilesOfArchives : public data::TableDataset<data::SampleDataset> {
 public:
  FilesOfArchives(const data::SampleDataset& archives, std::string file)
      : archives_(archives), file_(std::move(file)) {
    table_ = data::SampleTable(archives.classes());
    for (std::size_t i = 0; i < archives.size(); ++i) {
      const auto labels = archives.labels(i);
      table_.add({labels.begin(), labels.end()}, archives.split(i));
    }
  }
  data::Digest digest(std::size_t i) const override { return archives_.digest(i); }
  std::string name(std::size_t i) const override { return archives_.name(i) + ", " + file_; }
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    return data::file_in_archive(archives_.encoded(i), file_, archives_.name(i));
  }

 private:
  const data::SampleDataset& archives_;
  const std::string file_;
};

data::KindPtr images_of(const Dims& dims) {
  if (dims.size() != 3)
    throw Error(ErrorCode::kInvalidArgument,
                "pretraining on images needs a model of an image input [C, H, W]");
  data::Preprocessing p;
  p.channels = static_cast<int>(dims[0]);
  p.height = static_cast<int>(dims[1]);
  p.width = static_cast<int>(dims[2]);
  p.mean.assign(static_cast<std::size_t>(p.channels), 127.5);
  p.stddev.assign(static_cast<std::size_t>(p.channels), 127.5);
  p.check();
  return data::image_kind(p);
}

data::KindPtr with_level(data::SoundDescription description, const data::SampleDataset& dataset) {
  const data::Level level = data::level_of(description.front_end, dataset,
                                           data::samples_of(dataset, data::Split::kTrain));
  description.mean = level.mean;
  description.stddev = level.stddev;
  return data::sound_kind(description);
}

data::KindPtr sounds_of(const Dims& dims, const data::SampleDataset& dataset) {
  if (dims.size() != 3 || (dims[0] != 1 && dims[0] != 3))
    throw Error(ErrorCode::kInvalidArgument,
                "pretraining on sounds needs a model of an input [1 or 3, frames, bands]");
  using Type = data::FrontEndType;
  data::SoundDescription description;
  description.front_end.type = dims[0] == 1 ? Type::kLogMel : Type::kLogMelDeltas;
  description.front_end.frames = static_cast<int>(dims[1]);
  description.front_end.patch_hop = std::max(1, description.front_end.frames / 2);
  description.front_end.bands = static_cast<int>(dims[2]);
  return with_level(description, dataset);
}

data::KindPtr records_of_ids(const Dims& dims, const data::SampleDataset& dataset,
                             std::vector<data::RowColumn> columns) {
  const Dims made{static_cast<std::int64_t>(columns.size())};
  if (made != dims)
    throw Error(ErrorCode::kInvalidArgument, "the records have " + std::to_string(made[0]) +
                                                 " columns of ids; the model takes " +
                                                 nlohmann::json(dims).dump());
  const auto samples = data::samples_of(dataset, data::Split::kTrain);
  std::vector<std::string> ids = data::ids_of(dataset, samples, columns);
  return data::ids_kind(std::move(columns), std::move(ids));
}

// Bytes of a text.
data::KindPtr symbols_of(const Dims& dims) {
  if (dims.size() != 1)
    throw Error(ErrorCode::kInvalidArgument,
                "pretraining on text needs a model of an input [places]");
  return data::tokens_kind({.length = dims[0], .vocabulary = {}});
}

data::KindPtr default_kind(const InputDescription& input, const data::SampleDataset& dataset,
                           std::int64_t hop) {
  const Dims& dims = input.dims;
  const std::string_view media = media_of(dataset);
  if (media == data::kText || input.type == ElementType::kInt32) return symbols_of(dims);
  if (data::is_numbers(media))
    return data::rows_kind(
        data::describe_rows(dims, dataset, data::samples_of(dataset, data::Split::kTrain), hop));
  if (hop > 0)
    throw Error(ErrorCode::kInvalidArgument, "--hop is for recordings of numbers; this is none");
  return data::is_sound(media) ? sounds_of(dims, dataset) : images_of(dims);
}

data::KindPtr default_kind(const ModelDescription& model, const data::SampleDataset& dataset,
                           std::int64_t hop) {
  if (model.inputs.size() == 1 && data::media_type_of(dataset.encoded(0)) != data::kTar)
    return default_kind(model.inputs[0], dataset, hop);
  std::vector<data::SeveralInput> inputs;
  for (const InputDescription& input : model.inputs)
    inputs.push_back({input.name, default_kind(input, FilesOfArchives(dataset, input.name), hop)});
  return data::several_kind(std::move(inputs));
}

// With what the samples that train have beside it.
data::KindPtr with_symbols_of(const data::KindPtr& kind, const data::SampleDataset& dataset) {
  return kind->can_learn_symbols() ? kind->with_symbols(unknown_symbols(*kind, dataset)) : kind;
}

data::KindPtr described_kind(const nlohmann::json& preprocessing,
                             const data::SampleDataset& dataset) {
  const data::KindPtr kind = data::kind_from_json(preprocessing);
  if (kind->name() != "sound" || preprocessing.contains("mean") || preprocessing.contains("std"))
    return with_symbols_of(kind, dataset);
  nlohmann::json fields = preprocessing;
  fields.erase("kind");
  return with_level(data::sound_description_from_json(fields), dataset);
}

std::string shown(const std::vector<Dims>& inputs) { return nlohmann::json(inputs).dump(); }

}  // namespace

std::vector<std::string> unknown_symbols(const data::Kind& kind,
                                         const data::SampleDataset& dataset) {
  if (!kind.can_learn_symbols()) return {};
  std::set<std::string> found;
  for (const std::size_t i : data::samples_of(dataset, data::Split::kTrain))
    for (std::string& symbol : kind.unknown_symbols(dataset.encoded(i), dataset.name(i)))
      found.insert(std::move(symbol));
  return {found.begin(), found.end()};
}

data::KindPtr kind_of_data(const ModelDescription& model, const data::SampleDataset& dataset,
                           const KindOptions& options) {
  if (options.preprocessing.is_null()) {
    const bool is_lone = model.inputs.size() == 1;
    auto ids = is_lone ? data::id_columns_of(dataset, options.ids) : std::vector<data::RowColumn>();
    if (!ids.empty()) return records_of_ids(model.inputs[0].dims, dataset, std::move(ids));
    return default_kind(model, dataset, options.hop);
  }
  const data::KindPtr kind = described_kind(options.preprocessing, dataset);
  std::vector<Dims> taken;
  for (const InputDescription& input : model.inputs) taken.push_back(input.dims);
  if (kind->inputs() != taken)
    throw Error(ErrorCode::kInvalidArgument, "the preprocessing makes " + shown(kind->inputs()) +
                                                 " of a sample; the model takes " + shown(taken));
  return kind;
}

}  // namespace moil::pretrain
