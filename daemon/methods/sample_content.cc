#include "daemon/methods/sample_content.h"

#include "base/error.h"
#include "base/files/file.h"
#include "daemon/json/base64.h"
#include "daemon/workers/in_memory.h"
#include "datasets/labels/label_types.h"

namespace moil::daemon {
namespace {

std::optional<std::string> complaint(const SampleParams& sample, std::size_t files) {
  if (sample.content.has_value() == sample.file.has_value()) {
    return "expected either \"content\" (base64) or \"file\" (of those sent along)";
  }
  if (sample.file && (*sample.file < 0 || static_cast<std::size_t>(*sample.file) >= files)) {
    return "expected a file from 0 to less than " + std::to_string(files) +
           ", as many were sent along; found " + std::to_string(*sample.file);
  }
  if (sample.content && !decode_base64(*sample.content)) return "\"content\" is not base64";
  return std::nullopt;
}

}  // namespace

const Fields<SampleParams>& fields_of(const SampleParams*) {
  static const Fields<SampleParams> table = {
      field("content", &SampleParams::content),
      field("file", &SampleParams::file),
  };
  return table;
}

void check_samples(const std::string& member, const std::vector<SampleParams>& samples,
                   const Call& call) {
  FieldErrors errors;
  if (samples.size() > kMostSamples) {
    throw ValidationError(
        "the request",
        {{"/" + member, "expected at most " + std::to_string(kMostSamples) + " samples, found " +
                            std::to_string(samples.size()) + "; send the rest in other requests"}});
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto wrong = complaint(samples[i], call.files.size());
    if (wrong) errors.push_back({"/" + member + "/" + std::to_string(i), *wrong});
  }
  if (!errors.empty()) throw ValidationError("the request", std::move(errors));
}

void check_sample(const SampleParams& sample, const Call& call) {
  if (const auto wrong = complaint(sample, call.files.size()))
    throw ValidationError("the request", {{"", *wrong}});
}

std::vector<std::uint8_t> content_of(const SampleParams& sample, const Call& call) {
  if (sample.content) return decode_base64(*sample.content).value();
  return read_descriptor(call.files[static_cast<std::size_t>(*sample.file)].get(),
                         data::kMaxSampleBytes);
}

int descriptor_of(const SampleParams& sample, const Call& call, std::vector<UniqueFd>& held) {
  if (sample.file) return call.files[static_cast<std::size_t>(*sample.file)].get();
  held.push_back(in_memory(decode_base64(*sample.content).value()));
  return held.back().get();
}

}  // namespace moil::daemon
