// Labels that differ in case alone from some that are there: moild refuses them, and a person is
// asked which of them is meant.
#pragma once

#include <map>
#include <span>
#include <string>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

class Spelling {
 public:
  // as_spelled: they are other labels; nobody is asked.
  explicit Spelling(bool as_spelled = false) : as_spelled_(as_spelled) {}

  // Calls a method that takes labels as the parameter `member`, a list or one; what was answered
  // once holds for the calls that follow. kAlreadyExists, with the words that help, if there is
  // nobody to ask.
  Json call(Session& session, const std::string& method, Json params, const std::string& member,
            std::span<const int> files = {});

 private:
  void put(Json& label, Json& params) const;
  void ask(Session& session, const std::string& given, const std::string& there);

  bool as_spelled_;
  std::map<std::string, std::string> meant_;  // by what was given
};

// The flag that says so.
void add_as_spelled(const cli::Command& command, bool& as_spelled);

}  // namespace moil::daemon::ctl
