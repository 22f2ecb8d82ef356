#include "daemon/night/night_job.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/disk_full.h"
#include "base/file.h"
#include "base/process_memory.h"
#include "base/seconds.h"
#include "daemon/job_result.h"
#include "daemon/night/accuracy_record.h"
#include "daemon/night/anchor.h"
#include "daemon/night/field_error.h"
#include "daemon/night/guard.h"
#include "daemon/night/head_network.h"
#include "daemon/night/head_training.h"
#include "daemon/night/judge.h"
#include "daemon/night/kernel_profile.h"
#include "daemon/night/left_out.h"
#include "daemon/night/memory_probe.h"
#include "daemon/night/mix_record.h"
#include "daemon/night/near_duplicates.h"
#include "daemon/night/night_data.h"
#include "daemon/night/night_files.h"
#include "daemon/night/night_model.h"
#include "daemon/night/pause_point.h"
#include "daemon/night/timing_store.h"
#include "datasets/sampling/per_class.h"
#include "engine/kernels/parallel.h"
#include "engine/tensor/swapper.h"
#include "engine/train/finite.h"
#include "featurecache/discard.h"

namespace moil::night {
namespace {

using daemon::Json;
using daemon::Stage;

constexpr std::size_t kMostLeftOutTold = 100;  // by name, in the report

// Thrown between steps where the night was asked to stop; everything to resume from is saved.
struct Stopped {};

class StageClock {
 public:
  StageClock(const NightFiles& files) : files_(files), seconds_(files.load_seconds()) {}
  void begin(Stage stage) {
    add();
    stage_ = daemon::to_string(stage);
  }
  // Adds the time since begin() or the last add() and keeps it.
  void add() {
    const auto now = std::chrono::steady_clock::now();
    if (!stage_.empty()) seconds_[stage_] += std::chrono::duration<double>(now - start_).count();
    start_ = now;
    if (!stage_.empty()) files_.save_seconds(seconds_);
  }
  double total() const {
    double sum = 0;
    for (const auto& [stage, seconds] : seconds_) sum += seconds;
    return sum;
  }
  const std::map<std::string, double>& by_stage() const { return seconds_; }

