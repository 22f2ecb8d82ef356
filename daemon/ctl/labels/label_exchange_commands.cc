// moilctl label import|export
#include <sysexits.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/files/file.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/labels/label_adding.h"
#include "daemon/ctl/labels/sample_list.h"
#include "daemon/json/base64.h"
#include "datasets/labels/denial.h"
#include "datasets/labels/label_types.h"
#include "datasets/labels/media_type.h"
#include "datasets/labels/something_else.h"
#include "datasets/labels/text.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

// --- label import -------------------------------------------------------------------------------

struct LabelImportOptions {
  std::string from;
  bool dry_run = false;
  bool as_spelled = false;
};

using KnownLabels = std::map<std::string, std::vector<std::string>>;  // by digest

KnownLabels labels_in_store(Session& session) {
  KnownLabels known;
  const Json reply = session.list("label.samples", {{"limit", 1000}}, "samples");
  for (const Json& sample : reply["samples"])
    known[sample["digest"]] = sample["labels"].get<std::vector<std::string>>();
  return known;
}

// What will become of each file, before anything is sent.
struct Outlook {
  std::vector<ListedSample> wanted;  // a content once, with the labels of all files that have it
  std::vector<fs::path> fresh_files;
  std::size_t fresh = 0, known = 0, labelled = 0, other = 0;
  Json refused = Json::array();  // "file" and "error", as label.add tells it
};

void look_at(const ListedSample& sample, const std::vector<std::string>& labels,
             const KnownLabels& store, const std::string& digest, Outlook& outlook) {
  const auto there = store.find(digest);
  if (there == store.end()) {
    ++outlook.fresh;
    outlook.fresh_files.push_back(sample.file);
  } else if (std::ranges::includes(there->second, labels)) {
    ++outlook.known;
  } else {
    ++(there->second.empty() ? outlook.labelled : outlook.other);
  }
  outlook.wanted.push_back({sample.file, labels, sample.split});
}

Outlook look_ahead(Session& session, const std::vector<ListedSample>& listed) {
  Outlook outlook;
  std::map<std::string, std::pair<ListedSample, std::set<std::string>>> by_digest;
  std::vector<std::string> order;
  for (const ListedSample& sample : listed) {
    try {
      const auto content = read_file(sample.file, data::kMaxSampleBytes);
      data::check_sample_content(content);
      const std::string digest = data::digest_of(content).hex();
      const auto known = by_digest.find(digest);
      std::vector<std::string> labels = sample.labels;
      if (known != by_digest.end())
        labels.insert(labels.end(), known->second.second.begin(), known->second.second.end());
      if (!labels.empty()) labels = data::checked_label_names(labels);
      if (known == by_digest.end()) order.push_back(digest);
      by_digest.try_emplace(digest, sample, std::set<std::string>())
          .first->second.second.insert(labels.begin(), labels.end());
    } catch (const Error& error) {
      outlook.refused.push_back(
          {{"file", data::shown(sample.file.string())},
           {"error", {{"code", to_string(error.code())}, {"message", error.what()}}}});
      session.console.note(printable(sample.file.string()) + ": " + printable(error.what()));
    }
  }
  const KnownLabels store = labels_in_store(session);
  for (const std::string& digest : order) {
    const auto& [sample, labels] = by_digest.at(digest);
    look_at(sample, {labels.begin(), labels.end()}, store, digest, outlook);
  }
  return outlook;
}

// Without labels, which are not asked about: nothing is added.
void try_fresh_files(Session& session, Outlook& outlook) {
  AddOptions options;
  options.dry_run = true;
  Added tried;
  add_files(session, options, outlook.fresh_files, tried, 0, outlook.fresh_files.size());
  outlook.fresh = static_cast<std::size_t>(tried.added);
  for (Json& sample : tried.samples)
    if (sample.contains("error")) outlook.refused.push_back(std::move(sample));
}

int tell_outlook(Session& session, const Outlook& outlook) {
  const Json told{{"new", outlook.fresh},
                  {"known", outlook.known},
                  {"first_label", outlook.labelled},
                  {"other_labels", outlook.other},
                  {"refused", outlook.refused.size()}};
  if (session.printed_json(told)) return EX_OK;
  std::string text;
  for (const auto& [count, what] :
       {std::pair<std::size_t, const char*>{outlook.fresh, " would be added"},
        {outlook.known, " known already"},
        {outlook.labelled, " would get their first label"},
        {outlook.other, " with other labels would be left as they are"},
        {outlook.refused.size(), " cannot be taken"}})
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
  session.console.print(text.empty() ? "there is no file to add" : text);
  return EX_OK;
}

// What is to be asked of labels is asked before anything is added: a label.add of no sample.
void settle_spelling(Session& session, const Outlook& outlook, Spelling& spelling) {
  std::set<std::string> labels;
  for (const ListedSample& sample : outlook.wanted)
    for (const std::string& label : sample.labels) labels.insert(data::without_denial(label));
  labels.erase(std::string(data::kSomethingElse));  // which is given alone
  if (labels.empty()) return;
  spelling.call(session, "label.add", {{"labels", labels}, {"samples", Json::array()}}, "labels");
}

