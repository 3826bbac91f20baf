#include "agents_sdk/cpp/ticket.hpp"

#include <fmt/format.h>

namespace tafel::sdk {

void Ticket::State::complete(Result<Receipt> receipt) {
  {
    const std::lock_guard lock(mutex);
    if (answer) return;
    answer = std::move(receipt);
  }
  answered.notify_all();
}

const std::string& Ticket::delta_id() const { return state_->delta_id; }

bool Ticket::done() const {
  const std::lock_guard lock(state_->mutex);
  return state_->answer.has_value();
}

Result<Receipt> Ticket::wait(milliseconds timeout) const {
  std::unique_lock lock(state_->mutex);
  if (!state_->answered.wait_for(lock, bounded(timeout), [&] { return state_->answer.has_value(); })) {
    return fail(Fault::unreachable,
                fmt::format("no receipt for delta {} within {} ms; it stays in the outbox and is sent again "
                            "under the same id until a receipt comes",
                            state_->delta_id, timeout.count()));
  }
  return *state_->answer;
}

Ticket answered_ticket(std::string delta_id, Result<Receipt> answer) {
  auto state = std::make_shared<Ticket::State>(std::move(delta_id));
  state->complete(std::move(answer));
  return Ticket(std::move(state));
}

}  // namespace tafel::sdk