 private:
  const NightFiles& files_;
  std::map<std::string, double> seconds_;
  std::string stage_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class NightJob {
 public:
  NightJob(const daemon::StateLayout& layout, const daemon::JobFile& file,
           daemon::EventWriter& events, const std::atomic<bool>& stop)
      : layout_(layout),
        file_(file),
        spec_(file.spec),
        events_(events),
        stop_(stop),
        files_(layout.job(file.id)),
        clock_(files_),
        data_(layout, file.spec) {}

  void run() {
    files_.remove_unfinished();
    std::filesystem::remove_all(layout_.incoming(spec_.model, file_.version));
    mix();
    if (const auto why = not_measurable(spec_.guard, measured())) return end(why->message);
    do {
      plan();
      has_cache() ? fill_cache() : survey();
    } while (left_some_out());
    reader_ = std::make_unique<FeatureReader>(data_.origins(), night_.bundle.preprocessing,
                                              *night_.backbone, cache_.get(), cache_model_,
                                              augmentation());
    look_for_near_duplicates();
    look_at_anchor();
    distill();
    train();
    write_version();
    judge_models();
    end(objection(spec_.guard, measured()));
  }

 private:
  void begin(Stage stage, std::int64_t total) {
    require_remembered();
    clock_.begin(stage);
    progress(stage, 0, total);
  }

  // Whether the work may go on.
  bool report(Stage stage, std::int64_t done, std::int64_t total) {
    daemon::Progress p;
    p.stage = stage;
    p.done = done;
    p.total = total;
    events_.progress(p);
    return !stop_.load();
  }

  void progress(Stage stage, std::int64_t done, std::int64_t total) {
    if (!report(stage, done, total)) throw Stopped{};
  }

  // Forgetting wins against a running night: nothing is kept that learned from a forgotten sample.
  // What comes between the last look and the daemon's record of the version, the daemon finds.
  void require_remembered() const {
    for (const auto* list : {&mix_.train, &mix_.local_validation}) {
      for (const data::MixedSample& sample : *list) {
        if (!data_.is_remembered(sample))
          throw SampleForgotten("a sample was forgotten during the night");
      }
    }
  }

  Augmentation augmentation() const { return {spec_.augment.views, spec_.augment.flip}; }

  // --- mix --------------------------------------------------------------------------------------
  void mix() {
    begin(Stage::kMix, 1);
    base_ = open_model_folder(layout_.version(spec_.model, file_.base_version));
    std::size_t lost = 0;
    const auto saved = files_.load_mix();
    if (saved) {
      mix_ = restored([&] { return mix_from_json(*saved, data_.global(), data_.local(), lost); });
      left_out_ =
          restored([&] { return left_out_from_json(saved->value("unreadable", Json::array())); });
      std::erase_if(left_out_, [&](const LeftOutSample& sample) {
        return !data_.is_remembered({{sample.source, 0}, sample.digest, {}});
      });
    }
    if (lost > 0) files_.remove_all();  // forgotten samples leave no trace in what is trained
    if (!saved || lost > 0) draw({});
    pause_if_asked(Stage::kMix);
    progress(Stage::kMix, 1, 1);
  }

  void draw(LeftOut left_out) {
    mix_ = data_.draw_mix(spec_, base_.labels, digests_of(left_out));
    left_out_ = std::move(left_out);
    require_enough(mix_, left_out_);
    Json saved = to_json(mix_);
    saved["unreadable"] = to_json(left_out_);
    files_.save_mix(saved);
  }

  // Whether samples turned out to be unreadable, so that the night is to be planned anew without
  // them. In this order, so that a night that is killed in between comes to the same.
  bool left_some_out() {
    if (filled_.unreadable.empty()) return false;
    const auto found = left_out_of(filled_.unreadable, mix_, data_.global(), data_.local());
    filled_.unreadable.clear();
    files_.remove_training();
    LeftOut all = left_out_;
    all.insert(all.end(), found.begin(), found.end());
    draw(std::move(all));
    spec_ = file_.spec;
    night_ = {};
    events_.note(std::to_string(left_out_.size()) +
                 (left_out_.size() == 1 ? " sample cannot be read and is"
                                        : " samples cannot be read and are") +
                 " left out; the report names what");
    return true;
  }

  // --- plan: what will be computed by whom, and in how much memory -------------------------------
  void plan() {
    begin_measuring();
    choices_ = files_.load_choices().value_or(NightChoices{{}, file_.threads, nullptr});
    set_thread_count(choices_.threads);
    needs_ = decoding_needs(data_.origins(), mix_, base_.preprocessing, thread_count());
    if (spec_.deadline_seconds) {
      if (!choices_.head) choices_.head = head_in_time();
      use_head(*choices_.head);
      begin_measuring();
    }
    plan_networks();
    data_.check_features(*night_.backbone, night_.freeze);
    choices_.kernels = night_.choices();
    choices_.training_memory = to_json(night_.training_memory);
    files_.save_choices(choices_);
    save_kernel_profile(layout_.kernel_profile(),
                        {night_.kernel_profile(), has_cache() ? answer_of_backbone() : Answers{}});
    pause_if_asked(Stage::kMeasure);
    progress(Stage::kMeasure, milliseconds(measuring_.limit()), milliseconds(measuring_.limit()));
    profile_if_elastic();
    forecast_ = forecast_memory(night_, has_cache());
    if (spec_.memory.budget_bytes &&
        forecast_.total() > static_cast<std::size_t>(*spec_.memory.budget_bytes)) {
      throw Error(ErrorCode::kInternal, "the night would need " +
                                            std::to_string(forecast_.total()) +
                                            " bytes, although it was fitted to " +
                                            std::to_string(*spec_.memory.budget_bytes));
    }
  }

  void plan_networks() {
    night_ = plan_night(plan_input());
    room_ = std::make_unique<DecodingRoom>(night_.decoding_room);
    data_.decode_within(*room_);
  }

  static std::int64_t milliseconds(double seconds) {
    return static_cast<std::int64_t>(1000 * seconds);
  }

  double most_measuring() const {
    if (!spec_.deadline_seconds) return kMeasuringSeconds;
    return std::min(kMeasuringSeconds, kMeasuringShare * *spec_.deadline_seconds);
  }

  void begin_measuring() { begin(Stage::kMeasure, milliseconds(measuring_.limit())); }

  // How far the measuring of kernels is, of the time that it may take.
  void after_kernel(double seconds) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_progress_ < std::chrono::milliseconds(200)) return;
    last_progress_ = now;
    progress(Stage::kMeasure, std::min(milliseconds(seconds), milliseconds(measuring_.limit())),
             milliseconds(measuring_.limit()));
  }

  // What the cache is asked for by: known from a night before, or computed.
  using Answers = std::map<std::string, std::string>;
  Answers answer_of_backbone() {
    const std::string arithmetic =
        cache::to_hex(cache::model_id(night_.backbone->arithmetic(), "arithmetic"));
    const Answers known = load_kernel_profile(layout_.kernel_profile()).answers;
    if (const auto it = known.find(arithmetic); it != known.end())
      night_.backbone->take_answer(it->second);
    Answers answers = {{arithmetic, night_.backbone->answer()}};
    night_.backbone->release();  // training may be timed before maps are computed
    return answers;
  }

