#include "daemon/models/model_folder.h"

#include <algorithm>
#include <set>

#include "base/access.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "daemon/models/sequence_of_kind.h"
#include "engine/io/model_json.h"
#include "engine/io/safetensors.h"
#include "engine/model/ending.h"
#include "engine/model/preparation.h"
#include "engine/model/surgery.h"
#include "engine/run/network.h"

namespace moil::night {
namespace {

constexpr std::uint64_t kMaxJsonBytes = 16 << 20;

nlohmann::json read_json(const std::filesystem::path& path) {
  auto json = json_or_discarded(read_text(path, kMaxJsonBytes));
  if (json.is_discarded()) throw Error(ErrorCode::kBadData, path.string() + " is not JSON");
  return json;
}

std::vector<std::string> read_labels(const std::filesystem::path& path) {
  const nlohmann::json json = read_json(path);
  std::vector<std::string> labels;
  std::set<std::string> seen;
  if (!json.is_array())
    throw Error(ErrorCode::kBadData, path.string() + " must be a list of names");
  for (const auto& item : json) {
    if (!item.is_string())
      throw Error(ErrorCode::kBadData, path.string() + " must hold names alone");
    labels.push_back(item.get<std::string>());
    if (!seen.insert(labels.back()).second) {
      throw Error(ErrorCode::kBadData, path.string() + " names \"" + labels.back() + "\" twice");
    }
  }
  return labels;
}

// What `from_json` makes of a file; nothing, if there is none.
template <class Known, class FromJson>
Known read_known(const std::filesystem::path& path, const FromJson& from_json) {
  if (!std::filesystem::exists(path)) return {};
  try {
    return from_json(read_json(path));
  } catch (const Error& e) {
    throw Error(e.code(), path.string() + ": " + e.what());
  }
}

std::vector<std::string> read_some(const std::filesystem::path& path,
                                   const std::vector<std::string>& labels) {
  if (!std::filesystem::exists(path)) return {};
  std::vector<std::string> some = read_labels(path);
  for (const std::string& name : some) {
    if (std::ranges::find(labels, name) == labels.end())
      throw Error(ErrorCode::kBadData,
                  path.string() + " names \"" + name + "\", which is none of the model's labels");
  }
  return some;
}

// By their dims, which is all that is checked of weights that stay in their file.
WeightMap without_data(const TensorShapes& shapes) {
  WeightMap weights;
  for (const auto& [name, dims] : shapes) weights[name].dims = dims;
  return weights;
}

void check_weights_file(const ModelDescription& model, const WeightMap& weights,
                        const std::filesystem::path& folder) {
  try {
    check_weights(build_graph(model, 1), weights);
  } catch (const Error& e) {
    throw Error(e.code(), (folder / "weights.safetensors").string() + ": " + e.what());
  }
}

const Dims& value_dims(const Graph& graph, int value) {
  return graph.values[static_cast<std::size_t>(value)].info.dims;
}

std::string listed(const std::vector<Dims>& inputs) {
  std::string text;
  for (const Dims& dims : inputs) text += (text.empty() ? "" : " and ") + dims.to_string();
  return text;
}

void check_task(const ModelDescription& model, const Task& task,
                const std::filesystem::path& folder) {
  if (model.outputs.size() != 1)
    throw Error(ErrorCode::kInvalidArgument, (folder / "model.json").string() + ": task \"" +
                                                 std::string(task.name()) +
                                                 "\" takes a model of one output; it has " +
                                                 std::to_string(model.outputs.size()));
  (void)task.loss(model);
}

TaskPtr read_task(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return classify_task();
  try {
    return task_from_json(read_json(path));
  } catch (const Error& e) {
    throw Error(e.code(), path.string() + ": " + e.what());
  }
}

// That the tables which the network's input is read by have a row for whatever the kind makes.
void check_symbols(const ModelDescription& model, const data::Kind& kind,
                   const std::filesystem::path& folder) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::kBadData, (folder / "preprocessing.json").string() + ": " + what);
  };
  if (model.inputs.size() != 1) return;
  const InputDescription& input = model.inputs[0];
  const std::int64_t symbols = kind.symbols();
  if (input.type == ElementType::kInt32 && symbols == 0)
    fail("it makes fractions of a sample; the model takes whole numbers, rows of a table");
  for (const std::string& table : input_tables(model)) {
    const std::int64_t rows = table_rows(model, table);
    if (rows < symbols)
      fail("it tells " + std::to_string(symbols) + " symbols apart; the table \"" + table +
           "\" has " + std::to_string(rows) + " rows");
  }
}

