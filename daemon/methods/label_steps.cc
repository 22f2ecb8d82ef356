#include "daemon/methods/label_steps.h"

#include <memory>

#include "daemon/service/service.h"

namespace moil::daemon {

void change_labels(Service& service, std::vector<data::Digest> samples, const Responder& responder,
                   std::function<Json()> change) {
  const auto note = [&service, samples = std::move(samples), responder](Json reply,
                                                                        const RpcError* error) {
    if (error != nullptr) return responder.error(*error);
    service.canaries.corrected(samples, [responder, reply](const std::exception_ptr& failure) {
      failure ? responder.error(rpc_error(failure)) : responder.result(reply);
    });
  };
  answer_in_background(service.background, Responder(note, responder.user()), std::move(change));
}

}  // namespace moil::daemon