  // What a checkpoint was chosen by lies in it.
  void profile_if_elastic() {
    if (!night_.elastic || !night_.trainer) return;
    if (choices_.rho) night_.elastic->speedup_ratio = *choices_.rho;
    if (std::filesystem::exists(files_.checkpoint())) return;
    profile_ = profile_training();
    if (!spec_.deadline_seconds) raise_rho();
  }

  // To what forward and the cheapest layer take, where the job asks for less: it trains the least.
  void raise_rho() {
    const double least = smallest_speedup_ratio(profile_.profile);
    if (night_.elastic->speedup_ratio >= least) return;
    char text[160];
    std::snprintf(
        text, sizeof text,
        "elastic.rho %.3g cannot be reached: forward and the cheapest layer take %.3g of a "
        "full step; that is trained",
        night_.elastic->speedup_ratio, least);
    events_.note(text);
    night_.elastic->speedup_ratio = least;
    choices_.rho = least;
    files_.save_choices(choices_);
  }

  NightPlanInput plan_input() {
    NightPlanInput input{base_,
                         mix_,
                         spec_,
                         data_.known_samples(),
                         needs_,
                         choices_.kernels,
                         load_kernel_profile(layout_.kernel_profile()).choices,
                         layout_.job(file_.id),
                         {},
                         false,
                         &measuring_};
    if (!choices_.training_memory.is_null())
      input.memory = restored([&] { return training_memory_from_json(choices_.training_memory); });
    return input;
  }

  // --- deadline ---------------------------------------------------------------------------------
  // With the job's layers as the deepest head that may be trained.
  HeadChoice head_in_time() {
    plan_networks();
    if (!night_.trainer) return {0, 1};
    const TimingProfile profile = profile_training().profile;
    const auto heads = head_times(night_.bundle.description, night_.freeze,
                                  spec_.freeze.batch_norms, night_.trainer->config(), profile);
    const HeadChoice choice = at_field("/deadline_seconds", [&] {
      return choose_head(heads, costs(profile), *spec_.deadline_seconds);
    });
    char text[160];
    std::snprintf(text, sizeof text,
                  "to end within %.0f s, the last %d of %d layers are trained, in steps of %.0f %% "
                  "of their full time",
                  *spec_.deadline_seconds, choice.trained_units, night_.freeze.total_units,
                  100 * choice.rho);
    events_.note(text);
    return choice;
  }

  void use_head(const HeadChoice& head) {
    spec_.freeze.trainable_layers.count = head.trained_units;
    if (!spec_.elastic) spec_.elastic.emplace();
    spec_.elastic->rho = head.rho;
  }

  NightCosts costs(const TimingProfile& profile) {
    const auto count = [](const auto& samples) {
      return static_cast<std::int64_t>(samples.size());
    };
    const std::int64_t held_out = count(mix_.global_validation) + count(mix_.local_validation);
    FeatureReader reader(data_.origins(), base_.preprocessing, *night_.backbone, nullptr, {},
                         augmentation());
    const FeatureReader::Portion trained[] = {{mix_.train, true}};
    NightCosts costs;
    costs.feature_maps = has_cache() ? reader.feature_maps(trained) + held_out
                                     : count(mix_.train) * spec_.train.epochs + 2 * held_out;
    costs.steps = steps_of_epoch(count(mix_.train), night_.trainer->config()) * spec_.train.epochs;
    clock_.add();
    costs.before =
        clock_.total() + seconds_of_a_sample(reader) * static_cast<double>(costs.feature_maps);
    costs.after = judging_seconds(profile);
    night_.backbone->release();
    return costs;
  }

  // Of the models before and after the night.
  double judging_seconds(const TimingProfile& profile) const {
    const auto held_out =
        static_cast<double>(mix_.global_validation.size() + mix_.local_validation.size());
    return 2 * held_out * profile.forward /
           static_cast<double>(micro_batch_of(night_.trainer->config()));
  }

  // Read, decoded and fed forward through the backbone; the first batch warms up.
  double seconds_of_a_sample(FeatureReader& reader) const {
    const auto batch = static_cast<std::size_t>(night_.backbone->batch());
    std::vector<SampleView> views;
    for (std::size_t i = 0; i < 3 * batch; ++i)
      views.push_back({&mix_.train[i * mix_.train.size() / (3 * batch)]});
    std::vector<float> maps(batch * reader.elements());
    FeatureReader::Unreadable unreadable;  // it is left out later
    reader.read(std::span(views).first(batch), maps.data(), &unreadable);
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t b = 1; b < 3; ++b)
      reader.read(std::span(views).subspan(b * batch, batch), maps.data(), &unreadable);
    return seconds_since(start) / static_cast<double>(2 * batch);
  }

