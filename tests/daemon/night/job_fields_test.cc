// Every field of a job description, varied alone: what the night would refuse is refused when the
// job is submitted, at the field, and no field is there for nothing.
#include <gmock/gmock.h>

#include <set>

#include "daemon/models/model_folder.h"
#include "daemon/night/data/night_data.h"
#include "daemon/night/plan/night_model.h"
#include "tests/daemon/night/job_place.h"
#include "tests/plain_build.h"

namespace moil::night {
namespace {

// Fields beside it that a variation has a meaning with, by pointer.
using Beside = std::map<std::string, Json>;

struct Variation {
  std::string pointer;
  std::vector<Json> runs;     // edges of what may be included
  std::vector<Json> refused;  // when submitted, with the pointer
  Beside beside = {};
};

const Beside kAdam = {{"/train/optimizer/type", "adam"}, {"/train/optimizer/learning_rate", 1e-3}};
const Beside kElastic = {{"/elastic", Json::object()}};
const Beside kDeadline = {{"/deadline_seconds", 60}};

const std::vector<Variation>& variations() {
  static const std::vector<Variation> all = {
      {"/name", {"x", std::string(200, 'n')}, {"", std::string(201, 'n'), 7}},
      {"/model", {"small"}, {"../small", "", 1}},
      {"/settings", {"auto", "defaults"}, {"best", 1}},
      {"/global/pack", {}, {"", "pack", "/nowhere", "/tmp"}},
      {"/global/alpha", {0, 0.01, 1}, {-0.1, 1.1, "half"}},
      {"/global/limit", {nullptr, 1, 5, 1000000}, {0, -1, 0.5}},
      {"/local/labels",
       {nullptr, Json::array({"new"}), Json::array({"c", "new"})},
       {Json::array(), Json::array({"nwe"}), Json::array({"new", "new"}), "new"}},
      {"/freeze/trainable_layers", {"all", 0, 1, 2, 100000}, {-1, 1.5, "some", 100001}},
      {"/freeze/batch_norms", {true, false}, {1}},
      {"/cache/enabled", {true, false}, {0}, {{"/freeze/trainable_layers", 1}}},
      {"/cache/dtype", {"fp32", "bf16"}, {"fp16", 16}, {{"/freeze/trainable_layers", 1}}},
      {"/augment/views", {1, 2, 64}, {0, 65, -1, 1.5, true, nullptr}},
      {"/augment/flip", {true, false}, {"no"}, {{"/augment/views", 3}}},
      {"/train/method", {"full", "last_layer", "bn_bias"}, {"head", nullptr}},
      {"/train/epochs", {0, 1, 7}, {-1, 100001, 1.5, nullptr, 4294967297}},
      {"/train/batch", {1, 7, 65536}, {0, 65537}},
      {"/train/optimizer/type", {"sgd", "sgdw", "adam", "adamw"}, {"lion", nullptr}},
      {"/train/optimizer/learning_rate", {1e-300, 1e-6, 1}, {0, -1, 1e30}},
      {"/train/optimizer/momentum", {nullptr, 0, 0.5, 0.999}, {1, 0.9999999999, -0.1}},
      {"/train/optimizer/momentum", {nullptr}, {0.9, 0}, kAdam},
      {"/train/optimizer/nesterov", {true, false}, {"yes"}},
      {"/train/optimizer/nesterov", {false}, {true}, {{"/train/optimizer/momentum", 0}}},
      {"/train/optimizer/nesterov", {false}, {true}, kAdam},
      {"/train/optimizer/weight_decay", {0, 1e-4, 1}, {-1, 1e30}},
      {"/train/optimizer/weight_decay", {1e-2}, {}, {{"/train/optimizer/type", "sgdw"}}},
      {"/train/optimizer/beta1", {nullptr, 0, 0.8}, {1, -1}, kAdam},
      {"/train/optimizer/beta1", {nullptr}, {0.9}},
      {"/train/optimizer/beta2", {nullptr, 0, 0.9}, {1, -1}, kAdam},
      {"/train/optimizer/beta2", {nullptr}, {0.999}},
      {"/train/optimizer/epsilon", {nullptr, 1e-30, 1}, {0, 1e-40, 2}, kAdam},
      {"/train/optimizer/epsilon", {nullptr}, {1e-8}},
      {"/train/optimizer/backbone_factor", {0.01, 2}, {0, -1}},
      {"/train/schedule/type", {"constant", "step", "cosine", "exponential"}, {"linear"}},
      {"/train/schedule/warmup_epochs", {0, 0.5, 1e9}, {-1}},
      {"/train/schedule/step_epochs",
       {nullptr, 0.5, 1, 2.5, 1e9},
       {0, -1},
       {{"/train/schedule/type", "step"}}},
      {"/train/schedule/step_epochs", {nullptr}, {1}},
      {"/train/schedule/gamma",
       {nullptr, 1e-300, 0.5, 1},
       {0, 1.1},
       {{"/train/schedule/type", "exponential"}}},
      {"/train/schedule/gamma", {nullptr}, {0.1}, {{"/train/schedule/type", "cosine"}}},
      {"/train/schedule/final_fraction",
       {nullptr, 0, 0.5, 1},
       {-1, 1.1},
       {{"/train/schedule/type", "cosine"}}},
      {"/train/schedule/final_fraction", {nullptr}, {0}},
      {"/train/micro_batch",
       {nullptr, 1, 3, 5, 8, 65536},
       {0, 65537},
       {{"/freeze/batch_norms", true}}},
      {"/train/micro_batch",  // more than there are samples, in parts that do not divide them
       {1, 8, 31},
       {},
       {{"/train/batch", 32}, {"/freeze/batch_norms", true}}},
      {"/train/micro_batch", {8}, {4}},  // batch norms learn
      {"/train/distill", {0, 0.5, 1}, {-0.1, 2}},
      {"/train/clip_norm", {nullptr, 1e-9, 1, 1e9}, {0, -1}},
      {"/train/checkpoint_seconds", {0, 86400}, {-1, 86401}},
      {"/elastic", {nullptr, Json::object()}, {true, "yes"}},
      {"/elastic", {Json::object()}, {}, {{"/train/optimizer/type", "adamw"}}},
      {"/elastic/rho", {0.01, 0.6, 1}, {0, 1.1}, kElastic},
      {"/elastic/pace", {"front", "even"}, {"back"}, kElastic},
      {"/elastic/interval_epochs", {1, 100000}, {0}, kElastic},
      {"/elastic/probe_samples", {1, 4096}, {0, 4097}, kElastic},
      {"/elastic/resolution", {100, 10000000}, {99, 10000001}, kElastic},
      {"/elastic/importance", {"loss", "gradient", "update"}, {"size"}, kElastic},
      {"/elastic/follow_speed", {true, false}, {1}, kElastic},
      {"/train/method", {"full"}, {"last_layer", "bn_bias"}, kElastic},
      {"/swap/mode", {"auto", "off"}, {"on_demand", "proactive"}, kElastic},
      {"/train/method", {}, {"last_layer", "bn_bias"}, kDeadline},
      {"/swap/mode", {}, {"proactive"}, kDeadline},
      {"/deadline_seconds", {nullptr, 3600, 1e9}, {0, -5}},
      {"/memory/budget_bytes", {nullptr, std::int64_t{1} << 40}, {0, 1}},
      {"/memory/saved", {"fp32", "bf16"}, {"int8"}},
      {"/swap/mode", {"auto", "off", "on_demand", "reduced", "proactive"}, {"always"}},
      {"/swap/max_write_bytes", {nullptr, 0, 1}, {-1}},
      {"/swap/max_write_bytes", {0, std::int64_t{1} << 40}, {}, {{"/swap/mode", "on_demand"}}},
      {"/guard/max_global_drop", {0, 1}, {-0.1, 1.1}},
      {"/guard/min_local_accuracy", {0, 1}, {-0.1, 1.1}},
      {"/canary", {nullptr, Json::object()}, {true}},
      {"/canary/contradictions", {1, 1000}, {0, 1001}},
      {"/canary/significance", {1e-6, 0.5}, {0, 0.6}},
      {"/seed", {0, 9007199254740991}, {-1, 9007199254740992, 1.5, 1e30}},
      {"/activate", {true, false}, {1}},
      {"/threads", {nullptr, 1, 3, 1024}, {0, 1025}},
      {"/processors", {"auto", "cpu", "opencl", "step_wise", "layer_wise", "path"}, {"gpu"}},
      {"/processors", {"auto", "cpu"}, {"path"}, kElastic},
      {"/exact_arithmetic", {true, false}, {0}},
      {"/evaluate_every_epoch", {true, false}, {"always"}},
  };
  return all;
}

Json varied(Json description, const Variation& variation, const Json& value) {
  for (const auto& [pointer, beside] : variation.beside)
    description[Json::json_pointer(pointer)] = beside;
  description[Json::json_pointer(variation.pointer)] = value;
  return description;
}

std::set<std::string> all_fields() {
  daemon::JobSpec spec;
  std::set<std::string> pointers;
  for (const bool whole : {false, true}) {
    if (whole) {
      spec.elastic.emplace();
      spec.canary.emplace();
    }
    const Json flat = daemon::to_json(spec).flatten();
    for (const auto& [pointer, ignored] : flat.items()) pointers.insert(pointer);
  }
  return pointers;
}

class JobFields : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { place = new JobPlace; }
  static void TearDownTestSuite() {
    delete place;
    place = nullptr;
  }
  // Where a submission is refused; nothing if it is accepted.
  static std::vector<std::string> refusals(const Json& description) {
    try {
      (void)place->submitted(description);
    } catch (const daemon::ValidationError& e) {
      std::vector<std::string> pointers;
      for (const auto& error : e.errors()) pointers.push_back(error.pointer);
      return pointers;
    }
    return {};
  }
  static JobTrace trace(const Json& description) {
    return place->run(place->submitted(description));
  }

