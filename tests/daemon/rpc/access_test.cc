// Who may speak to the daemon and in which role: by the configuration, and as other users try it.
#include "daemon/rpc/access.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>

#include "tests/daemon/support/process.h"
#include "tests/daemon/support/test_server.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uid_t kStranger = 54321;  // that no name belongs to

uid_t id_of_nobody() { return 65534; }
gid_t id_of(const char* group) { return ::getgrnam(group)->gr_gid; }

AccessNames none() {
  AccessNames names;
  names.operate.clear();
  return names;
}

TEST(Access, RootAndTheDaemonsOwnUserAreAdministrators) {
  for (const Access& access : {Access(), Access(AccessNames())}) {
    EXPECT_EQ(access.role_of({0, {}}), Role::kAdmin);
    EXPECT_EQ(access.role_of({::geteuid(), {}}), Role::kAdmin);
    EXPECT_EQ(access.role_of({kStranger, {kStranger}}), std::nullopt);
  }
  EXPECT_FALSE(Access().serves_others());
}

TEST(Access, TheHighestRoleOfUserAndGroupsCounts) {
  AccessNames names = none();
  names.read = {"nobody", "@tty"};
  names.label = {"@video"};
  names.admin = {"@tty"};
  const Access access(names);
  EXPECT_EQ(access.role_of({id_of_nobody(), {}}), Role::kRead);
  EXPECT_EQ(access.role_of({id_of_nobody(), {id_of("video")}}), Role::kLabel);
  EXPECT_EQ(access.role_of({kStranger, {id_of("video"), id_of("tty")}}), Role::kAdmin);
  EXPECT_EQ(access.role_of({kStranger, {id_of("audio")}}), std::nullopt);
  EXPECT_TRUE(access.unknown().empty());
  EXPECT_EQ(access.only_group(), std::nullopt);
}

TEST(Access, NamesThatNobodyBearsAreTold) {
  AccessNames names = none();
  names.label = {"no-such-user", "@no-such-group", "@video"};
  const Access access(names);
  EXPECT_THAT(access.unknown(), ElementsAre("label: no-such-user", "label: @no-such-group"));
  EXPECT_EQ(access.only_group(), id_of("video"));
}

TEST(AccessConfig, WhatIsNoNameIsAnError) {
  for (const char* name : {"", "@", "two words", "a,b", "@a:b"}) {
    const std::string text = Json{{"access", {{"label", {name}}}}}.dump();
    EXPECT_THROW((void)parse_config(text, "moild.json"), ValidationError) << name;
  }
  EXPECT_THROW((void)parse_config(R"({"access": {"labels": []}})", "moild.json"), ValidationError);
}

mode_t mode_of(const fs::path& file) {
  struct stat info {};
  EXPECT_EQ(::stat(file.c_str(), &info), 0);
  return info.st_mode & 0777U;
}

// Does `work` in a process of that user and group; what it wrote of it.
struct As {
  uid_t user;
  gid_t group;
  std::vector<gid_t> others;
  int status_of(const std::vector<std::string>& command, std::string& err) const;
};

int As::status_of(const std::vector<std::string>& command, std::string& err) const {
  std::vector<std::string> words = {"/usr/bin/setpriv", "--reuid=" + std::to_string(user),
                                    "--regid=" + std::to_string(group)};
  std::string list;
  for (const gid_t other : others) list += (list.empty() ? "" : ",") + std::to_string(other);
  words.push_back(list.empty() ? "--clear-groups" : "--groups=" + list);
  words.insert(words.end(), command.begin(), command.end());
  const Finished end = run_program(words);
  err = end.err;
  return end.status;
}

class AccessOfOthers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can try what other users may do";
    if (!fs::exists("/usr/bin/setpriv")) GTEST_SKIP() << "setpriv is missing";
    fs::permissions(folder_.path(), fs::perms(0755));
    fs::copy_file(MOILCTL, folder_ / "moilctl");  // the build may lie where others cannot enter
    fs::permissions(folder_ / "moilctl", fs::perms(0755));
  }
  int moilctl(const As& who, std::vector<std::string> words, const fs::path& socket) {
    words.insert(words.begin(), {(folder_ / "moilctl").string(), "--socket", socket.string()});
    return who.status_of(words, err_);
  }

  TempFolder folder_;
  std::string err_;
};

TEST_F(AccessOfOthers, WhoIsNotNamedIsNotServed) {
  Config config = quick_config();
  config.access = none();
  const TestServer server(folder_ / "state", config);
  EXPECT_EQ(mode_of(server.socket()), 0600U);
  EXPECT_EQ(moilctl({kStranger, kStranger, {}}, {"status"}, server.socket()), EX_NOPERM);
  EXPECT_THAT(err_, HasSubstr("54321 may not speak to moild"));
}

TEST_F(AccessOfOthers, AGroupGetsTheSocketAndItsRoleAndNoMore) {
  Config config = quick_config();
  config.access = none();
  config.access.label = {"@video"};
  const TestServer server(folder_ / "state", config);
  EXPECT_EQ(mode_of(server.socket()), 0660U);
  const As member{kStranger, kStranger, {id_of("video")}};
  EXPECT_EQ(moilctl(member, {"label", "list"}, server.socket()), EX_OK) << err_;
  EXPECT_EQ(moilctl(member, {"model", "rm", "digits", "1", "--yes"}, server.socket()), EX_NOPERM);
  EXPECT_THAT(err_, HasSubstr("model.rm needs the role \"admin\"; user 54321 has \"label\""));
  EXPECT_THAT(err_, HasSubstr("\"access\": {\"admin\": [...]}"));
  EXPECT_EQ(moilctl({kStranger, kStranger, {}}, {"status"}, server.socket()), EX_NOPERM);
}

TEST_F(AccessOfOthers, AUserAndAGroupAndTheRestIsTurnedAway) {
  Config config = quick_config();
  config.access = none();
  config.access.read = {"nobody"};
  config.access.label = {"@video"};
  const TestServer server(folder_ / "state", config);
  EXPECT_EQ(mode_of(server.socket()), 0666U);
  EXPECT_EQ(moilctl({id_of_nobody(), id_of_nobody(), {}}, {"status"}, server.socket()), EX_OK)
      << err_;
  EXPECT_EQ(moilctl({kStranger, id_of("video"), {}}, {"label", "list"}, server.socket()), EX_OK)
      << err_;
  EXPECT_EQ(moilctl({kStranger, kStranger, {}}, {"status"}, server.socket()), EX_NOPERM);
  EXPECT_THAT(err_, HasSubstr("moild does not serve you"));
}

TEST(AccessRoles, EveryMethodTellsItsRoleAndTheClientsOwn) {
  const TempFolder folder;
  const TestServer server(folder / "state");
  const Json reply = result_of(server.socket(), "system.methods");
  EXPECT_EQ(reply["role"], "admin");
  std::map<std::string, std::string> roles;
  for (const Json& method : reply["methods"]) roles[method["name"]] = method["role"];
  EXPECT_EQ(roles["system.status"], "read");
  EXPECT_EQ(roles["label.add"], "label");
  EXPECT_EQ(roles["job.submit"], "operate");
  EXPECT_EQ(roles["model.import"], "admin");
}

}  // namespace
}  // namespace moil::daemon::test
