// Deltas on their way: kept until their receipt comes, encoded once, sent in the order of submission, many per message,
// and sent again under the same id after a reconnect. Pure and single-threaded; the link owns one. The number of deltas
// is bounded by the caller.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents_sdk/cpp/ticket.hpp"

namespace tafel::sdk {

class Outbox {
 public:
  struct Entry {
    std::string board;
    std::string delta_id;
    std::string bytes;        // the encoded delta map
    std::size_t objects = 0;  // in it
    std::string epoch;        // the store whose versions the delta speaks of; empty: it names no version
    std::shared_ptr<Ticket::State> ticket;
  };
  struct Done {
    Entry entry;
    Receipt receipt;
  };

  void add(Entry entry) { waiting_.push_back(std::move(entry)); }

  // The next message: as many deltas as fit into `bytes_max`, none while a message is on its way (but for so long only:
  // its answer may be lost) or a refusal is waited out. Deltas that are larger than the server takes come back in
  // `done` with too_large.
  struct Message {
    std::uint64_t id = 0;
    std::string bytes;
  };
  std::optional<Message> next(std::uint64_t message_id, std::size_t bytes_max, std::int64_t now,
                              std::vector<Done>& done);

  // The answer to message `message_id`, or the next part of it; what answers any other message is ignored. Deltas that
  // the server put off (busy, unavailable) stay and are sent again, in their order, before all newer ones.
  std::vector<Done> receipts(std::uint64_t message_id, std::vector<Receipt> receipts, std::int64_t now);
  // The whole message was refused. One delta may be to blame: they go one by one then, and the refusal of a single one
  // is its verdict.
  std::vector<Done> refused(std::uint64_t message_id, const ErrorInfo& error, std::int64_t now);
  // What was on its way may be lost: it is sent again.
  void reconnected();
  // Another store answers now: deltas that speak of the versions of the old one can not be judged there (wrong_epoch).
  std::vector<Done> epoch_is(const std::string& epoch);
  // Everything that has no receipt yet; the outbox is empty afterwards.
  std::vector<Entry> give_up();

  bool awaits_answer() const { return !sent_.empty(); }
  std::size_t size() const { return put_off_.size() + sent_.size() + waiting_.size(); }
  // When `next` has something to do by itself; nullopt when it has not.
  std::optional<std::int64_t> retry_at() const;

 private:
  std::optional<Message> resend(std::int64_t now);
  std::int64_t resend_at() const;
  std::size_t count_for(std::size_t room) const;
  bool fits(const std::vector<Receipt>& receipts) const;
  void wait_out(std::int64_t now);

  std::deque<Entry> waiting_;
  std::deque<Entry> sent_;     // of the one message on its way: what has no answer yet
  std::deque<Entry> put_off_;  // of that message: what the server put off
  std::uint64_t sent_id_ = 0;
  std::int64_t sent_at_ = 0;
  unsigned resends_ = 0;     // of that message
  std::size_t singles_ = 0;  // so many at the front go one by one
  std::int64_t not_before_ = 0;
  std::int64_t wait_ms_ = 0;  // of the last refusal
};

// The size of a submit message around its deltas.
inline constexpr std::size_t submit_envelope_bytes = 32;

}  // namespace tafel::sdk
