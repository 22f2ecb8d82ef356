// Samples of a moild, and a session with it.
#pragma once

#include <gtest/gtest.h>

#include "daemon/client/desk.h"
#include "daemon/json/base64.h"
#include "tests/daemon/support/test_server.h"

namespace moil::daemon {

using Labels = std::vector<std::string>;

class SamplesTest : public ::testing::Test {
 protected:
  SamplesTest() { session_.socket = moild_.socket(); }

  std::string add(const std::string& content, const Labels& labels = {}) {
    return add_file(test::photo(content), labels, content);
  }
  std::string add_file(const std::string& bytes, const Labels& labels = {},
                       const std::string& name = "") {
    const Json samples = {{{"content", encode_base64(bytes)}, {"name", name}}};
    return test::result_of(moild_.socket(), "label.add",
                           {{"labels", labels}, {"samples", samples}})["samples"][0]["digest"];
  }
  Labels labels_of(const std::string& digest) {
    const Json all = test::result_of(moild_.socket(), "label.samples", {{"limit", 1000}});
    for (const Json& sample : all["samples"])
      if (sample["digest"] == digest) return sample["labels"];
    return {"gone"};
  }
  Labels label_names() {
    Labels names;
    const Json all = test::result_of(moild_.socket(), "label.list");
    for (const Json& label : all["labels"]) names.push_back(label["name"]);
    return names;
  }
  test::TempFolder folder_;
  test::TestServer moild_{folder_ / "state"};
  ClientSession session_;
};

}  // namespace moil::daemon
