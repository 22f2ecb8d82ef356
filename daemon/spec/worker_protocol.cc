#include "daemon/spec/worker_protocol.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files/write_all.h"
#include "daemon/json/parse.h"

namespace moil::daemon {

EnumNames<Stage> enum_names(Stage) {
  return {{Stage::kScenes, "scenes"},   {Stage::kMix, "mix"},         {Stage::kChoose, "choose"},
          {Stage::kMeasure, "measure"}, {Stage::kCache, "cache"},     {Stage::kDistill, "distill"},
          {Stage::kImprint, "imprint"}, {Stage::kProfile, "profile"}, {Stage::kTrain, "train"},
          {Stage::kJudge, "judge"},     {Stage::kPromote, "promote"}, {Stage::kBackup, "backup"},
          {Stage::kRestore, "restore"}};
}

const Fields<WithdrawnWeights>& fields_of(const WithdrawnWeights*) {
  static const Fields<WithdrawnWeights> table = {
      field("version", &WithdrawnWeights::version, Need::kRequired),
      field("weights", &WithdrawnWeights::weights, Need::kRequired),
  };
  return table;
}

const Fields<JobFile>& fields_of(const JobFile*) {
  static const Fields<JobFile> table = {
      field("id", &JobFile::id, Need::kRequired),
      field("base_version", &JobFile::base_version, Need::kRequired),
      field("version", &JobFile::version, Need::kRequired),
      field("anchor_version", &JobFile::anchor_version),
      field("threads", &JobFile::threads, Need::kOptional, between(1, 1024)),
      field("cache_quota_bytes", &JobFile::cache_quota_bytes),
      field("leave_free_bytes", &JobFile::leave_free_bytes),
      field("withdrawn", &JobFile::withdrawn),
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
      field("local", &CurvePoint::local), field("is_fraction", &CurvePoint::is_fraction),
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
      field("metric", &JobResult::metric),
      field("global_metric", &JobResult::global_metric),
      field("is_fraction", &JobResult::is_fraction),
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
  Json known = document;
  if (known.is_object() && known.contains("spec"))
    known["spec"] = to_json(stored_job_spec(known["spec"]));
  return read_fields<JobFile>(known, "the job file");
}

std::string to_string(Stage stage) { return name_of(stage); }

bool is_final(const std::string& code) {
  constexpr std::array kFinal = {ErrorCode::kInvalidArgument, ErrorCode::kBadData,
                                 ErrorCode::kNotFound, ErrorCode::kFailedPrecondition,
                                 ErrorCode::kUnimplemented};
  return std::ranges::any_of(kFinal, [&](ErrorCode final) { return code == to_string(final); });
}

std::vector<data::SampleLikeness> likenesses_from_json(const Json& event) {
  std::vector<data::SampleLikeness> samples;
  try {
    for (const Json& entry : event.at("samples")) {
      data::SampleLikeness sample{data::Digest::from_hex(entry.at(0).get<std::string>()), {}};
      if (!entry.at(1).is_null())
        sample.likeness = data::Likeness::from_hex(entry.at(1).get<std::string>());
      samples.push_back(sample);
    }
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kBadData, std::string("the worker's likenesses: ") + error.what());
  }
  return samples;
}

bool add_uses(const Json& event, std::vector<data::Digest>& samples) {
  try {
    for (const Json& digest : event.at("samples"))
      samples.push_back(data::Digest::from_hex(digest.get<std::string>()));
    return !event.at("more").get<bool>();
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kBadData,
                std::string("the samples that the worker uses: ") + error.what());
  }
}

Json to_json(const ImportResult& result) { return write_fields(result); }

namespace {

// Whole characters of UTF-8.
std::string cut(std::string text) {
  if (text.size() <= kMostTextBytes) return text;
  std::size_t end = kMostTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// As many as a line has room for beside its message.
Json some_of(const FieldErrors& errors) {
  Json list = Json::array();
  std::size_t bytes = 0;
  for (const FieldError& error : errors) {
    Json entry = {{"pointer", cut(error.pointer)}, {"message", cut(error.message)}};
    bytes += to_line(entry).size() + 1;
    if (bytes > kMostLineBytes / 2) break;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

void EventWriter::progress(const Progress& progress) { write("progress", write_fields(progress)); }
void EventWriter::curve(const CurvePoint& point) { write("curve", write_fields(point)); }
void EventWriter::note(const std::string& message) { write("note", {{"message", cut(message)}}); }
void EventWriter::likenesses(std::span<const data::SampleLikeness> samples) {
  Json list = Json::array();
  for (const auto& [digest, likeness] : samples)
    list.push_back(Json::array({digest.hex(), likeness ? Json(likeness->hex()) : Json(nullptr)}));
  write("likenesses", {{"samples", std::move(list)}});
}
void EventWriter::uses(std::span<const data::Digest> samples) {
  while (!samples.empty()) {
    const auto part = samples.first(std::min(samples.size(), kMostLikenesses));
    samples = samples.subspan(part.size());
    Json list = Json::array();
    for (const data::Digest& digest : part) list.push_back(digest.hex());
    write("uses", {{"samples", std::move(list)}, {"more", !samples.empty()}});
  }
}
void EventWriter::suggestions(const Json& some) { write("suggestions", {{"suggestions", some}}); }
void EventWriter::heard(double time, const std::string& label, double probability) {
  write("heard", {{"time", time}, {"label", label}, {"probability", probability}});
}
void EventWriter::result() { write("result", Json::object()); }
void EventWriter::error(const Error& error) {
  Json body = {{"code", to_string(error.code())}, {"message", cut(error.what())}};
  if (const auto* wrong = dynamic_cast<const ValidationError*>(&error))
    body["errors"] = some_of(wrong->errors());
  write("error", std::move(body));
}

void EventWriter::write(const char* event, Json body) {
  if (descriptor_ < 0) return;
  body["event"] = event;
  (void)write_all(descriptor_, to_line(body) + "\n");
}

void write_reply(int descriptor, const Json& reply) {
  if (!write_all(descriptor, to_line(reply)))
    throw system_error("cannot write the reply to the daemon", errno);
}

}  // namespace moil::daemon