  // What is left when training begins is known, where it was estimated before.
  void settle_rho() {
    if (!spec_.deadline_seconds || choices_.head_is_final) return;
    const TimingProfile& profile = profile_.profile;
    clock_.add();
    const HeadTimes head{choices_.head->trained_units, profile.step,
                         smallest_speedup_ratio(profile) * profile.step};
    const double left = *spec_.deadline_seconds - clock_.total() - judging_seconds(profile);
    choices_.head->rho = rho_in_time(head, left, night_.steps);
    choices_.head_is_final = true;
    files_.save_choices(choices_);
    night_.elastic->speedup_ratio = choices_.head->rho;
  }

  // --- cache ------------------------------------------------------------------------------------
  bool has_cache() const { return spec_.cache.enabled && !night_.backbone->is_identity(); }

  // Global samples are nobody's to forget, be they labelled as well.
  bool may_store(const cache::SampleDigest& sample) const {
    const data::Digest digest{sample.bytes};
    return global_.contains(digest) || data_.is_remembered({{data::Source::kLocal, 0}, digest, {}});
  }

  void open_cache() {
    global_.clear();
    for (const auto* list : {&mix_.train, &mix_.global_validation})
      for (const data::MixedSample& sample : *list)
        if (sample.ref.source == data::Source::kGlobal) global_.insert(sample.digest);
    cache::Options options;
    options.quota_bytes = static_cast<std::uint64_t>(file_.cache_quota_bytes);
    options.leave_free_bytes = static_cast<std::uint64_t>(file_.leave_free_bytes);
    options.stored_as = spec_.cache.dtype == daemon::CacheDtype::kBf16 ? cache::StoredType::kBf16
                                                                       : cache::StoredType::kFp32;
    options.may_store = [this](const cache::SampleDigest& sample) { return may_store(sample); };
    const std::string dtype = spec_.cache.dtype == daemon::CacheDtype::kBf16 ? " bf16" : " fp32";
    if (!cache_) cache_ = std::make_unique<cache::FeatureCache>(layout_.cache(), options);
    cache_model_ =
        cache::model_id(night_.cache_fingerprint() + dtype, base_.preprocessing.fingerprint());
    cache_->use_model(cache_model_, "up to " + night_.freeze.split + ", " +
                                        std::to_string(night_.backbone->feature_elements()) +
                                        " elements" + dtype);
  }

  void fill_cache() {
    open_cache();
    FeatureReader reader(data_.origins(), base_.preprocessing, *night_.backbone, cache_.get(),
                         cache_model_, augmentation());
    const FeatureReader::Portion portions[] = {
        {mix_.train, true}, {mix_.global_validation, false}, {mix_.local_validation, false}};
    const std::int64_t total = reader.feature_maps(portions);
    begin(Stage::kCache, total);
    filled_.reused = -filled_.computed;  // before samples were left out, which is not reuse
    filled_.uncached = 0;
    filled_.why_uncached.clear();
    const bool finished = reader.fill(portions, filled_, [&](std::int64_t done) {
      if (2 * done >= total) pause_if_asked(Stage::kCache);
      return report(Stage::kCache, done, total);
    });
    if (!finished) throw Stopped{};
    filled_.reused = std::max(filled_.reused, std::int64_t{0});
    if (filled_.uncached > 0 && filled_.unreadable.empty()) go_on_uncached(total);
    night_.backbone->release();
  }

  // Without a cache every epoch reads the samples: once before, to know which can be.
  void survey() {
    FeatureReader reader(data_.origins(), base_.preprocessing, *night_.backbone, nullptr, {});
    const FeatureReader::Portion portions[] = {
        {mix_.train, false}, {mix_.global_validation, false}, {mix_.local_validation, false}};
    const std::int64_t total = reader.feature_maps(portions);
    begin(Stage::kMix, total);
    const bool finished = reader.survey(portions, filled_.unreadable, [&](std::int64_t done) {
      return report(Stage::kMix, done, total);
    });
    if (!finished) throw Stopped{};
  }

  // What did not fit into the cache is computed each time it is used, beside training.
  void go_on_uncached(std::int64_t total) {
    constexpr std::size_t kMapped = 2 * cache::kMostResidentBytes;
    const std::string what = std::to_string(filled_.uncached) + " of " + std::to_string(total) +
                             " feature maps do not fit into the cache (" + filled_.why_uncached +
                             ")";
    MemoryForecast beside = forecast_memory(night_, false);
    beside.caching = forecast_.caching;
    beside.training += kMapped;
    beside.judging += kMapped;
    if (spec_.memory.budget_bytes &&
        beside.total() > static_cast<std::size_t>(*spec_.memory.budget_bytes)) {
      const std::string message =
          what + ", and to compute them beside training would take " +
          std::to_string(beside.total()) + " bytes; memory.budget_bytes allows " +
          std::to_string(*spec_.memory.budget_bytes) +
          "; raise cache.quota_bytes or the budget, free disk space, or store bf16";
      const auto free = free_disk_bytes(layout_.cache());
      if (free && *free < static_cast<std::uint64_t>(file_.leave_free_bytes) + kMapped)
        throw DiskFull(message);
      throw Error(ErrorCode::kInvalidArgument, message);
    }
    forecast_ = beside;
    events_.note(what + "; they are computed each time they are used, which takes longer: raise " +
                 "cache.quota_bytes, free disk space, store bf16, or ask for fewer views");
  }

