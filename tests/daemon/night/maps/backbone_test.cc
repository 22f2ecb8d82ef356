#include "daemon/night/maps/backbone.h"

#include <gmock/gmock.h>

#include <tuple>
#include <vector>

#include "engine/kernels/parallel.h"
#include "engine/model/initial_weights.h"
#include "engine/plan/selection_problem.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

constexpr std::int64_t kBatch = 3;

// A 3x3, a depthwise, a pointwise and a strided convolution, and a fully connected layer that is
// trained: enough of a map for its bits to tell who computed it.
ModelDescription model() {
  return parse_model(R"({"format":"moil-model","version":1,"name":"m",
    "inputs":[{"name":"image","dims":[3,24,24]}],
    "layers":[
     {"name":"c1","type":"conv2d","inputs":["image"],"properties":{"out_channels":16,"kernel":3,"padding":1}},
     {"name":"r1","type":"relu6","inputs":["c1"]},
     {"name":"c2","type":"conv2d","inputs":["r1"],"properties":{"out_channels":16,"kernel":3,"padding":1,"groups":16}},
     {"name":"c3","type":"conv2d","inputs":["c2"],"properties":{"out_channels":32,"kernel":1}},
     {"name":"n3","type":"batch_norm","inputs":["c3"]},
     {"name":"r3","type":"relu","inputs":["n3"]},
     {"name":"c4","type":"conv2d","inputs":["r3"],"properties":{"out_channels":32,"kernel":3,"padding":1,"stride":2}},
     {"name":"flat","type":"flatten","inputs":["c4"]},
     {"name":"classifier","type":"fully_connected","inputs":["flat"],"properties":{"units":3}}],
    "outputs":["classifier"]})");
}

// Says whether it was asked for anything.
class CountedProcessor : public Processor {
 public:
  explicit CountedProcessor(std::shared_ptr<Processor> processor) : real_(std::move(processor)) {}
  std::string_view name() const override { return real_->name(); }
  std::string device() const override { return real_->device(); }
  bool is_the_cpu() const override { return real_->is_the_cpu(); }
  bool shares_memory() const override { return real_->shares_memory(); }
  std::size_t alignment() const override { return real_->alignment(); }
  std::unique_ptr<ProcessorStep> make_step(const Operation& operation, StepKind kind) override {
    auto step = real_->make_step(operation, kind);
    steps += step ? 1 : 0;
    return step;
  }
  void update(ProcessorMemory& memory, const SgdCoefficients& k,
              const UpdateRanges& ranges) override {
    real_->update(memory, k, ranges);
  }
  void update(ProcessorMemory& memory, const AdamCoefficients& k,
              const UpdateRanges& ranges) override {
    real_->update(memory, k, ranges);
  }
  std::unique_ptr<ProcessorMemory> attach(std::span<std::byte> pool, std::size_t device_bytes,
                                          std::span<const MemoryRange> ranges) override {
    return real_->attach(pool, device_bytes, ranges);
  }

  int steps = 0;

 private:
  std::shared_ptr<Processor> real_;
};

class BackboneTest : public ::testing::Test {
 protected:
  struct Made {
    std::vector<float> maps;
    std::string fingerprint;
  };

  ~BackboneTest() override { set_thread_count(before_); }

  static std::vector<float> images_for(const Backbone& backbone) {
    std::vector<float> images(2 * kBatch * backbone.input_elements());
    for (std::size_t i = 0; i < images.size(); ++i)
      images[i] = static_cast<float>(i * 7919 % 1013) / 500.0F - 1.0F;
    return images;
  }

  Backbone backbone(KernelSelector& kernels) const {
    return {model_, [&](const ModelDescription& part) { return weights_of(part, weights_); },
            freeze_all_but_last(model_, 1), kBatch, kernels};
  }

  Made make(int threads, const KernelSelector::Options& options,
            const KernelChoices& choices = {}) {
    set_thread_count(threads);
    KernelSelector kernels(options, choices);
    Backbone net = backbone(kernels);
    const std::vector<float> images = images_for(net);
    Made made{std::vector<float>(2 * kBatch * net.feature_elements()), net.fingerprint()};
    net.allocate();
    net.run(images.data(), 2 * kBatch, made.maps.data());
    choices_ = kernels.choices();
    return made;
  }

  ModelDescription model_ = model();
  WeightMap weights_ = initial_weights(build_graph(model_, 1), 3);
  KernelChoices choices_;
  int before_ = thread_count();
};

KernelSelector::Options unmeasured(std::vector<std::string> providers = {}) {
  KernelSelector::Options options;
  options.measure = false;
  options.providers = std::move(providers);
  return options;
}