  static JobPlace* place;
};

JobPlace* JobFields::place = nullptr;

TEST_F(JobFields, AreAllVaried) {
  std::set<std::string> runs, refused;
  for (const Variation& v : variations()) {
    if (!v.runs.empty()) runs.insert(v.pointer);
    if (!v.refused.empty()) refused.insert(v.pointer);
  }
  runs.insert("/global/pack");  // of every job here
  EXPECT_EQ(runs, all_fields());
  EXPECT_EQ(refused, all_fields());
}

TEST_F(JobFields, WhatTheNightWouldRefuseIsRefusedAtTheField) {
  for (const Variation& variation : variations()) {
    for (const Json& value : variation.refused) {
      const Json description = varied(place->description(), variation, value);
      const auto pointers = refusals(description);
      ASSERT_FALSE(pointers.empty()) << variation.pointer << ": " << value << " was accepted";
      EXPECT_TRUE(pointers[0].starts_with(variation.pointer))
          << variation.pointer << ": " << value << " was refused at " << pointers[0];
    }
  }
}

// All of them take minutes under a sanitizer, which looks at every sixth.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStride = 6;
#else
constexpr std::size_t kStride = 1;
#endif

TEST_F(JobFields, WhatIsAcceptedRuns) {
  MOIL_NEEDS_BOTH_BUILDS();
  std::size_t count = 0;
  for (const Variation& variation : variations()) {
    for (const Json& value : variation.runs) {
      if (count++ % kStride != 0) continue;
      SCOPED_TRACE(variation.pointer + ": " + value.dump());
      try {
        const JobTrace night = trace(varied(place->description(), variation, value));
        EXPECT_FALSE(night.result["reason"].get<std::string>().empty());
      } catch (const Error& e) {
        ADD_FAILURE() << e.what();
      }
    }
  }
}

TEST_F(JobFields, TrainingThatDivergesFailsWithTheStep) {
  Json description = place->description();
  description["train"]["epochs"] = 9;
  description["train"]["optimizer"] = {{"learning_rate", 1}, {"weight_decay", 1e9}};
  std::string said;
  EXPECT_EQ(error_of([&] { (void)trace(description); }, &said), ErrorCode::kFailedPrecondition);
  EXPECT_THAT(said, ::testing::ContainsRegex("diverged: the .* is not finite after step [0-9]+"));
}

// Enough samples to try settings on.
class JobFieldsToTry : public JobFields {
 protected:
  static void SetUpTestSuite() { place = new JobPlace(24); }
  // How many settings it tried.
  static std::size_t trials_of(const Json& description) {
    SCOPED_TRACE(description.dump());
    std::filesystem::remove(place->layout().settings("small"));  // nothing is known
    try {
      return trace(description).result["details"]["auto"]["trials"].size();
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
      return 0;
    }
  }
};

// Beside what the night chooses by trials, with maps from the cache and computed each time: neither
// is refused, and the values of a field run in turns with one and the other. What is refused beside
// the defaults may be right beside what is chosen.
TEST_F(JobFieldsToTry, WhatIsAcceptedRunsBesideWhatTheNightChooses) {
  std::size_t count = 0, turns = 0, nights = 0, trials = 0;
  for (const Variation& variation : variations()) {
    std::vector<Json> values = variation.runs;
    values.insert(values.end(), variation.refused.begin(), variation.refused.end());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (variation.pointer == "/settings" || count++ % kStride != 0) continue;
      const bool runs_cached = ++turns % 2 == 0;  // of what is accepted either way
      for (const bool cached : {true, false}) {
        Json description = place->open_description();
        description["cache"]["enabled"] = cached;
        description["train"]["epochs"] = 2;  // of trials, too
        description = varied(description, variation, values[i]);
        const bool accepted = refusals(description).empty();
        EXPECT_TRUE(accepted || i >= variation.runs.size()) << description;
        if (!accepted || cached != runs_cached) continue;
        trials += trials_of(description);
        ++nights;
      }
    }
  }
  EXPECT_GT(trials, 2 * nights) << "little was tried";
}

