#include "daemon/ctl/labels/sample_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace moil::daemon::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json store() {
  const auto sample = [](const char* digest, const char* name) {
    return Json{{"digest", digest}, {"name", name}, {"labels", Json::array()}};
  };
  return {sample("8a9aad4557afdebf43e01945920700c9", "/home/ann/Photos/cat/beach.jpg"),
          sample("8a9aff0000afdebf43e01945920700c9", "/home/ann/Photos/dog/beach.jpg"),
          sample("00ffad4557afdebf43e01945920700c9", "sea.jpg"),
          sample("abcdad4557afdebf43e01945920700c9", "")};
}

std::vector<std::string> called(const std::string& given) {
  std::vector<std::string> digests;
  for (const Json& sample : samples_called(store(), given))
    digests.push_back(sample["digest"].get<std::string>().substr(0, 6));
  return digests;
}

TEST(SampleNames, ANameIsTheEndOfAPath) {
  EXPECT_THAT(called("sea.jpg"), ElementsAre("00ffad"));
  EXPECT_THAT(called("./cat/beach.jpg"), ElementsAre("8a9aad"));
  EXPECT_THAT(called("/home/ann/Photos/dog/beach.jpg"), ElementsAre("8a9aff"));
  EXPECT_THAT(called("beach.jpg"), ElementsAre("8a9aad", "8a9aff"));
  for (const char* none : {"each.jpg", "a.jpg", "beach", "Photos/cat", "", "/sea.jpg"})
    EXPECT_THAT(called(none), IsEmpty()) << none;
}

TEST(SampleNames, ADigestIsKnownByItsFirstDigits) {
  EXPECT_THAT(called("8a9aa"), ElementsAre("8a9aad"));
  EXPECT_THAT(called("ABCD"), ElementsAre("abcdad"));
  EXPECT_THAT(called("8a9a"), ElementsAre("8a9aad", "8a9aff"));
  for (const char* none : {"8a9", "9aad", "8a9g", "8a9aad4557afdebf43e01945920700c9a"})
    EXPECT_THAT(called(none), IsEmpty()) << none;
}

}  // namespace
}  // namespace moil::daemon::ctl
