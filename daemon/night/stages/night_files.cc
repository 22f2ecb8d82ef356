#include "daemon/night/stages/night_files.h"

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/file.h"

namespace moil::night {

std::optional<nlohmann::json> NightFiles::load(const char* name) const {
  const auto path = folder_ / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  auto json = json_or_discarded(read_text(path, std::uint64_t{1} << 30));
  if (json.is_discarded()) throw DamagedRecord(path.string() + " is not JSON");
  return json;
}

void NightFiles::save(const char* name, const nlohmann::json& json) const {
  write_file_atomic(folder_ / name, json.dump() + "\n");
}

namespace {

NightChoices choices_from_json(const nlohmann::json& json) {
  NightChoices choices{json.value("kernels", KernelChoices{}), json.value("threads", 0),
                       json.value("training_memory", nlohmann::json())};
  if (const auto head = json.value("head", nlohmann::json()); head.is_object()) {
    choices.head = HeadChoice{head.at("trained_units"), head.at("rho")};
    choices.head_is_final = head.at("final");
  }
  if (const auto rho = json.value("rho", nlohmann::json()); rho.is_number()) choices.rho = rho;
  choices.settings = json.value("settings", nlohmann::json::object());
  choices.trial_bytes = json.value("trial_bytes", std::size_t{0});
  choices.map_split = json.value("map_split", std::string());
  if (const auto bytes = json.value("map_bytes", nlohmann::json()); !bytes.is_null())
    choices.map_bytes = bytes.get<std::uint64_t>();
  choices.processors = json.value("processors", nlohmann::json());
  return choices;
}

}  // namespace

std::optional<NightChoices> NightFiles::load_choices() const {
  const auto json = load("choices.json");
  if (!json) return std::nullopt;
  return restored([&] { return choices_from_json(*json); });
}

void NightFiles::save_choices(const NightChoices& choices) const {
  nlohmann::json head;
  if (choices.head)
    head = {{"trained_units", choices.head->trained_units},
            {"rho", choices.head->rho},
            {"final", choices.head_is_final}};
  nlohmann::json json = {{"kernels", choices.kernels},
                         {"settings", choices.settings},
                         {"threads", choices.threads},
                         {"training_memory", choices.training_memory},
                         {"head", head},
                         {"rho", choices.rho ? nlohmann::json(*choices.rho) : nlohmann::json()}};
  if (!choices.map_split.empty()) json["map_split"] = choices.map_split;
  if (choices.map_bytes) json["map_bytes"] = *choices.map_bytes;
  if (choices.trial_bytes > 0) json["trial_bytes"] = choices.trial_bytes;
  if (!choices.processors.is_null()) json["processors"] = choices.processors;
  save("choices.json", json);
}

std::map<std::string, double> NightFiles::load_seconds() const {
  const auto json = load("seconds.json");
  if (!json) return {};
  return restored([&] { return json->get<std::map<std::string, double>>(); });
}

void NightFiles::remove_unfinished() const {
  for (const auto& path : {checkpoint(), soft_targets()}) moil::remove_unfinished(path);
}

void NightFiles::remove_training() const {
  for (const auto& path : {checkpoint(), soft_targets()}) std::filesystem::remove(path);
  if (auto choices = load_choices()) {
    choices->training_memory = nullptr;
    choices->head.reset();
    choices->head_is_final = false;
    choices->map_split.clear();
    choices->processors = nullptr;
    save_choices(*choices);
  }
}

void NightFiles::remove_all() const {
  for (const char* name : {"mix.json", "choices.json", "result.json", "seconds.json",
                           "train.checkpoint", "soft_targets"}) {
    std::filesystem::remove(folder_ / name);
  }
  std::filesystem::remove_all(trials());
}

}  // namespace moil::night
