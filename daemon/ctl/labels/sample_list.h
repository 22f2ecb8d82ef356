// Samples with what they are, as files outside: a list (CSV or JSON lines) that names files beside
// it, or folders that are labels (SampleFolder).
//
//   labels.csv     a line "file,label,split", then a line a sample and label; no label: unlabelled
//   labels.jsonl   a line a sample: {"file": "a.jpg", "labels": ["cat"], "split": "train"}
//   cat/a.jpg      a folder a label, with folders below; files beside the folders are unlabelled
//
// Paths are meant from the list's folder. Nothing here reads a sample.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace moil::daemon::ctl {

struct ListedSample {
  std::filesystem::path file;
  std::vector<std::string> labels;
  std::string split;  // "train", "val"; empty: not told
};

// Reads a list, or a folder: by its labels.jsonl or labels.csv, if it has one. kNotFound;
// kBadData, with the line, for what is no such list.
[[nodiscard]] std::vector<ListedSample> read_sample_list(const std::filesystem::path& from);

// The text of a list; files relative to it.
[[nodiscard]] std::string csv_of(const std::vector<ListedSample>& samples);
[[nodiscard]] std::string json_lines_of(const std::vector<ListedSample>& samples);

}  // namespace moil::daemon::ctl
