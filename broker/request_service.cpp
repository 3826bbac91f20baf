#include "broker/request_service.hpp"

#include <utility>

#include "broker/answers.hpp"
#include "common/base/limits.hpp"
#include "common/codec/delta_codec.hpp"

namespace tafel::broker {
namespace {

// One delta of a submit: its place in the batch, or the receipt that it got at the door.
struct Slot {
  std::optional<Receipt> refused;
  std::size_t at = 0;  // in the batch
};

struct Submit {
  PeerId peer;
  std::uint64_t id = 0;
  std::vector<Slot> slots;
};

std::string text_member(const Value& value, std::string_view name) {
  const Value* member = value.find(name);
  const std::string* text = member == nullptr ? nullptr : member->get_if<std::string>();
  return text == nullptr ? std::string() : *text;
}

// The receipt of a delta that could not be read: it names what can be named.
Receipt refused_receipt(const Value& delta, const std::string& epoch, ErrorInfo error) {
  Receipt receipt;
  receipt.id = text_member(delta, "id");
  receipt.board = text_member(delta, "board");
  receipt.epoch = epoch;
  receipt.error = std::move(error);
  return receipt;
}

}  // namespace

struct RequestService::Waiting {
  std::vector<Submission> batch;
  std::vector<Submit> submits;
  std::size_t bytes = 0;

  bool is_full() const { return batch.size() >= limits::batch_deltas_max || bytes >= limits::batch_bytes_max; }
};

RequestService::RequestService(Pipeline& pipeline, codec::Welcome welcome)
    : pipeline_(pipeline), sessions_(welcome), epoch_(std::move(welcome.epoch)) {}

RequestService::Turn RequestService::handle(const std::vector<Inbound>& messages, TimeMs now, std::int64_t steady_ms) {
  Turn turn;
  Waiting waiting;
  for (const Inbound& inbound : messages) {
    ++stats_.messages;
    const auto message = codec::decode_message(inbound.bytes);
    if (!message) {
      ++stats_.bad_messages;
      turn.answers.push_back({inbound.peer, codec::encode_message(undecodable(inbound.bytes, message.error()))});
      continue;
    }
    if (const auto said = answer(inbound, *message, steady_ms, waiting)) {
      turn.answers.push_back({inbound.peer, codec::encode_message(*said)});
    }
    if (waiting.is_full()) commit(waiting, now, turn);
    if (turn.fatal) return turn;
  }
  if (!waiting.submits.empty()) commit(waiting, now, turn);
  return turn;
}

// What is answered at once; nullopt where the answer waits for the commit.
std::optional<codec::Message> RequestService::answer(const Inbound& inbound, const codec::Message& message,
                                                     std::int64_t steady_ms, Waiting& waiting) {
  if (message.type == codec::message::hello) return sessions_.greet(inbound.peer, message, steady_ms);
  const Session* session = sessions_.find(inbound.peer, steady_ms);
  if (session == nullptr) return no_session(message.id);
  if (message.type == codec::message::ping) return pong(message.id);
  if (message.type != codec::message::submit) {
    ++stats_.bad_messages;
    return bad_request(message.id,
                       "the request endpoint takes hello, ping and submit, not " + brief(Value(message.type)));
  }
  if (message.body.get_if<List>() == nullptr) {
    ++stats_.bad_messages;
    return bad_request(message.id, "the body of a submit is a list of deltas");
  }
  gather(inbound, *session, message, waiting);
  return std::nullopt;
}

void RequestService::gather(const Inbound& inbound, const Session& session, const codec::Message& message,
                            Waiting& waiting) {
  Submit submit{inbound.peer, message.id, {}};
  for (const Value& item : *message.body.get_if<List>()) {
    ++stats_.deltas;
    auto delta = codec::delta_from_value(item);
    if (!delta) {
      submit.slots.push_back({refused_receipt(item, epoch_, std::move(delta.error())), 0});
      continue;
    }
    submit.slots.push_back({std::nullopt, waiting.batch.size()});
    waiting.batch.push_back({session.actor, std::move(*delta)});
  }
  waiting.bytes += inbound.bytes.size();
  waiting.submits.push_back(std::move(submit));
}

// Commits what waits and answers it. After a failure nothing of it is answered: nobody knows what is on disk.
void RequestService::commit(Waiting& waiting, TimeMs now, Turn& turn) {
  Committed committed;
  if (!waiting.batch.empty()) {
    ++stats_.commits;
    auto done = pipeline_.commit(waiting.batch, now);
    if (!done) {
      turn.fatal = std::move(done.error());
      return;
    }
    committed = std::move(*done);
  }
  for (Submit& submit : waiting.submits) {
    ReceiptWriter writer(submit.id);
    for (Slot& slot : submit.slots) {
      Receipt receipt = slot.refused ? std::move(*slot.refused) : std::move(committed.receipts[slot.at]);
      count(receipt);
      writer.add(std::move(receipt));
    }
    for (std::string& bytes : writer.finish()) turn.answers.push_back({submit.peer, std::move(bytes)});
  }
  for (auto& event : committed.events) turn.events.push_back(std::move(event));
  waiting = Waiting();
}

RequestService::Turn RequestService::tidy(TimeMs now) {
  Turn turn;
  if (auto events = pipeline_.expire(now)) {
    turn.events = std::move(*events);
  } else {
    turn.fatal = std::move(events.error());
  }
  if (turn.fatal) return turn;
  for (const auto& more : {pipeline_.scrub(), pipeline_.trim(now)}) {
    if (!more) {
      turn.fatal = more.error();
    } else if (*more) {
      turn.has_more = true;
    }
  }
  return turn;
}

void RequestService::count(const Receipt& receipt) {
  if (receipt.duplicate) {
    ++stats_.duplicates;
  } else if (receipt.error) {
    ++stats_.rejected;
  } else {
    ++stats_.applied;
  }
}

void RequestService::tick(std::int64_t steady_ms) { sessions_.drop_idle(steady_ms, limits::session_idle_ms); }

}  // namespace tafel::broker
