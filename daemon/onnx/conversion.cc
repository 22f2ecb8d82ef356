#include "daemon/onnx/conversion.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/access.h"
#include "base/error.h"
#include "base/files/disk_full.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "daemon/models/model_folder.h"
#include "daemon/models/sequence_of_kind.h"
#include "datasets/kinds/image/image_kind.h"
#include "datasets/kinds/rows/rows_kind.h"
#include "datasets/kinds/sound/sound_kind.h"
#include "datasets/kinds/tokens/tokens_kind.h"
#include "datasets/tables/csv_names.h"
#include "engine/io/onnx/export/onnx_export.h"
#include "engine/io/onnx/onnx_import.h"
#include "engine/io/onnx/onnx_reader.h"
#include "engine/io/onnx/onnx_writer.h"
#include "engine/io/tflite/export/tflite_export.h"
#include "engine/io/tflite/tflite_reader.h"
#include "engine/model/graph.h"
#include "engine/model/preparation.h"
#include "engine/model/surgery.h"
#include "engine/train/tasks/sequence.h"

namespace moil {
namespace {

using nlohmann::json;

constexpr char kLabelsKey[] = "moil.labels", kPreprocessingKey[] = "moil.preprocessing",
               kTaskKey[] = "moil.task", kCalibrationKey[] = "moil.calibration";

json parse(const std::string& text, const std::string& where) {
  json result = json_or_discarded(text);
  if (result.is_discarded()) throw Error(ErrorCode::kBadData, where + " is not JSON");
  return result;
}

std::string read_argument(const std::string& file) {
  constexpr std::uint64_t kMaxBytes = 64 << 20;
  return read_text(file, kMaxBytes, Named::kFileOrPipe);
}

std::optional<std::string> metadata(const onnx::Graph& graph, const char* key) {
  const auto it = graph.metadata.find(key);
  if (it == graph.metadata.end()) return std::nullopt;
  return it->second;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> names_in(const json& list, const std::string& where) {
  if (!list.is_array() ||
      !std::all_of(list.begin(), list.end(), [](const json& l) { return l.is_string(); }))
    throw Error(ErrorCode::kBadData, where + " must be a JSON list of names");
  return list.get<std::vector<std::string>>();
}

// Names that occur twice get their number: ImageNet has two "crane".
std::vector<std::string> distinct(std::vector<std::string> labels) {
  std::map<std::string, int> count;
  for (const std::string& label : labels) ++count[label];
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (count[labels[i]] > 1) labels[i] += " (" + std::to_string(i) + ")";
  return labels;
}

std::size_t outputs_of(const ModelDescription& model, const Task& task) {
  return static_cast<std::size_t>(night::named_outputs(model, task));
}

std::vector<std::string> labels_of(const ImportArguments& a, const onnx::Graph& graph,
                                   const ModelDescription& model, const Task& task) {
  if (!a.labels.empty()) {
    const std::string text = read_argument(a.labels);
    if (text.find_first_not_of(" \t\r\n") != std::string::npos &&
        text[text.find_first_not_of(" \t\r\n")] == '[')
      return distinct(names_in(parse(text, a.labels), a.labels));
    if (a.labels.ends_with(".csv"))
      return distinct(data::names_of_csv(text, outputs_of(model, task), a.labels));
    return distinct(lines_of(text));
  }
  if (const auto own = metadata(graph, kLabelsKey))
    return names_in(parse(*own, kLabelsKey), kLabelsKey);
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < outputs_of(model, task); ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

TaskPtr task_of(const ImportArguments& a, const onnx::Graph& graph, const data::Kind& kind) {
  if (!a.task.empty()) {
    if (a.task == "sequence") return night::sequence_task_of(kind);
    if (a.task.find('{') == std::string::npos) return task_from_json({{"task", a.task}});
    return task_from_json(parse(a.task, "--task"));
  }
  if (const auto own = metadata(graph, kTaskKey)) return task_from_json(parse(*own, kTaskKey));
  return classify_task();
}

// Holds for these labels alone: with others the file's probabilities are others, too.
std::optional<night::Calibration> calibration_of(const ImportArguments& a,
                                                 const onnx::Graph& graph) {
  if (!a.labels.empty() || !a.task.empty()) return std::nullopt;
  const auto own = metadata(graph, kCalibrationKey);
  if (!own) return std::nullopt;
  return night::calibration_from_json(parse(*own, kCalibrationKey));
}

// Numbers as they are.
data::KindPtr plain_rows(const std::vector<std::int64_t>& dims) {
  data::RowsDescription rows{dims, {}, {}};
  rows.mean.assign(rows.columns(), 0.0);
  rows.stddev.assign(rows.columns(), 1.0);
  return data::rows_kind(std::move(rows));
}

std::string shown(const std::vector<std::int64_t>& dims) {
  std::string text;
  for (const std::int64_t extent : dims) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

data::KindPtr plain_tokens(const std::vector<std::int64_t>& dims) {
  if (dims.size() != 1)
    throw Error(ErrorCode::kInvalidArgument,
                "--kind tokens: the model's input is " + shown(dims) + ", expected one extent");
  return data::tokens_kind({.length = dims[0], .vocabulary = {}});
}

bool may_be_seen(const std::vector<std::int64_t>& dims) {
  return dims.size() == 3 && (dims[0] == 1 || dims[0] == 3);
}

data::KindPtr plain_images(const std::vector<std::int64_t>& dims, double most) {
  data::Preprocessing p;
  p.channels = static_cast<int>(dims[0]);
  p.height = static_cast<int>(dims[1]);
  p.width = static_cast<int>(dims[2]);
  p.mean.assign(static_cast<std::size_t>(dims[0]), 0.0);
  p.stddev.assign(static_cast<std::size_t>(dims[0]), 255.0 / most);
  return data::image_kind(p);
}

data::KindPtr plain_sounds(const std::vector<std::int64_t>& dims, int rate) {
  using Type = data::FrontEndType;
  if (dims.size() == 1 && rate > 0)
    return data::kind_from_json(
        {{"kind", "sound"},
         {"front_end", {{"type", "samples"}, {"rate", rate}, {"window", dims[0]}}}});
  if (dims.size() == 1)
    throw Error(ErrorCode::kInvalidArgument, "--kind sound: the model takes " + shown(dims) +
                                                 " samples of a sound; say how many a second "
                                                 "with --rate, such as --rate 48000");
  data::SoundDescription sounds;
  sounds.front_end.type = dims[0] == 1 ? Type::kLogMel : Type::kLogMelDeltas;
  sounds.front_end.frames = static_cast<int>(dims[1]);
  sounds.front_end.patch_hop = std::max(1, sounds.front_end.frames / 2);
  sounds.front_end.bands = static_cast<int>(dims[2]);
  return data::sound_kind(sounds);
}

// As its user says, in the plainest way.
data::KindPtr kind_named(const std::string& name, const std::vector<std::int64_t>& dims,
                         double most, int rate) {
  if (name == "rows") return plain_rows(dims);
  if (name == "tokens") return plain_tokens(dims);
  if (!may_be_seen(dims) && (name != "sound" || dims.size() != 1))
    throw Error(ErrorCode::kInvalidArgument,
                "--kind " + name + ": the model's input is " + shown(dims) +
                    ", expected 1 or 3 channels, a height and a width");
  return name == "sound" ? plain_sounds(dims, rate) : plain_images(dims, most);
}

struct InputKind {
  data::KindPtr kind;
  std::string remark;  // that it was guessed; empty if somebody said it
};

// most: what the brightest pixel is to the model.
InputKind kind_of(const ImportArguments& a, const onnx::Graph& graph, const ModelDescription& model,
                  double most) {
  const auto& dims = model.inputs.at(0).dims;
  if (!a.preprocessing.empty())
    return {data::kind_from_json(parse(read_argument(a.preprocessing), a.preprocessing)), ""};
  if (!a.kind.empty()) return {kind_named(a.kind, dims, most, a.rate), ""};
  if (const auto own = metadata(graph, kPreprocessingKey))
    return {data::kind_from_json(parse(*own, kPreprocessingKey)), ""};
  constexpr const char* kElse = "; if that is wrong, say --kind or --preprocessing";
  if (model.inputs[0].type == ElementType::kInt32 && dims.size() == 1)
    return {plain_tokens(dims),
            "\nIts input " + shown(dims) + " is taken for the bytes of a text" + kElse};
  if (!may_be_seen(dims))
    return {plain_rows(dims), "\nIts input " + shown(dims) + " is taken for numbers" + kElse};
  if (dims[1] != dims[2])
    throw Error(ErrorCode::kInvalidArgument,
                a.file + ": the model's input is " + shown(dims) +
                    ", which may be a photo, the spectrogram of a sound or numbers; say which: "
                    "--kind image, --kind sound or --kind rows, or describe it (--preprocessing)");
  return {plain_images(dims, most), "\nIts input " + shown(dims) +
                                        " is taken for a photo, scaled to 0 to " +
                                        (most == 1 ? "1" : "255") + kElse};
}

std::string counted(const ModelDescription& model, const WeightMap& weights) {
  std::size_t count = 0;
  for (const auto& [name, tensor] : weights) count += tensor.data.size();
  return std::to_string(model.layers.size()) + " layers, " + std::to_string(count) + " weights";
}

// With what an import into the daemon would find fault with; leaves no folder then.
void write_checked(const std::filesystem::path& folder, const night::ModelBundle& bundle) {
  if (std::filesystem::exists(folder))
    throw Error(ErrorCode::kAlreadyExists, folder.string() + " exists already");
  try {
    night::write_model_folder(folder, bundle);
    (void)night::read_model_folder(folder);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    throw;
  }
}

}  // namespace

std::string import_file(const ImportArguments& a) {
  const onnx::Graph graph =
      tflite::is_tflite(a.file) ? tflite::read_tflite(a.file) : onnx::read_onnx(a.file);
  onnx::ImportOptions options;
  options.name =
      a.name.empty()
          ? (graph.name.empty() ? std::filesystem::path(a.file).stem().string() : graph.name)
          : a.name;
  options.input_dims = a.input_dims;
  options.input_dims_name = "--input-dims";
  options.output = a.output;
  options.output_name = "--output";
  onnx::ImportedModel imported;
  try {
    imported = onnx::import_onnx(graph, options);
  } catch (const Error& e) {
    throw Error(e.code(), a.file + ": " + e.what());
  }
  night::ModelBundle bundle;
  bundle.description = imported.description;
  bundle.weights = std::move(imported.weights);
  InputKind input = kind_of(a, graph, bundle.description, imported.takes_bytes ? 255 : 1);
  bundle.task = task_of(a, graph, *input.kind);
  bundle.labels = labels_of(a, graph, bundle.description, *bundle.task);
  for (const std::string& remark : imported.remarks) input.remark += "\nRemark: " + remark;
  bundle.kind = std::move(input.kind);
  bundle.calibration = calibration_of(a, graph);
  write_checked(a.folder, bundle);
  publish(a.folder);
  return bundle.description.name + ": " + counted(bundle.description, bundle.weights) + ", " +
         std::to_string(bundle.labels.size()) +
         (bundle.task->outputs_are_labels() ? " classes; in " : " outputs; in ") + a.folder +
         night::training_remark(bundle.description, *bundle.task) + input.remark;
}

namespace {

// Of the model's file in this format.
std::string bytes_of(const night::ModelBundle& bundle, FileFormat format) {
  std::map<std::string, std::string> metadata = {
      {kLabelsKey, json(bundle.labels).dump()}, {kPreprocessingKey, bundle.kind->to_json().dump()}};
  if (bundle.task->name() != "classify") metadata[kTaskKey] = bundle.task->to_json().dump();
  if (bundle.calibration) metadata[kCalibrationKey] = night::to_json(*bundle.calibration).dump();
  if (format == FileFormat::kTflite)
    return tflite::export_tflite(bundle.description, bundle.weights, metadata);
  return onnx::format_onnx(onnx::export_onnx(bundle.description, bundle.weights, metadata));
}

void replace_content(int descriptor, std::string_view bytes) {
  constexpr const char* kWhat = "cannot write the exported model";
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) throw system_error(kWhat, errno);
  if (!S_ISREG(info.st_mode))
    throw Error(ErrorCode::kInvalidArgument, "a model is exported to a regular file alone");
  if (::ftruncate(descriptor, 0) != 0) throw system_error(kWhat, errno);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n =
        ::pwrite(descriptor, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_write_error(kWhat, errno);
    at += static_cast<std::size_t>(n);
  }
  if (::fsync(descriptor) != 0) throw_write_error(kWhat, errno);
}

}  // namespace

std::string export_file(const ExportArguments& a) {
  const night::ModelBundle bundle = night::read_model_folder(a.folder);
  write_file_atomic(a.file, bytes_of(bundle, a.format));
  publish(a.file);
  return bundle.description.name + ": " + counted(bundle.description, bundle.weights) + "; in " +
         a.file;
}

Exported export_to(const std::string& folder, int descriptor, FileFormat format) {
  const night::ModelBundle bundle = night::read_model_folder(folder);
  const std::string bytes = bytes_of(bundle, format);
  replace_content(descriptor, bytes);
  return {bundle.description.name + ": " + counted(bundle.description, bundle.weights),
          bytes.size()};
}

}  // namespace moil