  // --- what the report tells of the split -------------------------------------------------------
  void look_for_near_duplicates() {
    const auto found = count_near_duplicates(mix_, data_.origins(), base_.preprocessing,
                                             cache_.get(), [&] { return !stop_.load(); });
    if (!found) throw Stopped{};
    near_duplicates_ = *found;
    if (found->held_out > 0) events_.note(found->remark());
  }

  // --- anchor: what no night may fall far behind ------------------------------------------------
  // Known from the night that made it, as a rule, or from one that began with it. Before training
  // takes its memory.
  void look_at_anchor() {
    const std::int64_t version = file_.anchor_version;
    if (version == 0 || version == file_.base_version || !asks_for_global(spec_.guard)) return;
    if (const auto known = accuracies().of(version)) {
      anchor_ = Anchor{version, known, ""};
      return;
    }
    progress(Stage::kJudge, 0, 1);
    anchor_ = judge_anchor({version, layout_.version(spec_.model, version), mix_, data_.origins(),
                            base_, night_, *reader_});
    if (anchor_->global) accuracies().keep(version, *anchor_->global);
  }

  AccuracyRecord accuracies() const {
    return {layout_.accuracies(spec_.model), held_out_fingerprint(mix_)};
  }

  // --- distill: what the model says before it is trained ----------------------------------------
  void distill() {
    if (!night_.trainer || spec_.train.distill == 0 || count_global(mix_) == 0) return;
    if (!std::filesystem::exists(files_.soft_targets())) ask_teacher();
    restored([&] {
      return &soft_targets_.emplace(files_.soft_targets(), mix_.train,
                                    reader_->views_of(data::Source::kGlobal));
    });
  }

  void ask_teacher() {
    const auto total =
        static_cast<std::int64_t>(count_global(mix_)) * reader_->views_of(data::Source::kGlobal);
    begin(Stage::kDistill, total);
    HeadNetwork teacher(night_.base_head, *night_.trainer_kernels);
    teacher.allocate(weights_of(base_));
    const bool finished =
        write_soft_targets(files_.soft_targets(), teacher, mix_.train, *reader_,
                           [&](std::int64_t done) { return report(Stage::kDistill, done, total); });
    if (!finished) throw Stopped{};
    pause_if_asked(Stage::kDistill);
  }

  FeatureSource training_source() {
    Teacher teacher;
    if (soft_targets_) teacher = {&*soft_targets_, spec_.train.distill};
    return {mix_.train, mix_.classes.size(), *reader_, teacher};
  }

  // --- train ------------------------------------------------------------------------------------
  void train() {
    if (!night_.trainer) return;
    const auto samples = static_cast<std::int64_t>(mix_.train.size());
    const std::int64_t total =
        steps_of_epoch(samples, night_.trainer->config()) * spec_.train.epochs;
    training_ = make_training();
    begin(Stage::kTrain, total);
    probe_.begin_part();
    const auto saved =
        restored([&] { return training_->begin(night_.bundle.weights, files_.checkpoint()); });
    if (saved) curve_ = saved->at("curve");
    for (const Node& node : night_.trainer->network().graph().nodes)
      for (const WeightSpec& spec : node.weights) trained_.insert(weight_name(node, spec));
    FeatureSource source = training_source();
    Trainer::Callbacks callbacks;
    callbacks.order = [&](std::int64_t epoch) {
      return source.order(
          data::epoch_order(mix_.train.size(), spec_.seed, static_cast<std::uint64_t>(epoch)),
          epoch);
    };
    callbacks.on_step = [&](std::int64_t step, std::int64_t all, double loss) {
      return after_step(step, all, loss);
    };
    callbacks.on_epoch = [&](const EpochSummary& summary) { after_epoch(summary); };
    callbacks.may_go_on = [&] { return !stop_.load(); };
    if (!training_->run(source, callbacks)) throw Stopped{};
    training_peak_ = probe_.part_peak_bytes();
    save();
    swapped_ = night_.trainer->network().swap_statistics();
    keep_overhead();
  }

  // The trainer looks at what learns; statistics may have overflowed meanwhile.
  void check_is_finite(const std::string& name, const NamedTensor& tensor) const {
    if (!all_finite(tensor.data.data(), static_cast<std::int64_t>(tensor.data.size())))
      throw_diverged(name, training_->state().step);
  }

