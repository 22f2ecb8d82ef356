// moilctl predict FILE|FOLDER...: what the model in service says of samples
#include <sysexits.h>

#include <algorithm>
#include <utility>

#include "daemon/ctl/command.h"
#include "daemon/ctl/labels/sample_files.h"
#include "daemon/rpc/limits.h"
#include "datasets/labels/text.h"

namespace moil::daemon::ctl {
namespace {

struct PredictOptions {
  std::vector<std::string> files;
  std::string model;
  int top = 5;
  bool timeline = false;
};

Json predict_some(Session& session, const PredictOptions& options,
                  std::span<const std::filesystem::path> files) {
  std::vector<UniqueFd> open;
  std::vector<int> descriptors;
  Json images = Json::array();
  for (const std::filesystem::path& file : files) {
    open.push_back(open_sample(file.string()));
    images.push_back({{"file", descriptors.size()}});
    descriptors.push_back(open.back().get());
  }
  Json params{{"images", std::move(images)}, {"top", options.top}};
  if (options.timeline) params["timeline"] = true;
  if (!options.model.empty()) params["model"] = options.model;
  Json reply = session.call("model.predict", params, descriptors);
  for (std::size_t i = 0; i < files.size(); ++i)
    reply["predictions"][i]["file"] = data::shown(files[i].string());
  return reply;
}

// By one version: if a night puts another in service meanwhile, all are asked for again.
Json predict_all(Session& session, const PredictOptions& options,
                 std::span<const std::filesystem::path> files) {
  Json all;
  for (std::size_t at = 0; at < files.size(); at += kFilesAtOnce) {
    const std::size_t count = std::min(kFilesAtOnce, files.size() - at);
    Json reply = predict_some(session, options, files.subspan(at, count));
    if (all.is_null()) {
      all = std::move(reply);
    } else if (all["version"] != reply["version"]) {
      return predict_all(session, options, files);
    } else {
      for (Json& one : reply["predictions"]) all["predictions"].push_back(std::move(one));
    }
    if (files.size() > kFilesAtOnce)
      session.console.bar(static_cast<double>(at + count) / static_cast<double>(files.size()),
                          "looking",
                          std::to_string(at + count) + " of " + std::to_string(files.size()));
  }
  session.console.end_bar();
  return all;
}

// What a sample has in a table: its file's name before the first of its rows.
class Sample {
 public:
  Sample(Rows& rows, const Json& prediction) : rows_(rows), file_(cell(prediction["file"])) {}

  void add(std::vector<std::string> cells) {
    cells.insert(cells.begin(), std::exchange(file_, ""));
    rows_.push_back(std::move(cells));
  }

