#include "daemon/review/address_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"

namespace fs = std::filesystem;

namespace moil::review {
namespace {

TEST(AddressFile, IsForItsUserAloneAndGoes) {
  fs::path path;
  {
    const AddressFile file("http://127.0.0.1:8080/#abc");
    path = file.path();
    EXPECT_THAT(read_text(path), ::testing::HasSubstr("url=http://127.0.0.1:8080/#abc\""));
    for (const fs::path& part : {path, path.parent_path()})
      EXPECT_EQ(fs::status(part).permissions() & fs::perms(0077), fs::perms::none) << part;
  }
  EXPECT_FALSE(fs::exists(path.parent_path()));
}

}  // namespace
}  // namespace moil::review