  static WeightsOfPart weights_of(const StoredModel& model) {
    return [&model](const ModelDescription& part) { return model.weights.of(part); };
  }

  // As it is now, trained or not.
  NamedTensor weight(const std::string& name) const {
    if (!trained_.contains(name)) return night_.bundle.weights.read(name);
    NamedTensor tensor = training_->weight(name);
    check_is_finite(name, tensor);
    return tensor;
  }

  // What was trained goes to the disk at once, so that nothing of it is in memory while it is
  // judged; promoting renames the folder.
  void write_version() {
    const auto incoming = layout_.incoming(spec_.model, file_.version);
    if (training_) training_->end();
    try {
      write_model_folder(incoming, night_.bundle,
                         [&](const std::string& name) { return weight(name); });
    } catch (...) {  // half a version must not keep the room that it lacked
      std::error_code ignored;
      std::filesystem::remove_all(incoming, ignored);
      throw;
    }
    if (training_) training_->release();
    trained_.clear();
    night_.bundle.weights = open_model_folder(incoming).weights;
    release_idle_memory();
  }

  // The next night is to select by what this one measured with its first choice.
  void keep_overhead() const {
    const ProfileInForce* profile = training_->first_profile();
    if (profile && !profile_.overhead) timing_store().save(*profile);
  }

  std::unique_ptr<HeadTraining> make_training() {
    if (!night_.elastic) return plain_training(*night_.trainer);
    settle_rho();
    if (spec_.cache.enabled) night_.elastic->maps = {layout_.job(file_.id), room_for_maps()};
    ElasticPlan plan{night_.head,
                     night_.freeze.trainable_layers,
                     night_.trainer->config(),
                     *night_.elastic,
                     profile_,
                     *night_.probe,
                     night_.trainer->planned_bytes()};
    return elastic_training(std::move(plan), *night_.trainer_kernels);
  }

  // Chosen when training begins and recorded: a resumed night selects the same, whatever is free.
  std::uint64_t room_for_maps() {
    if (!choices_.map_bytes) {
      choices_.map_bytes = moil::room_for_maps(layout_.job(file_.id),
                                               static_cast<std::uint64_t>(file_.cache_quota_bytes));
      files_.save_choices(choices_);
    }
    return *choices_.map_bytes;
  }

  ProfileInForce profile_training() {
    begin(Stage::kProfile, 1);
    ProfileInForce profile = timing_profile(timing_store(), night_);
    progress(Stage::kProfile, 1, 1);
    return profile;
  }

  TimingStore timing_store() const {
    return {layout_.timing_profiles(spec_.model), night_.head, night_.freeze.trainable_layers,
            night_.trainer->config(), thread_count()};
  }

  void save() {
    require_remembered();
    training_->save_checkpoint(files_.checkpoint(), {{"curve", curve_}});
    clock_.add();
    last_save_ = std::chrono::steady_clock::now();
  }

  bool after_step(std::int64_t step, std::int64_t total, double loss) {
    const auto now = std::chrono::steady_clock::now();
    if (stop_ || now - last_save_ >= std::chrono::duration<double>(spec_.train.checkpoint_seconds))
      save();
    if (2 * step >= total) pause_if_asked(Stage::kTrain);
    if (step == total || now - last_progress_ >= std::chrono::milliseconds(200)) {
      last_progress_ = now;
      report_step(step, total, loss);
    }
    return !stop_;
  }

  void report_step(std::int64_t step, std::int64_t total, double loss) {
    const std::int64_t per_epoch = total / spec_.train.epochs;
    daemon::Progress p;
    p.stage = Stage::kTrain;
    p.done = step;
    p.total = total;
    p.epoch = static_cast<int>((step - 1) / per_epoch) + 1;
    p.epochs = spec_.train.epochs;
    p.loss = loss;
    const double per_step = training_->seconds() / static_cast<double>(step);
    if (step >= 10) p.seconds_left = per_step * static_cast<double>(total - step);
    events_.progress(p);
  }

  void after_epoch(const EpochSummary& summary) {
    daemon::CurvePoint point;
    point.epoch = static_cast<int>(summary.epoch);
    point.seconds = summary.seconds;
    point.loss = summary.loss;
    if (spec_.evaluate_every_epoch) {
      const WeightsOfPart weights = [&](const ModelDescription& part) {
        return weights_by_name(part, [&](const std::string& name) { return weight(name); });
      };
      const Judgement now = judge(night_.head, weights, mix_, *reader_, *night_.trainer_kernels);
      point.global = now.global;
      point.local = now.local;
    }
    events_.curve(point);
    Json entry = {{"epoch", point.epoch}, {"seconds", point.seconds}, {"loss", point.loss}};
    entry["global"] = point.global ? Json(*point.global) : Json(nullptr);
    entry["local"] = point.local ? Json(*point.local) : Json(nullptr);
    curve_.push_back(std::move(entry));
  }