// Where a change of a field is to be seen.
using Look = Json (*)(const JobTrace&);
Json weights(const JobTrace& t) { return t.weights; }
Json samples(const JobTrace& t) { return t.samples; }
Json choices(const JobTrace& t) { return t.choices; }
Json details(const JobTrace& t) { return t.result.at("details"); }
Json promoted(const JobTrace& t) { return t.result.at("promoted"); }
Json cached(const JobTrace& t) { return t.cached_bytes; }
Json checkpoints(const JobTrace& t) { return t.written.at("train.checkpoint"); }

struct Change {
  std::string pointer;
  Json from, to;
  Look look;
  Beside beside = {};
};

const std::vector<Change>& changes() {
  const Beside head = {{"/freeze/trainable_layers", 1}};
  const Beside still = {{"/freeze/batch_norms", true}};
  const Beside step = {{"/train/schedule", {{"type", "step"}, {"step_epochs", 1}}}};
  static const std::vector<Change> all = {
      {"/settings", "defaults", "auto", weights},
      {"/global/alpha", 0.5, 1, samples},
      {"/global/limit", nullptr, 5, samples},
      {"/local/labels", nullptr, Json::array({"new"}), samples},
      {"/freeze/trainable_layers", "all", 1, weights},
      {"/freeze/batch_norms", false, true, weights},
      {"/cache/enabled", true, false, cached, head},
      {"/cache/dtype", "fp32", "bf16", cached, head},
      {"/augment/views", 1, 3, weights},
      {"/augment/flip", true, false, weights, {{"/augment/views", 3}}},
      {"/train/method", "full", "bn_bias", weights},
      {"/train/epochs", 2, 3, weights},
      {"/train/batch", 8, 4, weights},
      {"/train/optimizer/type", "sgd", "sgdw", weights, {{"/train/optimizer/weight_decay", 0.5}}},
      {"/train/optimizer/learning_rate", 0.05, 0.04, weights},
      {"/train/optimizer/momentum", nullptr, 0.5, weights},
      {"/train/optimizer/nesterov", false, true, weights},
      {"/train/optimizer/weight_decay", 0, 0.5, weights},
      {"/train/optimizer/beta1", nullptr, 0.5, weights, kAdam},
      {"/train/optimizer/beta2", nullptr, 0.5, weights, kAdam},
      {"/train/optimizer/epsilon", nullptr, 0.5, weights, kAdam},
      {"/train/optimizer/backbone_factor", 1, 0.5, weights},
      {"/train/schedule/type", "constant", "cosine", weights},
      {"/train/schedule/warmup_epochs", 0, 1, weights},
      {"/train/schedule/step_epochs", 1, 1.5, weights, step},
      {"/train/schedule/gamma", nullptr, 0.5, weights, step},
      {"/train/schedule/final_fraction",
       nullptr,
       0.5,
       weights,
       {{"/train/schedule/type", "cosine"}}},
      {"/train/micro_batch", nullptr, 4, details, still},
      {"/train/distill", 1, 0, weights},
      {"/train/clip_norm", nullptr, 1e-3, weights},
      {"/train/checkpoint_seconds", 30, 0, checkpoints},
      {"/elastic", nullptr, Json::object(), details},
      {"/deadline_seconds", nullptr, 3600, details},
      {"/memory/budget_bytes", nullptr, 1 << 30, choices},
      {"/memory/saved", "fp32", "bf16", details},
      {"/swap/mode", "auto", "on_demand", details},
      {"/guard/max_global_drop",
       1,
       0,
       promoted,
       {{"/global/alpha", 0},
        {"/local/labels", Json::array({"new"})},
        {"/train/epochs", 20},
        {"/train/optimizer/learning_rate", 0.3}}},
      {"/guard/min_local_accuracy", 0, 1, promoted},
      {"/seed", 1, 2, weights},
      {"/processors", "auto", "cpu", details},
      {"/exact_arithmetic", false, true, choices},
      {"/evaluate_every_epoch", false, true, details},
  };
  return all;
}

