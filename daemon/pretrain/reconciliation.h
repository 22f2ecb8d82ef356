// Data whose classes a model has other names for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/readers/class_names.h"

namespace moil::pretrain {

struct ReconciliationSources {
  std::filesystem::path names;      // a table that the user gives (class_names.h); empty: none
  std::vector<std::string> inside;  // texts that lie in the data, beside its classes
  // Folders whose files of text may hold the table: the model's, and the one that the data lies in.
  std::vector<std::filesystem::path> folders;
};

struct Reconciled {
  data::ClassNames names;  // the model's label for each class that is not one itself
  std::string by;          // what told; empty if every class is a label
};

// By the user's table; without one by spelling, then by the first text that has them all.
// kInvalidArgument, with the option that is needed, if classes are left.
[[nodiscard]] Reconciled reconcile_classes(const std::vector<std::string>& classes,
                                           const std::vector<std::string>& labels,
                                           const ReconciliationSources& sources);

}  // namespace moil::pretrain
