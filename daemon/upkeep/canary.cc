#include "daemon/upkeep/canary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "daemon/log/log.h"
#include "daemon/schedule/conditions.h"
#include "daemon/workers/in_memory.h"
#include "datasets/labels/denial.h"

namespace moil::daemon {
namespace {

// A question's: as many as a request of model.predict has, and what they may hold in memory.
constexpr std::size_t kSamples = 50;
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

// Nothing if the sample could not be read, or the model's outputs are no labels.
std::optional<bool> is_right(const Json& prediction, const std::set<std::string>& right,
                             const std::set<std::string>& wrong) {
  const Json labels = prediction.value("labels", Json());
  if (!labels.is_array()) return std::nullopt;
  const auto says_one_of = [&](const std::set<std::string>& names) {
    return std::ranges::any_of(labels, [&](const Json& label) {
      return label.is_string() && names.contains(label.get<std::string>());
    });
  };
  return right.empty() ? !says_one_of(wrong) : says_one_of(right);
}

// Another one may be answered.
bool is_of_the_sample(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return e.code() == ErrorCode::kInternal || e.code() == ErrorCode::kBadData;
  } catch (const std::exception&) {
    return false;
  }
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

CanaryWatch::Patience::Patience() : at_once(kSamples) {}

CanaryWatch::CanaryWatch(Surroundings around)
    : s_(std::move(around)), store_(s_.database), timer_(s_.loop.after({}, [this] { tick(); })) {}

CanaryWatch::~CanaryWatch() { s_.loop.cancel(timer_); }

void CanaryWatch::tick() {
  timer_ = s_.loop.after(s_.config.poll(), [this] { tick(); });
  if (busy_) return;
  std::vector<Canary> canaries;  // by model
  try {
    canaries = store_.all();
  } catch (const std::exception& error) {
    return log_error("the canaries cannot be read: {}", error.what());
  }
  const auto next = std::ranges::upper_bound(canaries, last_, {}, &Canary::model);
  std::rotate(canaries.begin(), next, canaries.end());
  for (const Canary& canary : canaries) {
    look_or_rest(canary);
    if (busy_) return;
  }
}

void CanaryWatch::look_or_rest(const Canary& canary) {
  if (s_.world.steady_milliseconds() < patience_[canary.model].until) return;
  try {
    look(canary);
  } catch (...) {
    rest(canary.model, std::current_exception());
  }
}

void CanaryWatch::look(const Canary& canary) {
  if (s_.models.get(canary.model, canary.version).parent != canary.parent)
    return give_up(canary, "version " + std::to_string(canary.parent) + " was removed");
  if (is_contradicted(canary)) return roll_back(canary);
  if (canary.waiting == 0 && s_.view.newest_change() <= canary.seen) return;
  if (is_idle()) gather(canary);
}

bool CanaryWatch::is_idle() const {
  constexpr Window kAnyHour{0, 0};
  return !s_.scheduler.running() && judge(kAnyHour, s_.config.conditions, s_.world, false).open;
}

// What changed since, and then what some of it is: what changes later is asked about again.
void CanaryWatch::gather(const Canary& canary) {
  busy_ = true;
  last_ = canary.model;
  const auto question = std::make_shared<Question>();
  question->canary = canary;
  const auto waiting =
      store_.waiting(canary.model, static_cast<int>(patience_[canary.model].at_once));
  s_.background.submit([this, question, waiting]() -> Background::Done {
    try {
      const auto changes = s_.labels.changes(question->canary.seen, kTakenAtOnce);
      question->samples = read(waiting);
      std::vector<data::Digest> unlabelled;
      for (const data::Digest& digest : waiting)
        if (!is_labelled(digest)) unlabelled.push_back(digest);
      return [this, question, changes, unlabelled] { gathered(question, changes, unlabelled); };
    } catch (...) {
      return [this, question, error = std::current_exception()] { failed(*question, error); };
    }
  });
}

void CanaryWatch::gathered(const QuestionPtr& question,
                           const std::vector<data::SampleChange>& changes,
                           const std::vector<data::Digest>& unlabelled) {
  try {
    const std::string& model = question->canary.model;
    store_.take(model, changes);
    std::vector<std::pair<data::Digest, CanaryStore::Verdict>> nothing;
    for (const data::Digest& digest : unlabelled)
      nothing.emplace_back(digest, CanaryStore::Verdict::kNeither);
    for (const Sample& sample : question->samples)
      if (!sample.content) nothing.emplace_back(sample.digest, CanaryStore::Verdict::kNeither);
    store_.judge(model, nothing);
    std::erase_if(question->samples, [](const Sample& sample) { return !sample.content; });
    if (question->samples.empty()) {
      busy_ = false;
      return;
    }
    ask(question, question->canary.version);
  } catch (...) {
    failed(*question, std::current_exception());
  }
}

bool CanaryWatch::is_labelled(const data::Digest& digest) const {
  const auto record = s_.labels.find(digest);
  return record && !record->labels.empty();
}

// As many as a question may hold; those that cannot be read are without content.
std::vector<CanaryWatch::Sample> CanaryWatch::read(const std::vector<data::Digest>& digests) const {
  std::vector<Sample> samples;
  const data::Reconciliation maps = s_.labels.reconciliation();
  std::size_t bytes = 0;
  for (const data::Digest& digest : digests) {
    const auto record = s_.labels.find(digest);
    if (!record || record->labels.empty()) continue;
    bytes += record->size;
    if (!samples.empty() && bytes > kBytes) break;
    samples.push_back(read(*record, maps));
  }
  return samples;
}

CanaryWatch::Sample CanaryWatch::read(const data::SampleRecord& record,
                                      const data::Reconciliation& maps) const {
  Sample sample;
  sample.digest = record.digest;
  for (const std::string& label : record.labels) {
    const std::string name = data::without_denial(label);
    auto& names = data::is_denial(label) ? sample.wrong : sample.right;
    names.insert(name);
    const auto map = maps.find(name);
    if (map != maps.end()) names.insert(map->second.begin(), map->second.end());
  }
  std::vector<std::uint8_t> content;
  try {
    content = s_.labels.content(record.digest);
  } catch (const Error& error) {  // damaged, unreadable or forgotten meanwhile
    log_warn("sample {} counts for no canary: {}", record.digest.hex(), error.what());
    return sample;
  }
  sample.content = in_memory(content);
  return sample;
}

void CanaryWatch::ask(const QuestionPtr& question, std::int64_t version) {
  std::vector<int> descriptors;
  for (const Sample& sample : question->samples) descriptors.push_back(sample.content.get());
  WorkerCalls::Answer answer;
  answer.result = [this, question](const Json& result) {
    try {
      answered(question, result.at("predictions"));
    } catch (...) {
      failed(*question, std::current_exception());
    }
  };
  answer.error = [this, question](std::exception_ptr error) { failed(*question, error); };
  const auto folder = s_.layout.version(question->canary.model, version);
  s_.calls.start(s_.command.in_background(s_.command.predict(folder, descriptors, {.top = 1})),
                 std::move(answer));
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
    const auto is = is_right(question->answers[0].at(i), sample.right, sample.wrong);
    const auto was = is_right(question->answers[1].at(i), sample.right, sample.wrong);
    auto verdict = CanaryStore::Verdict::kNeither;
    if (is && was && *is != *was)
      verdict = *is ? CanaryStore::Verdict::kBetter : CanaryStore::Verdict::kWorse;
    verdicts.emplace_back(sample.digest, verdict);
  }
  store_.judge(canary.model, verdicts);
  Patience& patience = patience_[canary.model];
  patience.at_once = std::min(2 * patience.at_once, kSamples);
  if (const auto now = store_.find(canary.model); now && is_contradicted(*now)) roll_back(*now);
}

// A worker that died may have died of any of the samples.
void CanaryWatch::failed(const Question& question, const std::exception_ptr& error) {
  busy_ = false;
  const std::string& model = question.canary.model;
  const std::size_t asked = question.samples.size();
  if (asked > 1) patience_[model].at_once = asked / 2;
  try {
    if (asked == 1 && is_of_the_sample(error)) {
      const std::pair verdict(question.samples.front().digest, CanaryStore::Verdict::kNeither);
      store_.judge(model, {&verdict, 1});
    }
  } catch (...) {
    return rest(model, std::current_exception());
  }
  rest(model, error);
}

void CanaryWatch::rest(const std::string& model, const std::exception_ptr& error) {
  patience_[model].until = s_.world.steady_milliseconds() + kRest;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    log_warn("model {}: new labels could not be held against its promoted version: {}", model,
             e.what());
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
  log_warn("model {}: {}", canary.model, message);
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
