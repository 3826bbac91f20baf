#include "agents_sdk/cpp/outbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "agents_sdk/cpp/encode.hpp"
#include "common/base/limits.hpp"
#include "common/codec/protocol.hpp"

namespace tafel::sdk {
namespace {

bool is_put_off(const ErrorInfo& error) {
  return error.code == ErrorCode::busy || (error.code == ErrorCode::unavailable && error.retryable);
}

Receipt refusal_of(const Outbox::Entry& entry, ErrorInfo error) {
  Receipt receipt;
  receipt.id = entry.delta_id;
  receipt.board = entry.board;
  receipt.error = std::move(error);
  return receipt;
}

ErrorInfo wrong_epoch(const std::string& expected, const std::string& found) {
  ErrorInfo error;
  error.code = ErrorCode::wrong_epoch;
  error.message =
      "the server has another store now (a restored backup, or a new one): the versions that this delta speaks of mean "
      "nothing there; read again";
  error.expected = Value(expected);
  error.found = Value(found);
  return error;
}

ErrorInfo foreign_answer(const std::string& delta_id) {
  ErrorInfo error;
  error.message = fmt::format("the server's answer to delta {} is not a receipt of it", delta_id);
  return error;
}

}  // namespace

std::optional<Outbox::Message> Outbox::next(std::uint64_t message_id, std::size_t bytes_max, std::int64_t now,
                                            std::vector<Done>& done) {
  if (!sent_.empty()) return resend(now);
  if (now < not_before_) return std::nullopt;
  const std::size_t room = bytes_max - std::min(bytes_max, submit_envelope_bytes);
  while (!waiting_.empty() && waiting_.front().bytes.size() > room) {
    Receipt receipt = refusal_of(waiting_.front(), too_large_delta(waiting_.front().bytes.size(), room));
    done.push_back({std::move(waiting_.front()), std::move(receipt)});
    waiting_.pop_front();
    singles_ -= std::min<std::size_t>(singles_, 1);
  }
  const std::size_t count = count_for(room);
  if (count == 0) return std::nullopt;
  std::vector<std::string> deltas;
  for (std::size_t i = 0; i < count; ++i) {
    deltas.push_back(waiting_.front().bytes);
    sent_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  singles_ -= std::min(singles_, count);
  sent_id_ = message_id;
  sent_at_ = now;
  resends_ = 0;
  return Message{message_id, codec::encode_submit_message(message_id, deltas)};
}

// What is on its way once more when its answer may be lost, under the id of its message: a slow server's answer to the
// first sending still counts, and it is not given more and more to do.
std::optional<Outbox::Message> Outbox::resend(std::int64_t now) {
  if (now < resend_at()) return std::nullopt;
  std::vector<std::string> deltas;
  for (const Entry& entry : sent_) deltas.push_back(entry.bytes);
  sent_at_ = now;
  ++resends_;
  return Message{sent_id_, codec::encode_submit_message(sent_id_, deltas)};
}

std::int64_t Outbox::resend_at() const {
  return sent_at_ + std::min(limits::resend_ms << std::min(resends_, 10U), limits::resend_ms_max);
}

std::vector<Outbox::Done> Outbox::receipts(std::uint64_t message_id, std::vector<Receipt> receipts, std::int64_t now) {
  if (sent_.empty() || message_id != sent_id_) return {};
  if (resends_ > 0) {  // each sending is answered: what came by another answer already is known
    const auto first = std::find_if(receipts.begin(), receipts.end(),
                                    [&](const Receipt& one) { return one.id == sent_.front().delta_id; });
    receipts.erase(receipts.begin(), first);
    if (receipts.empty()) return {};
  }
  if (!fits(receipts)) return refused(message_id, foreign_answer(sent_.front().delta_id), now);
  std::vector<Done> done;
  for (Receipt& receipt : receipts) {
    if (receipt.error && is_put_off(*receipt.error)) {
      put_off_.push_back(std::move(sent_.front()));
    } else {
      done.push_back({std::move(sent_.front()), std::move(receipt)});
    }
    sent_.pop_front();
  }
  if (!sent_.empty()) return done;  // the rest comes in another message
  if (put_off_.empty()) {
    wait_ms_ = 0;
  } else {
    reconnected();
    wait_out(now);
  }
  return done;
}

std::vector<Outbox::Done> Outbox::refused(std::uint64_t message_id, const ErrorInfo& error, std::int64_t now) {
  if (sent_.empty() || message_id != sent_id_) return {};
  std::vector<Done> done;
  if (is_put_off(error)) {
    reconnected();
    wait_out(now);
  } else if (sent_.size() > 1) {
    const std::size_t count = sent_.size();
    reconnected();
    singles_ = count;
  } else {
    Receipt receipt = refusal_of(sent_.front(), error);
    done.push_back({std::move(sent_.front()), std::move(receipt)});
    sent_.clear();
  }
  return done;
}

// Back to the front, in their order.
void Outbox::reconnected() {
  for (std::deque<Entry>* entries : {&sent_, &put_off_}) {
    waiting_.insert(waiting_.begin(), std::make_move_iterator(entries->begin()),
                    std::make_move_iterator(entries->end()));
    entries->clear();
  }
}

std::vector<Outbox::Done> Outbox::epoch_is(const std::string& epoch) {
  std::vector<Done> done;
  std::deque<Entry> kept;
  reconnected();
  for (Entry& entry : waiting_) {
    if (entry.epoch.empty() || entry.epoch == epoch) {
      kept.push_back(std::move(entry));
    } else {
      Receipt receipt = refusal_of(entry, wrong_epoch(entry.epoch, epoch));
      done.push_back({std::move(entry), std::move(receipt)});
    }
  }
  waiting_ = std::move(kept);
  return done;
}

std::vector<Outbox::Entry> Outbox::give_up() {
  reconnected();
  std::vector<Entry> entries(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  singles_ = 0;
  return entries;
}

std::optional<std::int64_t> Outbox::retry_at() const {
  if (!sent_.empty()) return resend_at();
  if (waiting_.empty()) return std::nullopt;
  return not_before_;
}

// How many of those at the front go into one message.
std::size_t Outbox::count_for(std::size_t room) const {
  const std::size_t most = singles_ > 0 ? 1 : limits::batch_deltas_max;
  std::size_t count = 0;
  std::size_t bytes = 0;
  std::size_t objects = 0;
  for (const Entry& entry : waiting_) {
    bytes += entry.bytes.size();
    objects += entry.objects;
    if (count == most || bytes > room || (count > 0 && objects > limits::submit_objects_max)) break;
    ++count;
  }
  return count;
}

// The receipts are of the deltas that were sent, in their order.
bool Outbox::fits(const std::vector<Receipt>& receipts) const {
  if (receipts.empty() || receipts.size() > sent_.size()) return false;
  return std::equal(receipts.begin(), receipts.end(), sent_.begin(),
                    [](const Receipt& receipt, const Entry& entry) { return receipt.id == entry.delta_id; });
}

void Outbox::wait_out(std::int64_t now) {
  wait_ms_ = std::clamp(wait_ms_ * 2, limits::retry_ms_min, limits::retry_ms_max);
  not_before_ = now + wait_ms_;
}

}  // namespace tafel::sdk