// A model of sequences learns of the symbols that it is shown.
void check_sequence(const Task& task, const data::Kind& kind, const Graph& graph,
                    const std::filesystem::path& folder) {
  if (!task.teaches_itself()) return;
  const Dims& shown = value_dims(graph, graph.inputs[0]);
  const Dims& told = value_dims(graph, graph.outputs[0]);
  if (graph.inputs.size() == 1 && told.rank() == 3 && shown.rank() == 2 && shown[1] == told[1] &&
      kind.symbols() == told[2] && task.to_json() == sequence_task_of(kind)->to_json())
    return;
  throw Error(ErrorCode::kBadData,
              (folder / "task.json").string() + ": task \"" + std::string(task.name()) +
                  "\" goes with a model that tells " + std::to_string(kind.symbols()) +
                  " symbols at each of the places that it is shown; it is shown " +
                  shown.to_string() + " and tells " + told.to_string() + "; it is " +
                  task.to_json().dump());
}

template <class Model>  // a ModelBundle or a StoredModel
void check_fit(const Model& bundle, const std::filesystem::path& folder) {
  check_task(bundle.description, *bundle.task, folder);
  const Graph graph = build_graph(bundle.description, 1);
  const std::int64_t outputs = named_outputs(bundle.description, *bundle.task);
  if (outputs != static_cast<std::int64_t>(bundle.labels.size())) {
    const char* what = bundle.task->outputs_are_labels() ? " classes" : " outputs";
    throw Error(ErrorCode::kBadData, (folder / "labels.json").string() + " names " +
                                         std::to_string(bundle.labels.size()) + what +
                                         "; the model has " + std::to_string(outputs));
  }
  std::vector<Dims> made, taken;
  for (std::vector<std::int64_t> dims : bundle.kind->inputs()) {
    dims.insert(dims.begin(), 1);
    made.emplace_back(std::span<const std::int64_t>(dims));
  }
  for (const int input : graph.inputs) taken.push_back(value_dims(graph, input));
  if (made != taken) {
    throw Error(ErrorCode::kBadData, (folder / "preprocessing.json").string() + " makes " +
                                         listed(made) + " of a sample; the model takes " +
                                         listed(taken) + " with batch 1");
  }
  check_symbols(bundle.description, *bundle.kind, folder);
  check_sequence(*bundle.task, *bundle.kind, graph, folder);
}

// The files as they are, the weights' dims held against the layers.
StoredModel open_parts(const std::filesystem::path& folder) {
  require_readable(folder);
  if (!std::filesystem::is_directory(folder))
    throw Error(ErrorCode::kNotFound, "no model folder at " + folder.string());
  StoredModel model;
  model.description = complete_model(read_model(folder / "model.json"));
  model.weights = ModelWeights(folder / "weights.safetensors");
  model.labels = read_labels(folder / "labels.json");
  model.kind = data::kind_from_json(read_json(folder / "preprocessing.json"));
  model.task = read_task(folder / "task.json");
  model.calibration =
      read_known<std::optional<Calibration>>(folder / "calibration.json", calibration_from_json);
  model.listening =
      read_known<ListeningLevels>(folder / "listening.json", listening_levels_from_json);
  model.imprinted = read_some(folder / "imprinted.json", model.labels);
  model.imprintable = read_some(folder / "imprintable.json", model.labels);
  check_weights_file(model.description, without_data(model.weights.shapes()), folder);
  return model;
}

}  // namespace

