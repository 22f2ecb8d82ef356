#include "daemon/methods/sample_content.h"

#include "base/error.h"
#include "base/file.h"
#include "daemon/service/in_memory.h"
#include "datasets/labels/label_types.h"

namespace moil::daemon {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

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

std::optional<std::vector<std::uint8_t>> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  text.remove_suffix(padding);
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = value_of(c);
    if (value < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<std::uint8_t>(bits >> held));
  }
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) -> std::uint32_t {
      return k < bytes.size() ? static_cast<std::uint8_t>(bytes[k]) : 0U;
    };
    const std::uint32_t bits = (byte(i) << 16) | (byte(i + 1) << 8) | byte(i + 2);
    text += kAlphabet[bits >> 18];
    text += kAlphabet[(bits >> 12) & 63];
    text += i + 1 < bytes.size() ? kAlphabet[(bits >> 6) & 63] : '=';
    text += i + 2 < bytes.size() ? kAlphabet[bits & 63] : '=';
  }
  return text;
}

}  // namespace moil::daemon
