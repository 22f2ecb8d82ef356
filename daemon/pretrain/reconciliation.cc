#include "daemon/pretrain/reconciliation.h"

#include <algorithm>

#include "base/error.h"
#include "base/files/file.h"

namespace moil::pretrain {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxTableBytes = 4 << 20;
constexpr std::size_t kMostTables = 64;  // of a folder

bool may_be_table(const fs::directory_entry& entry) {
  const std::string extension = entry.path().extension().string();
  std::error_code error;
  return (extension == ".tsv" || extension == ".txt" || extension == ".csv" ||
          extension == ".json") &&
         entry.is_regular_file(error) && entry.file_size(error) <= kMaxTableBytes;
}

// Sorted, so that the answer does not depend on the disk's order.
std::vector<fs::path> tables_in(const fs::path& folder) {
  std::vector<fs::path> tables;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (may_be_table(*entry)) tables.push_back(entry->path());
  }
  std::ranges::sort(tables);
  tables.resize(std::min(tables.size(), kMostTables));
  return tables;
}

[[noreturn]] void unresolved(const std::vector<std::string>& unknown, const std::string& what) {
  std::string others;
  if (unknown.size() > 1) others = " and " + std::to_string(unknown.size() - 1) + " others";
  throw Error(ErrorCode::kInvalidArgument, "the model has no label \"" + unknown[0] +
                                               "\", which is a class of the data" + others + "; " +
                                               what);
}

}  // namespace

Reconciled reconcile_classes(const std::vector<std::string>& classes,
                             const std::vector<std::string>& labels,
                             const ReconciliationSources& sources) {
  const auto unknown = data::unknown_classes(classes, labels);
  if (unknown.empty()) return {};
  const auto by_text = [&](const std::string& text) {
    return data::match_by_table(classes, labels, data::parse_name_table(text));
  };
  if (!sources.names.empty()) {
    if (auto names = by_text(read_text(sources.names, kMaxTableBytes)))
      return {std::move(*names), sources.names.string()};
    unresolved(unknown, sources.names.string() +
                            " does not name a label of the model for each, "
                            "one for one");
  }
  if (auto names = data::match_by_spelling(classes, labels))
    return {std::move(*names), "their spelling"};
  for (const std::string& text : sources.inside)
    if (auto names = by_text(text)) return {std::move(*names), "a table in the data"};
  for (const fs::path& folder : sources.folders) {
    for (const fs::path& table : tables_in(folder))
      if (auto names = by_text(read_text(table, kMaxTableBytes)))
        return {std::move(*names), table.string()};
  }
  unresolved(unknown,
             "--class-names FILE says what the model calls it: a line for each class, with "
             "its name in the data, a tab, and the model's label");
}

}  // namespace moil::pretrain
