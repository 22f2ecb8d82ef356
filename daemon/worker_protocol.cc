#include "daemon/worker_protocol.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace moil::daemon {

EnumNames<Stage> enum_names(Stage) {
  return {{Stage::kMix, "mix"},         {Stage::kMeasure, "measure"}, {Stage::kCache, "cache"},
          {Stage::kDistill, "distill"}, {Stage::kProfile, "profile"}, {Stage::kTrain, "train"},
          {Stage::kJudge, "judge"},     {Stage::kPromote, "promote"}};
}

const Fields<JobFile>& fields_of(const JobFile*) {
  static const Fields<JobFile> table = {
      field("id", &JobFile::id, Need::kRequired),
      field("base_version", &JobFile::base_version, Need::kRequired),
      field("version", &JobFile::version, Need::kRequired),
      field("threads", &JobFile::threads, Need::kOptional, between(1, 1024)),
      field("cache_quota_bytes", &JobFile::cache_quota_bytes),
      field("leave_free_bytes", &JobFile::leave_free_bytes),
      field("spec", &JobFile::spec, Need::kRequired),
  };
  return table;
}

const Fields<Progress>& fields_of(const Progress*) {
  static const Fields<Progress> table = {
      field("stage", &Progress::stage),
      field("done", &Progress::done),
      field("total", &Progress::total),
      field("epoch", &Progress::epoch),
      field("epochs", &Progress::epochs),
      field("loss", &Progress::loss),
      field("seconds_left", &Progress::seconds_left),
  };
  return table;
}

const Fields<CurvePoint>& fields_of(const CurvePoint*) {
  static const Fields<CurvePoint> table = {
      field("epoch", &CurvePoint::epoch), field("seconds", &CurvePoint::seconds),
      field("loss", &CurvePoint::loss),   field("global", &CurvePoint::global),
      field("local", &CurvePoint::local),
  };
  return table;
}

const Fields<JobResult>& fields_of(const JobResult*) {
  static const Fields<JobResult> table = {
      field("promoted", &JobResult::promoted),
      field("reason", &JobResult::reason),
      field("global_before", &JobResult::global_before),
      field("global_after", &JobResult::global_after),
      field("local_before", &JobResult::local_before),
      field("local_after", &JobResult::local_after),
      field("epochs", &JobResult::epochs),
      field("seconds", &JobResult::seconds),
      field("details", &JobResult::details),
  };
  return table;
}

const Fields<ImportResult>& fields_of(const ImportResult*) {
  static const Fields<ImportResult> table = {
      field("summary", &ImportResult::summary),
      field("details", &ImportResult::details),
  };
  return table;
}

Json to_json(const JobFile& file) { return write_fields(file); }

JobFile job_file_from_json(const Json& document) {
  return read_fields<JobFile>(document, "the job file");
}

std::string to_string(Stage stage) {
  return fields_internal::Codec<Stage>::write(stage).get<std::string>();
}

bool is_final(const std::string& code) {
  constexpr std::array kFinal = {ErrorCode::kInvalidArgument, ErrorCode::kBadData,
                                 ErrorCode::kNotFound, ErrorCode::kFailedPrecondition,
                                 ErrorCode::kUnimplemented};
  return std::ranges::any_of(kFinal, [&](ErrorCode final) { return code == to_string(final); });
}

void EventWriter::progress(const Progress& progress) { write("progress", write_fields(progress)); }
void EventWriter::curve(const CurvePoint& point) { write("curve", write_fields(point)); }
void EventWriter::note(const std::string& message) { write("note", {{"message", message}}); }
void EventWriter::result(const JobResult& result) { write("result", write_fields(result)); }
void EventWriter::result(const ImportResult& result) { write("result", write_fields(result)); }
void EventWriter::error(const Error& error) {
  Json body = {{"code", to_string(error.code())}, {"message", error.what()}};
  if (const auto* wrong = dynamic_cast<const ValidationError*>(&error))
    body["errors"] = to_json(wrong->errors());
  write("error", std::move(body));
}

void EventWriter::result(const Json& reply) { write("result", reply); }

void EventWriter::write(const char* event, Json body) {
  body["event"] = event;
  const std::string line = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::size_t at = 0;
  while (at < line.size()) {
    const ssize_t n = ::write(descriptor_, line.data() + at, line.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
    at += static_cast<std::size_t>(n);
  }
}

}  // namespace moil::daemon
