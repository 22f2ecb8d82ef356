// The worker gives up what its work does not need, before it reads a stranger's byte. It parses
// images, archives and models that come from anywhere; whoever takes it over by one of them finds a
// process that can neither start others nor speak to anybody, and that changes no file but those
// which its work changes anyway.
//
// Main thread, before others are started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::worker {

// Beside the programs' own libraries and what the system says of itself.
struct Needs {
  std::vector<std::filesystem::path> read;     // files; folders with all that is in them
  std::vector<std::filesystem::path> update;   // files that are there and are written to
  std::vector<std::filesystem::path> control;  // device nodes
  std::vector<std::filesystem::path> change;   // folders, which are made if they are not there
};

Needs needs_of_night(const daemon::StateLayout& layout, const daemon::JobFile& job);
Needs needs_of_plan(const daemon::StateLayout& layout, const std::string& job_file,
                    const daemon::JobFile& job);
Needs needs_of_import(const daemon::StateLayout& layout, const std::filesystem::path& source,
                      const std::filesystem::path& pack, const std::string& model);
Needs needs_of_pack(const daemon::StateLayout& layout);
// All that a backup holds, to read; its scratch folder.
Needs needs_of_backup(const daemon::StateLayout& layout, const std::filesystem::path& scratch);
// The backup is open already.
Needs needs_of_restore(const daemon::StateLayout& layout);
// For predictions and exports, which read a model in the store and what is handed over open.
Needs needs_of_model(const std::filesystem::path& model);

// What could not be confined, for the log; empty if all was. Throws kIo if the kernel has the
// means and refuses.
std::string confine(const Needs& needs);

}  // namespace moil::worker
