#include "daemon/models/known_symbols.h"

#include "engine/model/surgery.h"

namespace moil::night {

void learn_symbols(StoredModel& model, const std::vector<std::string>& fresh) {
  if (fresh.empty()) return;
  const std::int64_t known = model.kind->symbols();
  model.kind = model.kind->with_symbols(fresh);
  const std::int64_t rows = model.kind->symbols();
  resize_tables(model.description, rows);
  for (const std::string& table : input_tables(model.description))
    model.weights.add_rows(table + ".weight", known, rows);
}

}  // namespace moil::night
