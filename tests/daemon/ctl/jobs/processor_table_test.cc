#include "daemon/ctl/jobs/processor_table.h"

#include <gtest/gtest.h>

#include "base/json/json.h"

namespace moil::daemon::ctl {
namespace {

TEST(ProcessorTable, LayersThenSelectionsThenWhatIsRefused) {
  const auto told = parsed_json(R"({"device": "a board", "method": "path",
      "layers": [{"name": "conv", "type": "conv2d", "processors": "GCG",
                  "FP": {"c": 0.004, "g": 0.001}, "BP": {"c": 0.006, "g": 0.008},
                  "UP": {"c": 0.001, "g": null}},
                 {"name": "pool", "type": "max_pool", "processors": "C",
                  "FP": {"c": 0.0005, "g": 0.25}},
                 {"name": "input", "type": "input", "processors": ""}],
      "methods": {"cpu": {"seconds": 0.0115, "transfers": 0},
                  "opencl": {"seconds": 0.26, "transfers": 3},
                  "path": {"seconds": 0.0085, "transfers": 2}},
      "refused": ["conv2d 3x3: out of resources"]})");
  EXPECT_EQ(
      processor_table(told),
      "layer, ms on CPU | other               FP                      BP                    "
      "  UP                     \n"
      "conv                             GCG        4.000 |      1.000      6.000 |      8.000 "
      "     1.000 |          -\n"
      "pool                             C          0.500 |    250.000                        "
      "                        \n"
      "\n"
      "selection       ms a step  transfers\n"
      "opencl            260.000          3\n"
      "cpu                11.500          0\n"
      "path                8.500          2  <\n"
      "the driver refuses conv2d 3x3: out of resources\n");
}

}  // namespace
}  // namespace moil::daemon::ctl
