#include "daemon/ctl/labels/sample_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/scratch_folder.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SampleList : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string why_not(const std::string& name, const std::string& text) const {
    try {
      (void)read_sample_list(write(name, text));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  const moil::test::ScratchFolder folder_;
};

const std::vector<ListedSample> kSamples = {
    {"files/a, \"b\".jpg", {"cat; big", "pet"}, "train"}, {"c.jpg", {}, ""}, {"d", {"x"}, "val"}};

TEST_F(SampleList, IsReadAsItWasWritten) {
  write("one.csv", csv_of(kSamples));
  write("one.jsonl", json_lines_of(kSamples));
  for (const char* name : {"one.csv", "one.jsonl"}) {
    const auto read = read_sample_list(folder_ / name);
    ASSERT_EQ(read.size(), kSamples.size()) << name;
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].file, folder_ / kSamples[i].file) << name;
      EXPECT_EQ(read[i].labels, kSamples[i].labels) << name;
      EXPECT_EQ(read[i].split, kSamples[i].split) << name;
    }
  }
}

TEST_F(SampleList, WhatIsWrongIsToldWithItsLine) {
  EXPECT_THAT(why_not("a.csv", "name,label\n"), HasSubstr("line 1: expected \"file,label,split\""));
  EXPECT_THAT(why_not("a.csv", "file,label,split\na,b\n"), HasSubstr("line 2: 2 fields"));
  EXPECT_THAT(why_not("a.csv", "file,label,split\na,b,val\na,c,train\n"),
              HasSubstr("line 3: a has another split"));
  EXPECT_THAT(why_not("a.jsonl", "{\"file\": \"a\"}\n{\"labels\": []}\n"), HasSubstr("line 2"));
  EXPECT_THAT(why_not("a.txt", ""), HasSubstr("ends in .csv or .jsonl"));
  EXPECT_THROW((void)read_sample_list(folder_ / "none.csv"), Error);
}

}  // namespace
}  // namespace moil::daemon::ctl
