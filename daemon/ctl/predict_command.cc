// moilctl predict FILE...: what the model in service says of samples
#include <sysexits.h>

#include <algorithm>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {
namespace {

// Files of one request: the daemon takes so many descriptors at once.
constexpr std::size_t kFilesPerRequest = 50;

struct PredictOptions {
  std::vector<std::string> files;
  std::string model;
  int top = 5;
};

Json predict_some(Session& session, const PredictOptions& options,
                  std::span<const std::string> files) {
  std::vector<UniqueFd> open;
  std::vector<int> descriptors;
  Json images = Json::array();
  for (const std::string& file : files) {
    open.push_back(open_sample(file));
    images.push_back({{"file", descriptors.size()}});
    descriptors.push_back(open.back().get());
  }
  Json params{{"images", std::move(images)}, {"top", options.top}};
  if (!options.model.empty()) params["model"] = options.model;
  Json reply = session.call("model.predict", params, descriptors);
  for (std::size_t i = 0; i < files.size(); ++i) reply["predictions"][i]["file"] = files[i];
  return reply;
}

void print_table(Console& console, const Json& predictions) {
  const bool are_numbers = std::ranges::any_of(
      predictions, [](const Json& sample) { return sample.contains("values"); });
  std::vector<std::vector<std::string>> rows{
      {"FILE", are_numbers ? "NUMBER" : "LABEL", are_numbers ? "VALUE" : "PROBABILITY"}};
  for (const Json& image : predictions) {
    std::string file = cell(image["file"]);
    for (const Json& found : image.value("values", Json::array())) {
      rows.push_back({file, cell(found["name"]), formatted(found["value"], "%.6g")});
      file.clear();
    }
    if (image.value("not_sure", false)) {
      rows.push_back({file, "not sure; perhaps", ""});
      file.clear();
    }
    for (const Json& found : image.value("top", Json::array())) {
      rows.push_back({file, cell(found["label"]), percent(found["probability"])});
      file.clear();
    }
  }
  if (rows.size() > 1) console.table(rows);
}

int predict(Session& session, const PredictOptions& options) {
  Json all;
  for (std::size_t at = 0; at < options.files.size(); at += kFilesPerRequest) {
    const std::size_t count = std::min(kFilesPerRequest, options.files.size() - at);
    Json reply = predict_some(session, options, std::span(options.files).subspan(at, count));
    if (all.is_null()) {
      all = std::move(reply);
      continue;
    }
    for (Json& one : reply["predictions"]) all["predictions"].push_back(std::move(one));
  }
  bool failed = false;
  for (const Json& image : all["predictions"]) {
    if (!image.contains("error")) continue;
    failed = true;
    session.console.note(cell(image["file"]) + ": " + cell(image["error"]["message"]));
  }
  if (!session.printed_json(all)) print_table(session.console, all["predictions"]);
  return failed ? EX_DATAERR : EX_OK;
}

}  // namespace

void add_predict_command(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<PredictOptions>();
  CLI::App* command = add_command(&app, "predict", "what the model in service says of samples",
                                  chosen, options, predict);
  command
      ->add_option("FILE", options->files, "photos, or numbers as CSV or NPY: what the model takes")
      ->required();
  command->add_option("--model", options->model, "which model, where there are several");
  command->add_option("--top", options->top, "so many labels a file")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

}  // namespace moil::daemon::ctl