// What the elastic part chose depends on times: what reaches the training is compared.
Json elastic_plan(JobPlace& place, const Json& description) {
  const daemon::JobSpec spec = place.submitted(description);
  const StoredModel base = open_model_folder(place.layout().version(spec.model, 1));
  const NightData data(place.layout(), spec, base);
  const data::Mix mix = data.draw_mix(spec, base);
  const NightModel night = plan_night(
      {.base = base, .mix = mix, .spec = spec, .swap_folder = place.layout().jobs(), .dry = true});
  const ElasticConfig& e = *night.elastic;
  return {e.speedup_ratio,       static_cast<int>(e.pace),   e.interval_epochs,
          e.resolution,          static_cast<int>(e.metric), e.follow_speed,
          night.probe->samples()};
}

const std::map<std::string, Json> kElasticChanges = {
    {"/elastic/rho", 0.7},           {"/elastic/pace", "even"},
    {"/elastic/interval_epochs", 5}, {"/elastic/probe_samples", 2},
    {"/elastic/resolution", 5000},   {"/elastic/importance", "update"},
    {"/elastic/follow_speed", false}};

TEST_F(JobFields, EachChangesSomething) {
  std::size_t count = 0;
  for (const Change& change : changes()) {
    if (count++ % kStride != 0) continue;
    const auto at = [&](const Json& value) {
      const Variation variation{change.pointer, {}, {}, change.beside};
      return change.look(trace(varied(place->description(), variation, value)));
    };
    EXPECT_NE(at(change.from), at(change.to)) << change.pointer << " changes nothing";
  }
  Json description = place->description();
  description["elastic"] = Json::object();
  const Json plain = elastic_plan(*place, description);
  for (const auto& [pointer, value] : kElasticChanges) {
    const Json changed = elastic_plan(*place, varied(description, {pointer, {}, {}}, value));
    EXPECT_NE(plain, changed) << pointer << " changes nothing";
  }
}

// A field that is added has its line here, or nobody reads it.
TEST_F(JobFields, AreAllSeenToChangeSomething) {
  // What the daemon reads (jobs_test.cc, canary_test.cc), and what is a limit alone: it refuses.
  std::set<std::string> seen = {"/name",
                                "/model",
                                "/global/pack",
                                "/activate",
                                "/threads",
                                "/swap/max_write_bytes",
                                "/canary",
                                "/canary/contradictions",
                                "/canary/significance"};
  for (const Change& change : changes()) seen.insert(change.pointer);
  for (const auto& [pointer, ignored] : kElasticChanges) seen.insert(pointer);
  EXPECT_EQ(seen, all_fields());
}

}  // namespace
}  // namespace moil::night
