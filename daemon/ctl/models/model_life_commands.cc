// moilctl model show|diff|export|pin|unpin: where a version comes from, what it changed, and how it
// leaves
#include <fcntl.h>
#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/access.h"
#include "base/error.h"
#include "base/files/file.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/jobs/report_figures.h"

namespace moil::daemon::ctl {
namespace {

struct VersionOptions {
  std::string model;
  std::int64_t version = 0;
};

// --- model show ---------------------------------------------------------------------------------

std::string maker_text(const Json& v) {
  if (v["job"].is_null()) return "it was imported";
  const Json job = at(v["provenance"], "/job");
  std::string text = "job " + cell(v["job"]);
  if (job.is_object()) text += " (" + printable(cell(job["name"])) + ")";
  if (const Json schedule = at(job, "/schedule"); schedule.is_string())
    text += " of schedule " + cell(schedule);
  if (const Json build = at(v["provenance"], "/build"); build.is_string())
    text += ", moild " + cell(build);
  return text;
}

std::string set_text(const Json& set) {
  if (!set.is_object()) return "-";
  return cell(set["samples"]) + " samples, " + cell(set["held_out"]) + " held out; digest " +
         cell(set["digest"]);
}

std::string training_text(const Json& provenance) {
  const Json s = at(provenance, "/settings");
  if (!s.is_object()) return "-";
  return "alpha " + cell(at(s, "/global/alpha")) + ", trained layers " +
         cell(at(s, "/freeze/trainable_layers")) + ", method " + cell(at(s, "/train/method")) +
         ", " + cell(at(s, "/train/epochs")) + " epochs of batches of " +
         cell(at(s, "/train/batch")) + ", " + cell(at(s, "/train/optimizer/type")) + " at " +
         cell(at(s, "/train/optimizer/learning_rate")) + ", seed " + cell(at(s, "/seed"));
}

void add_accuracy(Rows& rows, const Json& v, const std::string& which) {
  const Json& metrics = v["metrics"];
  const Json after = at(metrics, ("/" + which + "_after").c_str());
  if (after.is_null()) return;
  rows.push_back({which + " " + metric_name(metrics, which),
                  quality_text(at(metrics, ("/" + which + "_before").c_str()), metrics) + " -> " +
                      quality_text(after, metrics)});
}

std::string canary_text(const Json& canary) {
  return "held against version " + cell(canary["parent"]) + " by new labels: worse on " +
         cell(canary["worse"]) + ", better on " + cell(canary["better"]) + ", no other on " +
         cell(canary["neither"]) + "; " + cell(canary["waiting"]) + " to be looked at";
}

int show(Session& session, const VersionOptions& options) {
  const Json v =
      session.call("model.get", {{"model", options.model}, {"version", options.version}});
  if (session.printed_json(v)) return EX_OK;
  std::string state = v["active"] == true ? "in service" : "not in service";
  if (v["pinned"] == true) state += ", pinned";
  Rows rows{{version_title(v), state},
            {"made by", maker_text(v)},
            {"made from", v["parent"].is_null() ? "-" : "version " + cell(v["parent"])},
            {"created", cell(v["created_at"])},
            {"what", printable(cell(v["summary"]))}};
  add_accuracy(rows, v, "global");
  add_accuracy(rows, v, "local");
  const Json& provenance = v["provenance"];
  if (provenance.is_object()) {
    rows.push_back({"local data", set_text(at(provenance, "/data/local"))});
    rows.push_back({"global data", set_text(at(provenance, "/data/global"))});
    rows.push_back({"pack", printable(cell(at(provenance, "/settings/global/pack")))});
    rows.push_back({"settings", training_text(provenance)});
    rows.push_back({"weights", "digest " + cell(at(provenance, "/weights"))});
  }
  if (v["forgotten"] != 0)
    rows.push_back({"forgotten", cell(v["forgotten"]) + " of the samples that it learned from"});
  if (const Json& canary = v["canary"]; canary.is_object())
    rows.push_back({"canary", canary_text(canary)});
  if (const Json& gone = v["withdrawn"]; gone.is_object()) {
    const std::string why = printable(cell(gone["why"]));
    rows.push_back({"rolled back", cell(gone["at"]) + " by " +
                                       (gone["cause"] == "canary" ? "its canary" : "a user") +
                                       (why.empty() ? "" : ": " + why)});
  }
  rows.push_back({"folder", cell(v["folder"])});
  session.console.table(rows);
  return EX_OK;
}

// --- model diff ---------------------------------------------------------------------------------

struct DiffOptions {
  std::string model;
  std::int64_t a = 0, b = 0;
};

std::string change_text(const Json& layer) {
  if (layer["identical"] == true) return "bit-identical";
  if (layer["in"] == "a") return "only in the first";
  if (layer["in"] == "b") return "only in the second";
  const std::string text =
      layer["change"].is_number() ? formatted(layer["change"], "%.3g") : std::string("-");
  return layer["resized"] == true ? text + ", of other dims" : text;
}

void print_layers(Console& console, const Json& layers) {
  Rows rows{{"LAYER", "WEIGHTS", "RELATIVE CHANGE"}};
  std::size_t identical = 0;
  for (const Json& layer : layers) {
    if (layer["identical"] == true) {
      ++identical;
      continue;
    }
    rows.push_back({printable(cell(layer["layer"])), cell(layer["weights"]), change_text(layer)});
  }
  if (rows.size() > 1) console.table(rows);
  console.print(std::to_string(identical) + " of " + std::to_string(layers.size()) +
                " layers with weights are bit-identical");
}

// "3/4 -> 4/4", of the samples held out.
std::string right_text(const Json& side) {
  if (!side.is_object()) return "-";
  const auto of = [&](const char* which) {
    const Json& part = side[which];
    if (!part.is_object()) return std::string("-");
    return cell(part["right"]) + "/" + cell(part["held_out"]);
  };
  return of("a") + " -> " + of("b");
}

void print_labels(Console& console, const Json& reply) {
  Rows rows{{"LABEL", "", "GLOBAL", "LOCAL"}};
  for (const Json& label : reply["labels"]) {
    const bool is_measured = label["global"].is_object() || label["local"].is_object();
    if (label["in"] == "both" && !is_measured) continue;
    const std::string in = label["in"] == "a" ? "gone" : label["in"] == "b" ? "new" : std::string();
    rows.push_back({printable(cell(label["label"])), in, right_text(label["global"]),
                    right_text(label["local"])});
  }
  if (rows.size() == 1) return;
  console.print("");
  console.table(rows);
  if (reply["same_held_out"] == false) console.print("the two were measured on different samples");
}

int diff(Session& session, const DiffOptions& options) {
  const Json reply = session.list(
      "model.diff", {{"model", options.model}, {"a", options.a}, {"b", options.b}}, "labels");
  if (session.printed_json(reply)) return EX_OK;
  session.console.print("model " + options.model + ", from version " + std::to_string(options.a) +
                        " to " + std::to_string(options.b));
  print_layers(session.console, reply["layers"]);
  print_labels(session.console, reply);
  return EX_OK;
}

// --- model export -------------------------------------------------------------------------------

struct ModelExportOptions {
  std::string model;
  std::int64_t version = 0;
  std::string file;
  bool to_tflite = false;
};

// A file that takes another's place once it is whole.
class NewFile {
 public:
  explicit NewFile(const std::string& file) : file_(file), aside_(file + ".part-XXXXXX") {
    fd_ = UniqueFd(::mkostemp(aside_.data(), O_CLOEXEC));
    if (!fd_) throw system_error("cannot write beside " + file, errno);
  }
  ~NewFile() {
    if (!aside_.empty()) ::unlink(aside_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int descriptor() const { return fd_.get(); }
  void commit() {
    publish(aside_);
    rename_durable(aside_, file_);
    aside_.clear();
  }

 private:
  std::string file_, aside_;
  UniqueFd fd_;
};

int export_model(Session& session, const ModelExportOptions& options) {
  NewFile file(options.file);
  const int descriptor = file.descriptor();
  Json params = {{"model", options.model}, {"version", options.version}, {"file", 0}};
  if (options.to_tflite || options.file.ends_with(".tflite")) params["format"] = "tflite";
  const Json reply = session.call("model.export", params, std::span(&descriptor, 1));
  file.commit();
  if (!session.printed_json(reply))
    session.console.print(version_title(reply) + " exported: " + cell(reply["summary"]) + "; in " +
                          options.file);
  return EX_OK;
}

// --- model pin, unpin ---------------------------------------------------------------------------

int set_pinned(Session& session, const VersionOptions& options, bool pinned) {
  const Json reply = session.call(
      "model.pin", {{"model", options.model}, {"version", options.version}, {"pinned", pinned}});
  if (!session.printed_json(reply))
    session.console.print(version_title(reply) +
                          (pinned ? " is pinned: it stays" : " is not pinned any more"));
  return EX_OK;
}

int pin(Session& session, const VersionOptions& options) {
  return set_pinned(session, options, true);
}

int unpin(Session& session, const VersionOptions& options) {
  return set_pinned(session, options, false);
}

}  // namespace

void add_model_life_commands(cli::Command group, Action& chosen) {
  const auto shown = std::make_shared<VersionOptions>();
  cli::Command command =
      add_command(group, "show", "where a version comes from", chosen, shown, show);
  command.add_option("MODEL", shown->model).required();
  command.add_option("VERSION", shown->version, "the active one if left out");

  const auto compared = std::make_shared<DiffOptions>();
  command = add_command(group, "diff", "what changed between two versions", chosen, compared, diff);
  command.add_option("MODEL", compared->model).required();
  command.add_option("A", compared->a, "a version").required();
  command.add_option("B", compared->b, "another one").required();

  const auto exported = std::make_shared<ModelExportOptions>();
  command = add_command(group, "export", "write a version as ONNX or TensorFlow Lite", chosen,
                        exported, export_model);
  command.add_option("MODEL", exported->model).required();
  command.add_option("VERSION", exported->version, "the active one if left out");
  command.add_option("-o,--out=FILE", exported->file, "the file to write").required();
  command.add_flag("--tflite", exported->to_tflite,
                   "TensorFlow Lite in place of ONNX, as for a FILE that ends in .tflite");

  const auto pinned = std::make_shared<VersionOptions>();
  command =
      add_command(group, "pin", "keep a version, however old it becomes", chosen, pinned, pin);
  command.add_option("MODEL", pinned->model).required();
  command.add_option("VERSION", pinned->version).required();
  const auto unpinned = std::make_shared<VersionOptions>();
  command = add_command(group, "unpin", "let it go like others", chosen, unpinned, unpin);
  command.add_option("MODEL", unpinned->model).required();
  command.add_option("VERSION", unpinned->version).required();
}

}  // namespace moil::daemon::ctl
