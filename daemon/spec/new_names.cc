#include "daemon/spec/new_names.h"

#include "daemon/spec/job_spec.h"
#include "datasets/labels/text.h"

namespace moil::daemon {

std::optional<std::string> check_new_name(const std::string& name) {
  if (name.starts_with('-')) return "must not start with '-', found \"" + name + "\"";
  return check_name(name);
}

std::optional<std::string> check_new_title(const std::string& title) {
  if (title.starts_with('-'))
    return "must not start with '-', found \"" + data::shown(title) + "\"";
  const auto wrong = data::unfit_characters(title);
  if (wrong.empty()) return std::nullopt;
  return "\"" + data::shown(title) + "\" " + std::string(wrong);
}

}  // namespace moil::daemon
