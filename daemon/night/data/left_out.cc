#include "daemon/night/data/left_out.h"

#include <algorithm>

#include "base/error.h"
#include "datasets/labels/denial.h"
#include "datasets/labels/label_types.h"

namespace moil::night {
namespace {

using data::Source;

constexpr std::size_t kMostSamplesNamed = 5;  // in one sentence

bool holds(const std::vector<data::MixedSample>& list, const data::MixedSample* sample) {
  return std::any_of(list.begin(), list.end(),
                     [&](const data::MixedSample& s) { return &s == sample; });
}

// Without the digest that a label store's names come with.
std::string plain_name(const UnreadableSample& found) {
  const std::string bare = data::spoken_name(found.sample->digest, "");
  if (found.name == bare) return "";
  const std::string ending = " (" + bare + ")";
  const bool ends = found.name.ends_with(ending);
  return found.name.substr(0, found.name.size() - (ends ? ending.size() : 0));
}

std::string sentence_of(const LeftOut& left_out, Source source) {
  std::string text;
  std::size_t named = 0, all = 0;
  for (const LeftOutSample& sample : left_out) {
    if (sample.source != source || sample.held_out || ++all > kMostSamplesNamed) continue;
    text +=
        (text.empty() ? "" : "; ") + spoken_name(sample.digest, sample.name) + ": " + sample.why;
    ++named;
  }
  return all > named ? text + "; and " + std::to_string(all - named) + " more" : text;
}

}  // namespace

LeftOut left_out_of(const UnreadableSamples& unreadable, const data::Mix& mix,
                    const data::Dataset& global, const data::Dataset& local) {
  LeftOut left_out;
  for (const UnreadableSample& found : unreadable) {
    const data::MixedSample& sample = *found.sample;
    const data::Dataset& dataset = sample.is_global() ? global : local;
    LeftOutSample entry{sample.digest, plain_name(found), {}, sample.ref.source, false, found.why};
    for (const data::ClassId label : dataset.labels(sample.ref.index))
      entry.labels.push_back(dataset.classes()[label]);
    for (const data::ClassId label : dataset.denied(sample.ref.index))
      entry.labels.push_back(data::denial_of(dataset.denials()[label]));
    entry.held_out =
        holds(mix.global_validation, found.sample) || holds(mix.local_validation, found.sample);
    left_out.push_back(std::move(entry));
  }
  return left_out;
}

std::unordered_set<data::Digest> digests_of(const LeftOut& left_out) {
  std::unordered_set<data::Digest> digests;
  for (const LeftOutSample& sample : left_out) digests.insert(sample.digest);
  return digests;
}

Json to_json(const LeftOut& left_out, std::size_t most) {
  Json list = Json::array();
  for (const LeftOutSample& sample : left_out) {
    if (list.size() == most) break;
    list.push_back({{"digest", sample.digest.hex()},
                    {"name", sample.name},
                    {"labels", sample.labels},
                    {"source", sample.source == Source::kGlobal ? "global" : "local"},
                    {"held_out", sample.held_out},
                    {"why", sample.why}});
  }
  return list;
}

LeftOut left_out_from_json(const Json& json) {
  LeftOut left_out;
  for (const Json& item : json) {
    left_out.push_back({data::Digest::from_hex(item.at("digest").get<std::string>()),
                        item.at("name"), item.at("labels"),
                        item.at("source") == "global" ? Source::kGlobal : Source::kLocal,
                        item.at("held_out"), item.at("why")});
  }
  return left_out;
}

void require_enough(const data::Mix& mix, const LeftOut& left_out) {
  for (const Source source : {Source::kLocal, Source::kGlobal}) {
    const bool any = std::any_of(mix.train.begin(), mix.train.end(),
                                 [&](const auto& sample) { return sample.ref.source == source; });
    const std::string named = sentence_of(left_out, source);
    if (any || named.empty()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                std::string(source == Source::kLocal ? "none of the labelled samples"
                                                     : "none of the samples drawn from the pack") +
                    " to train on can be read: " + named);
  }
}

}  // namespace moil::night
