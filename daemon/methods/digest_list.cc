#include "daemon/methods/digest_list.h"

#include "base/error.h"
#include "daemon/json/fields.h"

namespace moil::daemon {

std::vector<data::Digest> checked_digests(const std::vector<std::string>& texts, std::size_t most,
                                          const std::string& member, const std::string& what) {
  FieldErrors errors;
  if (texts.empty() || texts.size() > most)
    errors.push_back({"/" + member, "expected 1 to " + std::to_string(most) + " digests, found " +
                                        std::to_string(texts.size())});
  std::vector<data::Digest> digests;
  for (std::size_t i = 0; i < texts.size() && errors.empty(); ++i) {
    try {
      digests.push_back(data::Digest::from_hex(texts[i]));
    } catch (const Error& error) {
      errors.push_back({"/" + member + "/" + std::to_string(i), error.what()});
    }
  }
  if (!errors.empty()) throw ValidationError(what, std::move(errors));
  return digests;
}

}  // namespace moil::daemon
