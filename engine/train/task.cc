#include "engine/train/task.h"

#include <map>

#include "base/error.h"
#include "base/json/json.h"
#include "engine/train/tasks/classify.h"
#include "engine/train/tasks/predict.h"
#include "engine/train/tasks/sequence.h"
#include "engine/train/tasks/tag.h"

namespace moil {
namespace {

std::map<std::string, TaskReader>& readers() {
  static std::map<std::string, TaskReader> all = {{"classify", read_classify},
                                                  {"predict", read_predict},
                                                  {"sequence", read_sequence},
                                                  {"tag", read_tag}};
  return all;
}

}  // namespace

TaskPtr task_from_json(const nlohmann::json& json) {
  if (json.is_null()) return classify_task();
  const auto name = json.is_object() ? json.find("task") : json.end();
  if (name == json.end() || !name->is_string())
    throw Error(ErrorCode::kInvalidArgument, "a task's description is an object with a \"task\"");
  const auto reader = readers().find(name->get<std::string>());
  if (reader != readers().end()) return reader->second(json);
  std::string known;
  for (const std::string& task : task_names()) known += (known.empty() ? "" : ", ") + task;
  throw Error(ErrorCode::kInvalidArgument,
              "unknown task " + name->dump() + "; known tasks: " + known);
}

void register_task(const std::string& name, TaskReader reader) {
  if (!readers().emplace(name, std::move(reader)).second)
    throw Error(ErrorCode::kAlreadyExists, "there is a task \"" + name + "\" already");
}

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const auto& [name, reader] : readers()) names.push_back(name);
  return names;
}

}  // namespace moil
