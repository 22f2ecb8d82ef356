#include <gmock/gmock.h>

#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"
#include "tests/engine/model/models.h"
#include "tests/engine/model/realizers/support.h"

namespace moil {
namespace {

using test::ModelBuilder;
using ::testing::HasSubstr;

TEST(RecurrentRealizerTest, RefusesWhatItCannotUnroll) {
  for (const char* type : {"rnn", "lstm", "gru", "lstm_cell"}) {
    const ModelDescription model = ModelBuilder({5, 4}).layer(type, {}, {}, "memory").model();
    for (const auto& pass : {realize_recurrent, complete_model}) {
      EXPECT_THAT(test::error_of([&] { (void)pass(model); }, ErrorCode::kUnimplemented),
                  ::testing::AllOf(HasSubstr("\"memory\""), HasSubstr(type),
                                   HasSubstr("no sequence models")));
    }
  }
}

TEST(RecurrentRealizerTest, LeavesOthersAlone) {
  const ModelDescription model = test::residual_model();
  EXPECT_EQ(test::equations(realize_recurrent(model)), test::equations(model));
}

}  // namespace
}  // namespace moil
