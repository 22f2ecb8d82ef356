// Errors that a test expects.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace moil::test {

// The text of the error of this code that `action` throws; "" if it throws none.
template <class Action>
std::string error_of(const Action& action, ErrorCode code = ErrorCode::kInvalidArgument) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  return "";
}

// Runs `action`, which must throw an Error of that code whose text has `part`.
template <class Action>
void expect_error(ErrorCode code, const std::string& part, const Action& action) {
  const std::string text = error_of(action, code);
  EXPECT_NE(text, "") << "no error; expected one with \"" << part << "\"";
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace moil::test
