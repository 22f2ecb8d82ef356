#include "daemon/models/version_identity.h"

#include <algorithm>
#include <fstream>

#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

const NumberImages kShipped({"a", "b", "c"}, 8);
const NumberImages kOwn({"b", "x", "y"}, 8, 1000);

data::Mix draw_mix(std::uint64_t seed = 7) { return data::mix(kShipped, kOwn, {}, 0.5, seed); }

TEST(DataIdentity, IsThatOfTheSamplesAndTheirLabelsInAnyOrder) {
  const data::Mix mix = draw_mix();
  const nlohmann::json identity = data_identity(mix);
  EXPECT_EQ(identity["local"]["samples"].get<std::size_t>() +
                identity["global"]["samples"].get<std::size_t>(),
            mix.train.size());
  EXPECT_EQ(identity["local"]["held_out"], mix.local_validation.size());
  data::Mix turned = mix;
  std::ranges::reverse(turned.train);
  EXPECT_EQ(data_identity(turned), identity);
  data::Mix relabelled = mix;
  const auto local = std::ranges::find_if(relabelled.train, [](const data::MixedSample& s) {
    return s.ref.source == data::Source::kLocal;
  });
  local->labels[0] = local->labels[0] == 0 ? 1 : 0;
  EXPECT_NE(data_identity(relabelled)["local"]["digest"], identity["local"]["digest"]);
  EXPECT_EQ(data_identity(relabelled)["global"], identity["global"]);
  EXPECT_EQ(data_identity(relabelled)["held_out"], identity["held_out"]);
}

TEST(WeightsIdentity, IsThatOfTheFile) {
  const TempFolder temp;
  const auto digest_of = [&](const std::string& content) {
    std::ofstream(temp / "weights.safetensors", std::ios::binary) << content;
    return weights_identity(temp / ".");
  };
  const std::string large(3 << 20, 'w');
  EXPECT_EQ(digest_of(large), digest_of(large));
  EXPECT_NE(digest_of(large), digest_of(large + "w"));
  std::filesystem::remove(temp / "weights.safetensors");
  EXPECT_EQ(error_of([&] { (void)weights_identity(temp / "."); }), ErrorCode::kIo);
}

TEST(WithdrawnBefore, NamesTheVersion) {
  daemon::JobFile job;
  job.withdrawn = {{3, "aa"}, {5, "bb"}};
  EXPECT_FALSE(withdrawn_before(job, "cc"));
  const auto why = withdrawn_before(job, "bb");
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("version 5 again"), std::string::npos) << *why;
}

}  // namespace
}  // namespace moil::night