// All kernels that there are for the first convolution, with every number of threads: maps of the
// same bits are found by each other's fingerprint, and no others are.
TEST_F(BackboneTest, TheFingerprintIsTheSameWhereTheBitsAre) {
  (void)make(1, unmeasured());
  const KernelChoices first = choices_;
  std::vector<std::tuple<std::string, int, Made>> all;
  for (const auto& [key, name] : first) {
    for (const char* other : {"native/gemm", "native/depthwise", "onednn/direct",
                              "onednn/direct-blocked", "onednn/winograd"}) {
      KernelChoices choices = first;
      choices[key] = other;
      for (const int threads : {1, 2, 3, 4}) {
        try {
          all.emplace_back(key + "=" + other, threads, make(threads, unmeasured(), choices));
        } catch (const Error&) {  // a kernel that is not for this shape, or not in this build
        }
      }
    }
  }
  ASSERT_GE(all.size(), 16U);
  for (const auto& [what_a, threads_a, a] : all) {
    for (const auto& [what_b, threads_b, b] : all) {
      EXPECT_EQ(a.maps == b.maps, a.fingerprint == b.fingerprint)
          << what_a << " by " << threads_a << ", " << what_b << " by " << threads_b;
    }
  }
}

// By construction: each value is summed by one thread, in one order.
TEST_F(BackboneTest, OwnKernelsMakeTheSameBitsByAnyNumberOfThreads) {
  const Made one = make(1, unmeasured({"native"}));
  for (const int threads : {2, 3, 5}) {
    const Made more = make(threads, unmeasured({"native"}));
    EXPECT_EQ(more.maps, one.maps) << threads;
    EXPECT_EQ(more.fingerprint, one.fingerprint) << threads;
  }
}

TEST_F(BackboneTest, KernelsThatWereChosenStayForOtherThreads) {
  (void)make(1, KernelSelector::Options{});
  const KernelChoices measured = choices_;
  set_thread_count(3);
  KernelSelector again(unmeasured(), {}, measured);
  (void)backbone(again);
  EXPECT_EQ(again.choices(), measured);
}

TEST_F(BackboneTest, WhereAnAnswerTellsNothingKernelsAndThreadsDo) {
  for (auto& [name, tensor] : weights_) std::fill(tensor.data.begin(), tensor.data.end(), 0.0F);
  EXPECT_NE(make(1, unmeasured()).fingerprint, make(2, unmeasured()).fingerprint);
}

TEST_F(BackboneTest, OtherWeightsHaveAnotherFingerprint) {
  const auto networks = [&] {
    KernelSelector kernels(unmeasured());
    Backbone net = backbone(kernels);
    return std::pair(net.network_fingerprint(), net.fingerprint());
  };
  const auto before = networks();
  weights_.at("c4.bias").data[0] += 1;
  const auto after = networks();
  EXPECT_NE(before.first, after.first);
  EXPECT_NE(before.second, after.second);
  EXPECT_FALSE(before.first.empty());
}

// As the CPU does, to rounding; the same bits in every batch and at every place of it.
TEST_F(BackboneTest, AnotherProcessorMakesMapsOfItsOwn) {
  std::shared_ptr<Processor> processor;
  try {
    processor = open_processor("opencl");
  } catch (const ProcessorError& error) {
    GTEST_SKIP() << error.what();
  }
  const Made cpu = make(1, unmeasured());
  KernelSelector kernels(unmeasured());
  Backbone net = backbone(kernels);
  const auto counted = std::make_shared<CountedProcessor>(processor);
  net.place({counted}, everything_on(kSecondProcessor, build_graph(net.inference_model(), kBatch)));
  const std::size_t map = net.feature_elements();
  const std::vector<float> images = images_for(net);
  std::vector<float> maps(cpu.maps.size()), single(map);
  EXPECT_GT(counted->steps, 0);
  EXPECT_THAT(net.arithmetic(), ::testing::HasSubstr(processor->device()));
  net.allocate();
  net.run(images.data(), 2 * kBatch, maps.data());
  EXPECT_EQ(maps == cpu.maps, net.fingerprint() == cpu.fingerprint);
  for (std::size_t i = 0; i < maps.size(); ++i)
    ASSERT_NEAR(maps[i], cpu.maps[i], 1e-4 * std::max(1.0F, std::abs(cpu.maps[i])));
  for (std::size_t i = 0; i < static_cast<std::size_t>(2 * kBatch); ++i) {
    net.run(images.data() + i * net.input_elements(), 1, single.data());
    EXPECT_TRUE(std::equal(single.begin(), single.end(), maps.begin() + static_cast<long>(i * map)))
        << i;
  }
}

// What a caller knows is taken, and nothing is computed for it.
TEST_F(BackboneTest, AKnownAnswerIsTaken) {
  KernelSelector kernels(unmeasured());
  const Freeze freeze = freeze_all_but_last(model_, 1);
  int asked = 0;
  const WeightsOfPart weights = [&](const ModelDescription& part) {
    ++asked;
    return weights_of(part, weights_);
  };
  Backbone backbone(model_, weights, freeze, kBatch, kernels);
  const int planned = asked;
  backbone.take_answer("known");
  EXPECT_EQ(backbone.answer(), "known");
  EXPECT_THAT(backbone.fingerprint(), ::testing::EndsWith("known"));
  EXPECT_EQ(asked, planned);
}

}  // namespace
}  // namespace moil::night
