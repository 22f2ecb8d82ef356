#include "daemon/service/canary.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "daemon/schedule/conditions.h"
#include "daemon/service/in_memory.h"

namespace moil::daemon {
namespace {

// Of a question: as many as a request of model.predict has, and what they may hold in memory.
constexpr int kSamples = 50;
constexpr std::size_t kBytes = std::size_t{64} << 20;
constexpr std::size_t kTakenAtOnce = 1000;
constexpr std::int64_t kRest = 10 * 60 * 1000;

std::string counted(std::int64_t samples) {
  return std::to_string(samples) + (samples == 1 ? " sample" : " samples");
}

std::string reason(const Canary& canary) {
  char chance[32];
  std::snprintf(chance, sizeof chance, "%.3g", sign_test(canary.worse, canary.better));
  return "labels that came since contradict it: it is wrong of " + counted(canary.worse) +
         " that version " + std::to_string(canary.parent) + " is right of, and right of " +
         std::to_string(canary.better) +
         " that it is wrong of (sequential sign test: p = " + chance + ")";
}

// Nothing where the sample could not be read, or labels are not what the model tells.
std::optional<bool> is_right(const Json& prediction, const std::set<std::string>& right) {
  const Json labels = prediction.value("labels", Json());
  if (!labels.is_array()) return std::nullopt;
  return std::ranges::any_of(labels, [&](const Json& label) {
    return label.is_string() && right.contains(label.get<std::string>());
  });
}

}  // namespace

double sign_test(std::int64_t worse, std::int64_t better) {
  const auto w = static_cast<double>(worse), b = static_cast<double>(better), n = w + b;
  const double ln2 = std::log(2.0);
  double at_most = 0;  // of n + 1 fair coins, that no more than `worse` show heads
  for (std::int64_t k = 0; k <= worse; ++k) {
    const auto heads = static_cast<double>(k);
    at_most += std::exp(std::lgamma(n + 2) - std::lgamma(heads + 1) - std::lgamma(n + 2 - heads) -
                        (n + 1) * ln2);
  }
  const double wealth = (n + 1) * ln2 + std::lgamma(w + 1) + std::lgamma(b + 1) -
                        std::lgamma(n + 2) + std::log(at_most);
  return std::min(std::exp(-wealth), 1.0);
}

bool is_contradicted(const Canary& canary) {
  return canary.worse >= canary.rule.contradictions &&
         sign_test(canary.worse, canary.better) < canary.rule.significance;
}

struct CanaryWatch::Question {
  Canary canary;
  std::vector<Sample> samples;
  std::vector<Json> answers;  // of the version, then of its parent
};

CanaryWatch::CanaryWatch(Surroundings around)
    : s_(std::move(around)), store_(s_.database), timer_(s_.loop.after({}, [this] { tick(); })) {}

CanaryWatch::~CanaryWatch() { s_.loop.cancel(timer_); }

void CanaryWatch::tick() {
  timer_ = s_.loop.after(s_.config.poll(), [this] { tick(); });
  if (busy_) return;
  try {
    for (const Canary& canary : store_.all()) {
      look(canary);
      if (busy_) return;
    }
  } catch (const std::exception& error) {
    spdlog::error("the canaries cannot be read or written: {}", error.what());
  }
}

void CanaryWatch::look(const Canary& canary) {
  if (s_.models.get(canary.model, canary.version).parent != canary.parent)
    return give_up(canary, "version " + std::to_string(canary.parent) + " was removed");
  if (is_contradicted(canary)) return roll_back(canary);
  if (canary.waiting == 0 && s_.view.newest_id() <= canary.seen) return;
  if (s_.world.steady_milliseconds() < rest_until_ || !is_idle()) return;
  gather(canary);
}

void CanaryWatch::corrected(std::vector<data::Digest> samples,
                            std::function<void(std::exception_ptr)> done) {
  constexpr std::size_t kAtOnce = 200;
  try {
    const std::size_t rest = samples.size() - std::min(samples.size(), kAtOnce);
    store_.corrected(std::span(samples).subspan(rest));
    samples.resize(rest);
  } catch (...) {
    return done(std::current_exception());
  }
  if (samples.empty()) return done(nullptr);
  s_.loop.post(
      [this, samples = std::move(samples), done = std::move(done)] { corrected(samples, done); });
}

bool CanaryWatch::is_idle() const {
  constexpr Window kAnyHour{0, 0};
  return !s_.scheduler.running() && judge(kAnyHour, s_.config.conditions, s_.world, false).open;
}

// What came since, and then what some of it is.
void CanaryWatch::gather(const Canary& canary) {
  busy_ = true;
  const auto waiting = store_.waiting(canary.model, kSamples);
  s_.background.submit([this, canary, waiting]() -> Background::Done {
    try {
      const auto question = std::make_shared<Question>();
      question->canary = canary;
      question->samples = read(waiting);
      data::SampleQuery query;
      query.after_id = canary.seen;
      query.labelled = true;
      query.limit = kTakenAtOnce;
      std::vector<data::Digest> added;
      std::int64_t seen = canary.seen;
      for (const data::SampleRecord& sample : s_.labels.samples(query)) {
        added.push_back(sample.digest);
        seen = sample.id;
      }
      return [this, question, waiting, added, seen] {
        try {
          const std::string& model = question->canary.model;
          if (!added.empty()) store_.take(model, added, seen);
          std::vector<std::pair<data::Digest, CanaryStore::Verdict>> gone;
          for (const data::Digest& digest : waiting) {
            if (std::ranges::none_of(question->samples,
                                     [&](const Sample& s) { return s.digest == digest; }) &&
                !is_labelled(digest))
              gone.emplace_back(digest, CanaryStore::Verdict::kNeither);
          }
          store_.judge(model, gone);
          if (question->samples.empty()) {
            busy_ = false;
            return;
          }
          ask(question, question->canary.version);
        } catch (...) {
          failed(std::current_exception());
        }
      };
    } catch (...) {
      return [this, error = std::current_exception()] { failed(error); };
    }
  });
}

bool CanaryWatch::is_labelled(const data::Digest& digest) const {
  const auto record = s_.view.find(digest);
  return record && !record->labels.empty();
}

std::vector<CanaryWatch::Sample> CanaryWatch::read(const std::vector<data::Digest>& digests) const {
  std::vector<Sample> samples;
  const data::Reconciliation maps = s_.labels.reconciliation();
  std::size_t bytes = 0;
  for (const data::Digest& digest : digests) {
    const auto record = s_.labels.find(digest);
    if (!record || record->labels.empty()) continue;
    bytes += record->size;
    if (!samples.empty() && bytes > kBytes) break;
    Sample sample;
    sample.digest = digest;
    sample.right.insert(record->labels.begin(), record->labels.end());
    for (const std::string& label : record->labels) {
      const auto map = maps.find(label);
      if (map != maps.end()) sample.right.insert(map->second.begin(), map->second.end());
    }
    sample.content = in_memory(s_.labels.content(digest));
    samples.push_back(std::move(sample));
  }
  return samples;
}

void CanaryWatch::ask(const QuestionPtr& question, std::int64_t version) {
  std::vector<int> descriptors;
  for (const Sample& sample : question->samples) descriptors.push_back(sample.content.get());
  WorkerCalls::Answer answer;
  answer.result = [this, question](const Json& result) {
    try {
      answered(question, result.at("predictions"));
    } catch (...) {
      failed(std::current_exception());
    }
  };
  answer.error = [this, question](std::exception_ptr error) { failed(error); };
  const auto folder = s_.layout.version(question->canary.model, version);
  s_.calls.start(s_.command.predict(folder, descriptors, {.top = 1}), std::move(answer));
}

void CanaryWatch::answered(const QuestionPtr& question, const Json& predictions) {
  const Canary& canary = question->canary;
  question->answers.push_back(predictions);
  if (question->answers.size() == 1) return ask(question, canary.parent);
  busy_ = false;
  const auto current = store_.find(canary.model);
  if (!current || current->version != canary.version) return;  // it ended meanwhile
  if (std::ranges::any_of(predictions, [](const Json& p) { return p.contains("values"); }))
    return give_up(canary, "it tells numbers, which no label contradicts");
  std::vector<std::pair<data::Digest, CanaryStore::Verdict>> verdicts;
  for (std::size_t i = 0; i < question->samples.size(); ++i) {
    const Sample& sample = question->samples[i];
    const auto is = is_right(question->answers[0].at(i), sample.right);
    const auto was = is_right(question->answers[1].at(i), sample.right);
    auto verdict = CanaryStore::Verdict::kNeither;
    if (is && was && *is != *was)
      verdict = *is ? CanaryStore::Verdict::kBetter : CanaryStore::Verdict::kWorse;
    verdicts.emplace_back(sample.digest, verdict);
  }
  store_.judge(canary.model, verdicts);
  if (const auto now = store_.find(canary.model); now && is_contradicted(*now)) roll_back(*now);
}

void CanaryWatch::failed(const std::exception_ptr& error) {
  busy_ = false;
  rest_until_ = s_.world.steady_milliseconds() + kRest;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    spdlog::warn("new labels could not be held against a promoted version: {}", e.what());
  }
}