  // --- judge ------------------------------------------------------------------------------------
  void judge_models() {
    begin(Stage::kJudge, 2);
    before_ = judge(night_.base_head, weights_of(base_), mix_, *reader_, *night_.trainer_kernels);
    progress(Stage::kJudge, 1, 2);
    pause_if_asked(Stage::kJudge);
    after_ = judge(night_.head, weights_of(night_.bundle), mix_, *reader_, *night_.trainer_kernels);
    progress(Stage::kJudge, 2, 2);
    if (before_.global) accuracies().keep(file_.base_version, *before_.global);
    if (after_.global) accuracies().keep(file_.version, *after_.global);
  }

  // As far as it is known by now.
  Measured measured() const {
    Measured m = counted(mix_);
    m.global = {before_.global, after_.global};
    m.local = {before_.local, after_.local};
    m.anchor = anchor_;
    if (after_.local) m.local_classes = local_classes(mix_, before_, after_);
    return m;
  }

  // --- promote ----------------------------------------------------------------------------------
  // refused: why the new model, where there is one, is kept back.
  void end(const std::optional<std::string>& refused) {
    begin(Stage::kPromote, 1);
    const auto incoming = layout_.incoming(spec_.model, file_.version);
    const auto version = layout_.version(spec_.model, file_.version);
    // Of an attempt whose result was lost, or that learned from what was forgotten; gone before
    // there is a result that it could be taken for.
    std::filesystem::remove_all(version);
    write_result(layout_, file_.id, make_result(refused));
    if (refused) {
      std::filesystem::remove_all(incoming);
    } else {
      pause_if_asked(Stage::kPromote);
      require_remembered();
      rename_durable(incoming, version);
    }
    std::filesystem::remove(files_.checkpoint());
    std::filesystem::remove(files_.soft_targets());
    report(Stage::kPromote, 1, 1);  // what is promoted is no longer stopped
  }

  daemon::JobResult make_result(const std::optional<std::string>& refused) {
    clock_.add();
    daemon::JobResult result;
    result.promoted = !refused;
    result.reason = refused ? *refused : verdict(spec_.guard, measured());
    result.global_before = before_.global;
    result.global_after = after_.global;
    result.local_before = before_.local;
    result.local_after = after_.local;
    result.epochs = night_.trainer ? spec_.train.epochs : 0;
    result.seconds = clock_.total();
    result.details = {
        {"samples",
         {{"global", count_global(mix_)},
          {"local", mix_.train.size() - count_global(mix_)},
          {"global_validation", mix_.global_validation.size()},
          {"local_validation", mix_.local_validation.size()},
          {"left_out", left_out_.size()}}},
        {"left_out", to_json(left_out_, kMostLeftOutTold)},
        {"other_media", data_.other_media()},
        {"freeze",
         {{"trained_units", night_.freeze.trained_units},
          {"units", night_.freeze.total_units},
          {"split", night_.freeze.split}}},
        {"memory", memory_details()},
        {"kernels",
         {{"measured", measuring_.measured()},
          {"untried", measuring_.untried()},
          {"seconds", measuring_.seconds()}}},
        {"stages", clock_.by_stage()},
        {"method",
         spec_.elastic ? Json("elastic") : daemon::to_json(spec_).at("train").at("method")},
        {"train_seconds", training_ ? training_->seconds() : 0.0},
        {"train_cpu_seconds", training_ ? training_->state().cpu_seconds : 0.0},
        {"elastic", training_ ? training_->choices() : Json(nullptr)},
        {"deadline", deadline_details()},
        {"near_duplicates",
         {{"held_out", near_duplicates_.held_out}, {"remark", near_duplicates_.remark()}}},
        {"anchor", anchor_details()},
        {"distilled", soft_targets_.has_value()},
        {"curve", curve_}};
    if (cache_) {
      result.details["cache"] = {
          {"computed", filled_.computed},
          {"reused", filled_.reused},
          {"uncached", filled_.uncached},
          {"feature_bytes", night_.backbone->feature_elements() *
                                (spec_.cache.dtype == daemon::CacheDtype::kBf16 ? 2 : 4)},
          {"model_id", cache::to_hex(cache_model_)}};
    }
    return result;
  }

  // What the guard held global accuracy against, beside the model before the night.
  Json anchor_details() const {
    if (file_.anchor_version == 0) return nullptr;
    Json accuracy;
    if (file_.anchor_version == file_.base_version) {
      if (before_.global) accuracy = *before_.global;
    } else if (anchor_ && anchor_->global) {
      accuracy = *anchor_->global;
    }
    return {{"version", file_.anchor_version}, {"global", std::move(accuracy)}};
  }

