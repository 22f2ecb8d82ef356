#include "daemon/ctl/setup/setup_steps.h"

namespace moil::daemon::ctl {
namespace {

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

Words import_words(const SetupWanted& wanted, const std::string& model, const std::string& pack) {
  Words words{"moilctl", "model", "import", model, "--name", wanted.name, "--nightly"};
  if (!pack.empty()) append(words, {"--pack", pack});
  return words;
}

// moil-pretrain's words for the numbers of a table or a folder.
Words data_words(const std::string& command, const SetupWanted& wanted,
                 const FolderContent& content) {
  Words words{"moil-pretrain", command, "--data", wanted.source.string()};
  if (content.is_table()) append(words, {"--label-column", content.label_column});
  return words;
}

// A network of their own: each table has columns of its own, so that none is ready made.
void learn_numbers(const SetupWanted& wanted, const FolderContent& content, bool has_pack,
                   std::vector<SetupStep>& steps) {
  const std::filesystem::path base = wanted.scratch / "base";
  Words train = data_words("train", wanted, content);
  append(train, {"--out", base.string()});
  steps.push_back({"a network that learns them", std::move(train)});
  if (has_pack)
    steps.push_back({"the pack of a setup before", {"moilctl", "pack", "rm", wanted.name}});
  steps.push_back({"the records that nights mix in",
                   {"moilctl", "pack", "import", (base / "pack").string(), "--name", wanted.name}});
  steps.push_back({"the network, and a night whenever there are new labels",
                   import_words(wanted, (base / "model").string(), wanted.name)});
}

// Records as files; on the sides on which the network has learned or not learned them, if it just
// did.
Words files_words(const SetupWanted& wanted, const FolderContent& content, bool is_trained_now) {
  Words words = data_words("images", wanted, content);
  if (is_trained_now) append(words, {"--val-fraction", "0.2"});
  append(words, {"--out", (wanted.scratch / "samples").string()});
  return words;
}

Words labels_words(const SetupWanted& wanted, const std::filesystem::path& samples) {
  Words words{"moilctl", "label", "import", samples.string()};
  if (wanted.as_spelled) words.emplace_back("--as-spelled");
  return words;
}

}  // namespace

std::vector<SetupStep> setup_steps(const SetupWanted& wanted, const FolderContent& content,
                                   const SetupPresent& present) {
  const bool are_numbers = content.kind() == "rows", trains = are_numbers && wanted.model.empty();
  std::vector<SetupStep> steps;
  if (!present.model && trains) learn_numbers(wanted, content, present.pack, steps);
  if (!present.model && !trains)
    steps.push_back({"the network, and a night whenever there are new labels",
                     import_words(wanted, wanted.model, wanted.pack)});
  if (are_numbers)
    steps.push_back(
        {"the records as files", files_words(wanted, content, trains && !present.model)});
  steps.push_back({!content.is_labelled() ? "the samples, whose labels are said later"
                   : content.is_table()   ? "the records, and what they are"
                                          : "the samples, each folder's name as their label",
                   labels_words(wanted, are_numbers ? wanted.scratch / "samples" : wanted.source),
                   "the others are added"});
  if (content.is_labelled() && (present.model || !trains))
    steps.push_back({"the new labels, at once",
                     {"moilctl", "learn", wanted.name},
                     "the next night learns them",
                     /*is_needed=*/false});
  return steps;
}

std::vector<SetupStep> undo_steps(const SetupWanted& wanted, const FolderContent& content,
                                  const SetupPresent& present) {
  std::vector<SetupStep> steps;
  if (present.model)
    steps.push_back({"the model and its nights", {"moilctl", "model", "rm", wanted.name, "--yes"}});
  const bool are_numbers = content.kind() == "rows";
  if (are_numbers && present.pack)
    steps.push_back({"its records", {"moilctl", "pack", "rm", wanted.name}});
  if (are_numbers)
    steps.push_back(
        {"the records as files, to tell which they are", files_words(wanted, content, false)});
  const auto samples = are_numbers ? wanted.scratch / "samples" : wanted.source;
  steps.push_back({"the samples that " + wanted.source.string() + " holds; it stays as it is",
                   {"moilctl", "label", "forget", samples.string(), "--yes"}});
  return steps;
}

}  // namespace moil::daemon::ctl