void CanaryWatch::roll_back(const Canary& canary) {
  const auto active = s_.models.active(canary.model);
  if (!active || active->version != canary.version || !active->parent)
    return give_up(canary, "there is no version to go back to");
  const std::string why = reason(canary);
  const ModelVersion back = s_.models.rollback(
      canary.model, {s_.world.now_milliseconds(), Withdrawal::Cause::kCanary, why});
  s_.scheduler.bases_changed();
  tell(canary, "version " + std::to_string(canary.version) + " was rolled back, and version " +
                   std::to_string(back.version) + " is in service again: " + why);
}

void CanaryWatch::give_up(const Canary& canary, const std::string& why) {
  store_.end(canary.model);
  tell(canary, "version " + std::to_string(canary.version) +
                   " is not held against new labels any more: " + why);
}

// In the log, and to whoever looks at the job that made the version.
void CanaryWatch::tell(const Canary& canary, const std::string& message) {
  spdlog::warn("model {}: {}", canary.model, message);
  const auto versions = s_.models.versions(canary.model);
  const auto version =
      std::ranges::find(versions, canary.version, [](const ModelVersion& v) { return v.version; });
  if (version == versions.end() || !version->job) return;
  try {
    (void)s_.jobs.get(*version->job);
  } catch (const Error&) {  // it was removed
    return;
  }
  s_.jobs.add_event(*version->job, {{"event", "note"}, {"message", message}});
  s_.changed(*version->job);
}

}  // namespace moil::daemon