int import_list(Session& session, const LabelImportOptions& options) {
  Outlook outlook = look_ahead(session, read_sample_list(options.from));
  if (options.dry_run) {
    try_fresh_files(session, outlook);
    return tell_outlook(session, outlook);
  }
  std::map<std::pair<std::vector<std::string>, std::string>, std::vector<fs::path>> groups;
  for (const ListedSample& sample : outlook.wanted)
    groups[{sample.labels, sample.split}].push_back(sample.file);
  Added all{.spelling = Spelling(options.as_spelled)};
  settle_spelling(session, outlook, all.spelling);
  const std::string step = new_step();
  for (const auto& [what, files] : groups) {
    AddOptions group;
    group.labels = what.first;
    group.split = what.second;
    group.step = step;
    add_files(session, group, files, all, all.samples.size(), outlook.wanted.size());
  }
  all.failed += static_cast<int>(outlook.refused.size());
  all.samples.insert(all.samples.end(), outlook.refused.begin(), outlook.refused.end());
  const Json total{{"added", all.added}, {"failed", all.failed}, {"samples", all.samples}};
  if (!session.printed_json(total)) session.console.print(summary_of(all));
  if (all.samples.empty() && all.failed == 0) session.console.note("there is no file to add");
  if (all.samples.empty() && all.failed == 0) return EX_NOINPUT;
  return all.failed > 0 ? EX_DATAERR : EX_OK;
}

// --- label export -------------------------------------------------------------------------------

struct LabelExportOptions {
  std::string folder;
  std::string format = "jsonl";
};

std::string content_of(Session& session, const Json& digest) {
  std::string content;
  for (std::size_t size = 1; content.size() < size;) {
    const Json reply =
        session.call("label.content", {{"digest", digest}, {"offset", content.size()}});
    size = reply["bytes"];
    const auto part = decode_base64(reply["content"].get<std::string>());
    if (!part || part->empty())
      throw Error(ErrorCode::kIo, "the daemon sent nothing of sample " + cell(digest));
    content.append(part->begin(), part->end());
  }
  return content;
}

// The last dot of "walk.ogg 3.2-4.7 s" begins none.
bool has_ending(const std::string& name) {
  const std::string ending = fs::path(name).extension().string();
  return ending.size() > 1 && ending.find(' ') == std::string::npos;
}

// A name that no other sample has, and that leads nowhere.
std::string file_name_of(const Json& sample) {
  std::string name = fs::path(sample.value("name", "")).filename().string();
  const std::string digest = sample["digest"];
  const auto ending = data::media_ending(sample["media_type"].get<std::string>());
  if (name.empty() || name[0] == '.') name = "sample" + std::string(ending);
  if (!has_ending(name)) name += ending;
  return digest.substr(0, 12) + "-" + name;
}

bool is_a_folder_name(const std::string& label) {
  return label.find('/') == std::string::npos && label[0] != '.';
}

// Where a sample's file goes: in folders that are its labels, or in one for all.
std::vector<fs::path> places_of(const Json& sample, bool in_folders) {
  const std::string name = file_name_of(sample);
  if (!in_folders) return {fs::path("files") / name};
  std::vector<fs::path> places;
  for (const Json& label : sample["labels"]) {
    if (!is_a_folder_name(label))
      throw Error(ErrorCode::kInvalidArgument, "the label '" + label.get<std::string>() +
                                                   "' cannot name a folder; export as jsonl");
    places.push_back(fs::path(label.get<std::string>()) / name);
  }
  if (places.empty()) places.emplace_back(name);
  return places;
}

int export_all(Session& session, const LabelExportOptions& options) {
  const fs::path root = options.folder;
  if (fs::exists(root) && !fs::is_empty(root))
    throw Error(ErrorCode::kAlreadyExists,
                root.string() + ": it is not empty; name a folder that is new");
  const bool in_folders = options.format == "folder";
  const Json reply = session.list("label.samples", {{"limit", 1000}}, "samples");
  std::vector<ListedSample> list;
  for (const Json& sample : reply["samples"]) {
    const auto places = places_of(sample, in_folders);
    const std::string content = content_of(session, sample["digest"]);
    for (const fs::path& place : places) {
      fs::create_directories((root / place).parent_path());
      write_file_atomic(root / place, content);
    }
    list.push_back({places.front(), sample["labels"].get<std::vector<std::string>>(),
                    sample["split"].get<std::string>()});
    session.console.bar(
        static_cast<double>(list.size()) / static_cast<double>(reply["samples"].size()),
        "exporting", std::to_string(list.size()));
  }
  session.console.end_bar();
  fs::create_directories(root);
  if (options.format == "csv") write_file_atomic(root / "labels.csv", csv_of(list));
  if (options.format == "jsonl") write_file_atomic(root / "labels.jsonl", json_lines_of(list));
  const Json told{{"exported", list.size()}, {"folder", fs::absolute(root).string()}};
  if (!session.printed_json(told))
    session.console.print(counted(static_cast<std::int64_t>(list.size()), "sample") +
                          " exported to " + root.string());
  return EX_OK;
}

}  // namespace

void add_label_exchange_commands(cli::Command group, Action& chosen) {
  const auto imported = std::make_shared<LabelImportOptions>();
  cli::Command command = add_command(group, "import", "add samples with their labels from a list",
                                     chosen, imported, import_list);
  command
      .add_option("FROM", imported->from,
                  "a list (.csv, .jsonl), or a folder with one, or with a folder a label")
      .required();
  command.add_flag("--dry-run", imported->dry_run, "say what it would do, and do nothing");
  add_as_spelled(command, imported->as_spelled);

  const auto exported = std::make_shared<LabelExportOptions>();
  command = add_command(group, "export", "write all samples and their labels to a folder", chosen,
                        exported, export_all);
  command.add_option("FOLDER", exported->folder, "new or empty").required();
  command.add_option("--format", exported->format, "jsonl, csv, or folder: a folder a label")
      .check(cli::one_of({"jsonl", "csv", "folder"}));
}

}  // namespace moil::daemon::ctl
