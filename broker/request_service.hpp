// The request endpoint: hello, ping, submit. Gathers deltas into a batch, commits it through the pipeline, answers. The
// receipts of one submit come in order, in one message or (when they are large) in several that carry the same id; each
// delta of it gets exactly one.
#pragma once

#include <vector>

#include "broker/peer.hpp"
#include "broker/pipeline.hpp"
#include "broker/session.hpp"

namespace tafel::broker {

class RequestService {
 public:
  struct Stats {
    std::uint64_t messages = 0, bad_messages = 0, deltas = 0, commits = 0, applied = 0, rejected = 0, duplicates = 0;
  };
  struct Turn {
    std::vector<Outbound> answers;                     // to be sent after the call: what they tell is durable
    std::vector<std::shared_ptr<const Event>> events;  // to be published after the call
    bool has_more = false;                             // `tidy` has left something undone
    std::optional<Failure> fatal;  // the store must be recovered: stop (answers are still to be sent)
  };

  RequestService(Pipeline& pipeline, codec::Welcome welcome);

  // One duty cycle: everything that was waiting. One commit at the most per batch_deltas_max / batch_bytes_max.
  Turn handle(const std::vector<Inbound>& messages, TimeMs now, std::int64_t steady_ms);
  // Takes away what has expired, and goes on with erasures and with trimming; the events are to be published.
  Turn tidy(TimeMs now);
  const Stats& stats() const { return stats_; }
  // Called now and then: forgets silent sessions.
  void tick(std::int64_t steady_ms);

 private:
  struct Waiting;  // submits that wait for the commit
  std::optional<codec::Message> answer(const Inbound& inbound, const codec::Message& message, std::int64_t steady_ms,
                                       Waiting& waiting);
  void gather(const Inbound& inbound, const Session& session, const codec::Message& message, Waiting& waiting);
  void commit(Waiting& waiting, TimeMs now, Turn& turn);
  void count(const Receipt& receipt);

  Pipeline& pipeline_;
  Sessions sessions_;
  std::string epoch_;
  Stats stats_;
};

}  // namespace tafel::broker