std::int64_t named_outputs(const ModelDescription& model, const Task& task) {
  if (task.teaches_itself()) return 0;
  return task.outputs_are_labels() ? classifier_classes(model) : output_elements(model);
}

StoredModel open_model_folder(const std::filesystem::path& folder) {
  StoredModel model = open_parts(folder);
  check_fit(model, folder);
  return model;
}

ModelBundle read_model_folder(const std::filesystem::path& folder) {
  StoredModel model = open_parts(folder);
  ModelBundle bundle;
  for (const auto& [name, dims] : model.weights.shapes())
    bundle.weights.emplace(name, model.weights.read(name));
  bundle.description = std::move(model.description);
  bundle.labels = std::move(model.labels);
  bundle.kind = std::move(model.kind);
  bundle.task = std::move(model.task);
  bundle.calibration = model.calibration;
  bundle.listening = std::move(model.listening);
  bundle.imprinted = std::move(model.imprinted);
  bundle.imprintable = std::move(model.imprintable);
  check_weights_file(bundle.description, bundle.weights, folder);
  fold_classifier_norm(bundle.description, bundle.weights);
  check_fit(bundle, folder);
  return bundle;
}

std::string training_remark(const ModelDescription& model, const Task& task) {
  if (task.name() != "classify") return "; its task is " + std::string(task.name());
  if (ending_of(model).kind != Ending::kSigmoid) return "";
  return "; it ends in a sigmoid: trained with sigmoid cross-entropy, each label by itself";
}

namespace {

void make_folder(const std::filesystem::path& folder) {
  std::filesystem::create_directories(std::filesystem::absolute(folder).parent_path());
  if (!std::filesystem::create_directory(folder)) {
    throw Error(ErrorCode::kAlreadyExists, folder.string() + " exists already");
  }
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
}

void write_some(const std::filesystem::path& path, const std::vector<std::string>& labels) {
  if (!labels.empty()) write_file_atomic(path, nlohmann::json(labels).dump(1) + "\n");
}

// All but the weights.
template <class Model>
void write_rest(const std::filesystem::path& folder, const Model& model) {
  write_model(folder / "model.json", model.description);
  write_file_atomic(folder / "labels.json", nlohmann::json(model.labels).dump(1) + "\n");
  write_file_atomic(folder / "preprocessing.json", model.kind->to_json().dump(1) + "\n");
  if (model.task->name() != "classify") write_task(folder, *model.task);
  if (model.calibration) write_calibration(folder, *model.calibration);
  if (!model.listening.empty()) write_listening(folder, model.listening);
  write_some(folder / "imprinted.json", model.imprinted);
  write_some(folder / "imprintable.json", model.imprintable);
  sync_folder(folder);
}

}  // namespace

void write_task(const std::filesystem::path& folder, const Task& task) {
  write_file_atomic(folder / "task.json", task.to_json().dump(1) + "\n");
}

void write_calibration(const std::filesystem::path& folder, const Calibration& calibration) {
  write_file_atomic(folder / "calibration.json", to_json(calibration).dump(1) + "\n");
}

void write_listening(const std::filesystem::path& folder, const ListeningLevels& levels) {
  write_file_atomic(folder / "listening.json", to_json(levels).dump(1) + "\n");
}

void write_model_folder(const std::filesystem::path& folder, const ModelBundle& bundle) {
  make_folder(folder);
  write_safetensors(folder / "weights.safetensors", bundle.weights);
  write_rest(folder, bundle);
}

void write_model_folder(const std::filesystem::path& folder, const StoredModel& model,
                        const std::function<NamedTensor(const std::string& weight)>& read) {
  make_folder(folder);
  write_safetensors(folder / "weights.safetensors", model.weights.shapes(), read);
  write_rest(folder, model);
}

std::size_t weight_bytes(const WeightMap& weights) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : weights) bytes += tensor.data.size() * sizeof(float);
  return bytes;
}

}  // namespace moil::night
