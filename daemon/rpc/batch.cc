#include "daemon/rpc/batch.h"

namespace moil::daemon {

class Batch::Target : public ReplyTarget {
 public:
  explicit Target(std::shared_ptr<Batch> batch) : batch_(std::move(batch)) {}
  ~Target() override { batch_->next_soon(); }
  void put(const std::string& text) override { batch_->put(text); }

 private:
  std::shared_ptr<Batch> batch_;
};

void Batch::begin(const std::shared_ptr<Connection>& client, Json items, Request request) {
  const std::shared_ptr<Batch> batch(new Batch(client, std::move(items), std::move(request)));
  client->alone([batch] { batch->next(); });
}

Batch::Batch(const std::shared_ptr<Connection>& client, Json items, Request request)
    : client_(client), items_(std::move(items)), request_(std::move(request)) {}

void Batch::next() {
  const auto client = client_.lock();
  if (!client || !client->is_open()) return;
  if (at_ < items_.size()) {
    Json item = std::move(items_[at_++]);
    return request_(client, std::move(item), std::make_unique<Target>(shared_from_this()));
  }
  if (any_) {
    client->send_part("]");
    client->end_parts();
  }
  client->end_alone();
}

void Batch::next_soon() {
  if (const auto client = client_.lock())
    client->when_room([self = shared_from_this()] { self->next(); });
}

void Batch::put(const std::string& text) {
  const auto client = client_.lock();
  if (!client) return;
  client->send_part(any_ ? "," : "[");
  client->send_part(text);
  any_ = true;
}

}  // namespace moil::daemon