  Json deadline_details() const {
    if (!choices_.head) return nullptr;
    return {{"seconds", *spec_.deadline_seconds},
            {"trained_units", choices_.head->trained_units},
            {"rho", choices_.head->rho}};
  }

  Json memory_details() const {
    Json details = {{"predicted_bytes", forecast_.total()},
                    {"measured_bytes", probe_.peak_bytes()},
                    {"baseline_bytes", probe_.baseline_bytes()}};
    if (training_) {
      const NetworkPlan& plan = night_.trainer->network().plan();
      details["training_plan_bytes"] = training_->planned_bytes();
      details["training_peak_bytes"] = training_peak_;
      if (!night_.elastic) details["training_lower_bound_bytes"] = plan.lower_bound_bytes;
      details["micro_batch"] = micro_batch_of(night_.trainer->config());
      details["swap"] = swap_details();
    }
    return details;
  }

  Json swap_details() const {
    if (night_.training_memory.swap.mode == SwapMode::kOff) return nullptr;
    return {{"mode", to_string(night_.training_memory.swap.mode)},
            {"read_bytes", swapped_.read_bytes},
            {"written_bytes", swapped_.written_bytes},
            {"waited_seconds", swapped_.waited_seconds}};
  }

  const daemon::StateLayout& layout_;
  const daemon::JobFile& file_;
  daemon::JobSpec spec_;  // as it was submitted, and as a deadline makes it
  daemon::EventWriter& events_;
  const std::atomic<bool>& stop_;
  NightFiles files_;
  NightChoices choices_;
  StageClock clock_;
  MemoryProbe probe_;
  NightData data_;
  StoredModel base_;
  data::Mix mix_;
  LeftOut left_out_;
  std::unordered_set<data::Digest> global_;  // of the mix
  MeasuringTime measuring_{most_measuring(), [this](double seconds) { after_kernel(seconds); }};
  DecodingNeeds needs_;
  std::unique_ptr<DecodingRoom> room_;
  NightModel night_;
  ProfileInForce profile_;  // of elastic training
  MemoryForecast forecast_;
  std::unique_ptr<cache::FeatureCache> cache_;
  cache::ModelId cache_model_;
  FeatureReader::Filled filled_;
  std::unique_ptr<FeatureReader> reader_;
  std::optional<SoftTargets> soft_targets_;
  std::unique_ptr<HeadTraining> training_;  // null where nothing trains
  std::set<std::string> trained_;           // "LAYER.WEIGHT", while training_ has them
  std::size_t training_peak_ = 0;
  SwapStatistics swapped_;
  NearDuplicates near_duplicates_;
  std::optional<Anchor> anchor_;  // where it is another version than the base
  Judgement before_, after_;
  Json curve_ = Json::array();
  std::chrono::steady_clock::time_point last_save_ = std::chrono::steady_clock::now(),
                                        last_progress_{};
};

// Damage is met again after so many cures: something keeps making it.
constexpr int kMostCures = 3;

void rebuild_cache(const daemon::StateLayout& layout, daemon::EventWriter& events,
                   const std::string& why) {
  cache::discard(layout.cache());
  events.note("the cache of feature maps is built anew: " + why);
}

// A worker that crashed may have met damage that nobody could tell.
void distrust_after_crash(const daemon::StateLayout& layout, std::int64_t job,
                          daemon::EventWriter& events) {
  if (!std::filesystem::exists(layout.job_crashed(job))) return;
  rebuild_cache(layout, events, "the worker before crashed while it used it");
  std::filesystem::remove(layout.job_crashed(job));
}

}  // namespace

// What can be computed again is never the end of a job: where it is damaged it goes, and the night
// goes on from what is left.
bool run_night(const daemon::StateLayout& layout, const daemon::JobFile& file,
               daemon::EventWriter& events, const std::atomic<bool>& stop) {
  if (daemon::finished_result(layout, file.id, file.spec.model, file.version)) return true;
  distrust_after_crash(layout, file.id, events);
  for (int cures = 0;; ++cures) {
    try {
      NightJob(layout, file, events, stop).run();
      return true;
    } catch (const Stopped&) {
      return false;
    } catch (const SampleForgotten& error) {
      NightFiles(layout.job(file.id)).remove_all();
      events.note(std::string(error.what()) + ", which begins anew without it");
    } catch (const cache::Unusable& error) {
      if (cures >= kMostCures) throw;
      rebuild_cache(layout, events, error.what());
    } catch (const DamagedRecord& error) {
      if (cures >= kMostCures) throw;
      NightFiles(layout.job(file.id)).remove_all();
      events.note(std::string("the night begins anew, for a record of it is damaged: ") +
                  error.what());
    }
  }
}

}  // namespace moil::night
