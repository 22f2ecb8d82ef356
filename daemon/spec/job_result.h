// A job's result between the worker that writes it and the database that keeps it.
//
// jobs/ID/result.json holds a JobResult (worker_protocol.h). It is written before a new version is
// renamed into place, and both are durable when they are there; so a job is done once the file is
// there and, if the model was promoted, its version too, however the worker ends afterwards.
//
// A result may be long: elastic training tells what it chose for every interval. The file holds all
// of it; what the database keeps with the job is short, and long lists are kept beside it, to be
// read in parts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::daemon {

// The file's limit. If a result would be larger, its longest lists are left out, and
// details.too_long names them.
inline constexpr std::size_t kMostResultBytes = std::size_t{16} << 20;
// The limit of what is kept with the job.
inline constexpr std::size_t kMostKeptBytes = std::size_t{64} << 10;

// Written aside, fsynced, renamed. Throws what write_file_atomic throws.
void write_result(const StateLayout& layout, std::int64_t job, const JobResult& result);

// The result of a job that is done; nothing if it is not done, or if the file is damaged: the job
// is then resumed and writes it again. kIo if it cannot be read.
[[nodiscard]] std::optional<Json> finished_result(const StateLayout& layout, std::int64_t job,
                                                  const std::string& model, std::int64_t version);

struct SplitResult {
  Json result;  // with "lists": pointer -> number of items, of what is beside it
  std::map<std::string, Json> lists;  // by JSON pointer in the result
};
// Moves the longest lists out until the rest is at most kMostKeptBytes.
[[nodiscard]] SplitResult split_result(Json result);

}  // namespace moil::daemon