 private:
  Rows& rows_;
  std::string file_;
};

bool any_has(const Json& predictions, const char* member) {
  return std::ranges::any_of(predictions,
                             [&](const Json& sample) { return sample.contains(member); });
}

// Blanks at its ends and lines are to be seen.
std::string quoted(const Json& text) {
  std::string shown = "\"";
  for (const char c : text.get<std::string>())
    shown += c == '\n' ? std::string("\\n") : std::string(1, c);
  return shown + "\"";
}

Json list_of(const Json& prediction, const char* member) {
  return prediction.value(member, Json::array());
}

Rows numbers_table(const Json& predictions) {
  Rows rows{{"FILE", "NUMBER", "VALUE"}};
  for (const Json& prediction : predictions) {
    Sample sample(rows, prediction);
    for (const Json& found : list_of(prediction, "values"))
      sample.add({cell(found["name"]), formatted(found["value"], "%.6g")});
  }
  return rows;
}

// What comes next, and how well the model knew the text before that.
Rows texts_table(const Json& predictions) {
  Rows rows{{"FILE", "BITS PER SYMBOL", "NEXT", "PROBABILITY"}};
  for (const Json& prediction : predictions) {
    if (!prediction.contains("continuation")) continue;
    Sample sample(rows, prediction);
    const Json bits = prediction.value("bits_per_symbol", Json());
    sample.add(
        {bits.is_number() ? formatted(bits, "%.2f") : "", quoted(prediction["continuation"]), ""});
    for (const Json& found : list_of(prediction, "top"))
      sample.add({"", quoted(found["label"]), percent(found["probability"])});
  }
  return rows;
}

Rows classes_table(const Json& predictions) {
  Rows rows{{"FILE", "LABEL", "PROBABILITY"}};
  for (const Json& prediction : predictions) {
    Sample sample(rows, prediction);
    if (prediction.value("not_sure", false)) sample.add({"not sure; perhaps", ""});
    for (const Json& found : list_of(prediction, "top"))
      sample.add({cell(found["label"]), percent(found["probability"])});
  }
  return rows;
}

// All tags that are said; of the others the likeliest, as many as were asked for in all.
Rows tags_table(const Json& predictions, std::size_t top) {
  Rows rows{{"FILE", "TAG", "PROBABILITY", "SAID"}};
  for (const Json& prediction : predictions) {
    Sample sample(rows, prediction);
    const Json said = list_of(prediction, "said");
    for (const Json& found : said)
      sample.add({cell(found["label"]), percent(found["probability"]), "yes"});
    std::size_t shown = said.size();
    for (const Json& found : list_of(prediction, "top")) {
      const bool is_said = std::ranges::find(said, found) != said.end();
      if (!is_said && shown++ < top)
        sample.add({cell(found["label"]), percent(found["probability"]), ""});
    }
  }
  return rows;
}

std::string place_text(const Json& place, const std::string& unit) {
  return unit == "seconds" ? clock_text(place.get<double>()) : formatted(place, "%.0f");
}

Rows timeline_table(Console& console, const Json& predictions) {
  Rows rows{{"FILE", "FROM", "TO", "LABEL", "PROBABILITY"}};
  for (const Json& prediction : predictions) {
    if (!prediction.contains("timeline")) continue;
    Sample sample(rows, prediction);
    const Json& timeline = prediction["timeline"];
    const std::string unit = timeline["unit"];
    for (const Json& heard : timeline["intervals"])
      sample.add({place_text(heard["from"], unit), place_text(heard["to"], unit),
                  cell(heard["label"]), percent(heard["probability"])});
    if (timeline["intervals"].empty()) sample.add({"", "", "nothing", ""});
    if (timeline["more"] != 0)
      console.note(cell(prediction["file"]) + ": " + cell(timeline["more"]) +
                   " more intervals are not shown");
  }
  return rows;
}

Rows table_of(const PredictOptions& options, Console& console, const Json& predictions) {
  if (options.timeline) return timeline_table(console, predictions);
  if (any_has(predictions, "values")) return numbers_table(predictions);
  if (any_has(predictions, "continuation")) return texts_table(predictions);
  if (any_has(predictions, "said"))
    return tags_table(predictions, static_cast<std::size_t>(options.top));
  return classes_table(predictions);
}

int predict(Session& session, const PredictOptions& options) {
  const SampleFiles found = gather_samples(options.files);
  tell_passed_over(session.console, found);
  if (found.files.empty()) {
    session.console.note("there is no file to look at");
    return EX_NOINPUT;
  }
  const Json all = predict_all(session, options, found.files);
  bool failed = false;
  for (const Json& image : all["predictions"]) {
    if (image.contains("remark"))
      session.console.note(cell(image["file"]) + ": " + cell(image["remark"]));
    if (!image.contains("error")) continue;
    failed = true;
    session.console.note(cell(image["file"]) + ": " + cell(image["error"]["message"]));
  }
  if (!session.printed_json(all)) {
    const Rows rows = table_of(options, session.console, all["predictions"]);
    if (rows.size() > 1) session.console.table(rows);
    session.console.print("by " + version_title(all));
  }
  return failed ? EX_DATAERR : EX_OK;
}

}  // namespace

void add_predict_command(cli::Command app, Action& chosen) {
  const auto options = std::make_shared<PredictOptions>();
  cli::Command command = add_command(app, "predict", "what the model in service says of samples",
                                     chosen, options, predict)
                             .group(kEveryday)
                             .example("moilctl predict ~/Photos/new");
  command
      .add_option(
          "FILE", options->files,
          "photos, sounds, numbers as CSV or NPY, or text: what the model takes; or folders "
          "with such files in them and below")
      .required();
  command.add_option("--model", options->model, "which model, where there are several");
  command.add_option("--top", options->top, "so many labels a file")
      .check(cli::within(1, 1000))
      .capture_default_str();
  command.add_flag("--timeline", options->timeline, "when labels are said in recordings");
}

}  // namespace moil::daemon::ctl
