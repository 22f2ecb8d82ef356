// Attention as one layer against attention made of small ones: the same network in less memory.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/model/models.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

using Ints = std::vector<std::int64_t>;

struct EncoderSize {
  std::int64_t length = 6, width = 8, heads = 2, inner = 12, blocks = 2, batch = 3;
};

// The small layers of a block's attention: "inN" is the product for query, key and value, "outN"
// the last one.
void add_small_layers(test::ModelBuilder& b, const EncoderSize& s, const std::string& n) {
  const std::int64_t depth = s.width / s.heads;
  const std::string plain = "plain";
  b.layer("fully_connected", {{"units", 3 * s.width}}, {}, "in" + n);
  b.layer("reshape", {{"dims", Ints{s.length, 3, s.heads, depth}}});
  const std::string all = b.layer("permute", {{"order", Ints{0, 2, 3, 1, 4}}}).last();
  std::vector<std::string> parts;
  for (std::int64_t i = 0; i < 3; ++i) {
    b.layer("slice", {{"start", i}, {"length", std::int64_t{1}}}, {all});
    b.layer("reshape", {{"dims", Ints{s.heads, s.length, depth}}, {"layout", plain}});
    parts.push_back(b.last());
  }
  b.layer("matmul", {{"transpose_b", true}}, {parts[0], parts[1]});
  b.layer("scale", {{"factor", 1 / std::sqrt(static_cast<double>(depth))}}).layer("softmax");
  b.layer("matmul", {}, {b.last(), parts[2]});
  b.layer("permute", {{"order", Ints{0, 2, 1, 3}}, {"layout", plain}});
  b.layer("reshape", {{"dims", Ints{s.length, s.width}}});
  b.layer("fully_connected", {{"units", s.width}}, {}, "out" + n);
}

enum class Attention { kSmallLayers, kFused, kFusedKept };

ModelDescription encoder(Attention attention, const EncoderSize& s) {
  test::ModelBuilder b({s.length, s.width});
  b.layer("positional_encoding").fc(s.width);
  for (std::int64_t block = 0; block < s.blocks; ++block) {
    const std::string n = std::to_string(block);
    std::string skip = b.last();
    b.layer("layer_norm");
    if (attention == Attention::kSmallLayers)
      add_small_layers(b, s, n);
    else
      b.layer("multi_head_attention",
              {{"heads", s.heads}, {"head_by_head", attention == Attention::kFused}}, {},
              "attention" + n);
    skip = b.layer("add", {}, {skip, b.last()}).last();
    b.layer("layer_norm").fc(s.inner).layer("relu").fc(s.width);
    b.layer("add", {}, {skip, b.last()});
  }
  return b.layer("layer_norm").fc(5).model();
}

// A weight of the fused layer, by its name among the small ones.
std::string small_name(std::string name) {
  if (!name.starts_with("attention")) return name;
  const std::size_t dot = name.find('.');
  const std::string n = name.substr(9, dot - 9);
  const std::string layer = name.substr(dot + 1).starts_with("in") ? "in" : "out";
  return layer + n + (name.ends_with("weight") ? ".weight" : ".bias");
}

struct Answer {
  float loss = 0;
  std::map<std::string, std::vector<float>> gradients;  // by the names of the small layers
};

class Encoder {
 public:
  explicit Encoder(Attention attention, const EncoderSize& size = {})
      : model_(encoder(attention, size)),
        prepared_(test::prepared(model_)),
        options_(test::training_options(model_, size.batch)),
        batch_(size.batch) {}

  NetworkOptions& options() { return options_; }

  WeightMap weights() const {
    WeightMap of_small = test::random_weights(encoder(Attention::kSmallLayers, {}), 7), weights;
    for (const std::string& name : options_.plan.trainable)
      weights[name] = of_small.at(small_name(name));
    return weights;
  }

  Answer step() const {
    KernelSelector kernels = test::fixed_kernels();
    Network network(prepared_, options_, kernels);
    network.allocate();
    network.load(weights());
    const Dims& target = network.input_info(1).dims;
    const auto x = test::random_values(network.input_info(0).dims.elements(), 1);
    const auto y = test::one_hot_rows(target.elements() / target.back(), target.back(), 2);
    std::copy(x.begin(), x.end(), network.input(0));
    std::copy(y.begin(), y.end(), network.input(1));
    test::GradientRecorder recorder;
    network.train_step(0, &recorder);
    Answer answer{network.output(0)[0], {}};
    for (auto& [name, gradient] : recorder.gradients)
      answer.gradients[small_name(name)] = std::move(gradient);
    return answer;
  }

  std::size_t planned_bytes() const {
    KernelSelector kernels = test::fixed_kernels();
    return plan_network(build_graph(prepared_, batch_), options_.plan, kernels).memory.total_bytes;
  }

 private:
  ModelDescription model_, prepared_;
  NetworkOptions options_;
  std::int64_t batch_;
};

TEST(AttentionTest, OneLayerIsTheSmallOnes) {
  const Answer small = Encoder(Attention::kSmallLayers).step();
  for (const Attention attention : {Attention::kFused, Attention::kFusedKept}) {
    const Answer fused = Encoder(attention).step();
    EXPECT_NEAR(fused.loss, small.loss, 1e-5);
    ASSERT_EQ(fused.gradients.size(), small.gradients.size());
    for (const auto& [name, expected] : small.gradients) {
      const auto& actual = fused.gradients.at(name);
      ASSERT_EQ(actual.size(), expected.size()) << name;
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], 1e-5) << name << " " << i;
    }
  }
}

TEST(AttentionTest, NeitherSharingNorSwapNorOutputsMadeAgainChangeABit) {
  const test::ScratchFolder folder;
  for (const Attention attention : {Attention::kFused, Attention::kFusedKept}) {
    Encoder encoder(attention);
    const Answer expected = encoder.step();
    const auto expect_same = [&](const char* what) {
      const Answer answer = encoder.step();
      EXPECT_EQ(answer.loss, expected.loss) << what;
      EXPECT_EQ(answer.gradients, expected.gradients) << what;
    };
    encoder.options().plan.share_memory = false;
    expect_same("without sharing");
    encoder.options().plan.share_memory = true;
    encoder.options().plan.again = {"attention0",  "attention1", "layer_norm0",
                                    "layer_norm2", "add0",       "add1"};
    expect_same("made again");
    encoder.options().plan.again = {};
    encoder.options().swap_folder = folder.path();
    encoder.options().plan.swap.smallest_bytes = 1;
    encoder.options().plan.swap.mode = SwapMode::kProactive;
    expect_same("swapped");
  }
}

// Width 512, 8 heads, length 64 and batch 8: attention alone, and an encoder as the paper's.
TEST(AttentionTest, OneLayerTakesLessMemory) {
  for (const auto& [name, inner, blocks] :
       {std::tuple{"attention", 16, 1}, std::tuple{"encoder", 2048, 6}}) {
    const EncoderSize size{64, 512, 8, inner, blocks, 8};
    const auto megabytes = [&](Attention attention) {
      return static_cast<double>(Encoder(attention, size).planned_bytes()) / (1 << 20);
    };
    const double small = megabytes(Attention::kSmallLayers),
                 kept = megabytes(Attention::kFusedKept), fused = megabytes(Attention::kFused);
    RecordProperty(name, std::to_string(small) + " MiB of small layers, " + std::to_string(kept) +
                             " with all heads kept, " + std::to_string(fused) + " head by head");
    EXPECT_LE(kept, small) << name;
    EXPECT_LT(fused, kept) << name;
  }
}

}  // namespace
}  // namespace moil
