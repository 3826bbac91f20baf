#include "broker/query_service.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "broker/answers.hpp"
#include "broker/queries.hpp"
#include "common/base/limits.hpp"
#include "common/base/pack.hpp"
#include "common/codec/msgpack.hpp"

namespace tafel::broker {
namespace {

// An `answer` message around a body that is encoded already.
std::string answer_message(std::uint64_t id, std::string_view body) {
  std::string bytes;
  PackWriter out(bytes);
  out.array(3);
  out.text(codec::message::answer);
  out.unsigned_integer(id);
  out.raw(body);
  return bytes;
}

std::string refusal_message(std::uint64_t id, ErrorCode code, std::string message) {
  return codec::encode_message(codec::error_message(id, error_of(code, std::move(message))));
}

std::string message_of(std::uint64_t id, const Answer& answer) {
  return answer ? answer_message(id, *answer) : codec::encode_message(codec::error_message(id, answer.error()));
}

}  // namespace

QueryService::QueryService(store::Store& store, const RoleTable& roles, codec::Welcome welcome, StatsOf stats_of)
    : store_(store), roles_(roles), sessions_(std::move(welcome)), stats_of_(std::move(stats_of)) {}

std::vector<Outbound> QueryService::handle(const std::vector<Inbound>& messages, TimeMs now, std::int64_t steady_ms) {
  std::vector<Outbound> out;
  for (const Inbound& inbound : messages) accept(inbound, steady_ms, out);
  collect_verification(out);
  for (std::size_t bytes = 0; !turns_.empty() && bytes < limits::query_turn_bytes;) {
    const Waiting waiting = take_next();
    std::string answer = answer_to(waiting, now);
    if (answer.empty()) continue;  // comes later
    bytes += answer.size();
    out.push_back({waiting.peer, std::move(answer)});
  }
  return out;
}

QueryService::Waiting QueryService::take_next() {
  const PeerId peer = turns_.front();
  turns_.pop_front();
  const auto queue = waiting_.find(peer);
  Waiting next = std::move(queue->second.front());
  queue->second.pop_front();
  --waiting_count_;
  if (queue->second.empty()) {
    waiting_.erase(queue);
  } else {
    turns_.push_back(peer);
  }
  return next;
}

void QueryService::forget(const PeerId& peer) {
  const auto queue = waiting_.find(peer);
  if (queue == waiting_.end()) return;
  waiting_count_ -= queue->second.size();
  waiting_.erase(queue);
  std::erase(turns_, peer);
}

void QueryService::accept(const Inbound& inbound, std::int64_t steady_ms, std::vector<Outbound>& out) {
  const auto reply = [&](const codec::Message& message) {
    out.push_back({inbound.peer, codec::encode_message(message)});
  };
  auto message = codec::decode_message(inbound.bytes);
  if (!message) return reply(undecodable(inbound.bytes, message.error()));
  if (message->type == codec::message::hello) return reply(sessions_.greet(inbound.peer, *message, steady_ms));
  const Session* session = sessions_.find(inbound.peer, steady_ms);
  if (session == nullptr) return reply(no_session(message->id));
  if (message->type == codec::message::ping) return reply(pong(message->id));
  if (message->type != codec::message::query) {
    return reply(
        bad_request(message->id, "the query endpoint takes hello, ping and query, not " + brief(Value(message->type))));
  }
  std::deque<Waiting>& queue = waiting_[inbound.peer];
  if (queue.size() >= limits::queries_per_peer_max || waiting_count_ >= limits::queries_waiting_max) {
    if (queue.empty()) waiting_.erase(inbound.peer);
    return reply(
        codec::error_message(message->id, error_of(ErrorCode::busy, "too many questions wait: ask again later")));
  }
  if (queue.empty()) turns_.push_back(inbound.peer);
  queue.push_back({inbound.peer, session->actor, std::move(*message)});
  ++waiting_count_;
}

std::string QueryService::answer_to(const Waiting& waiting, TimeMs now) {
  const std::uint64_t id = waiting.message.id;
  const auto question = question_from_value(waiting.message.body);
  if (!question) return message_of(id, tl::unexpected(question.error()));
  if (question->what == "stat") return message_of(id, stat());
  if (question->what == "verify") return start_verification(waiting, question->board);
  return message_of(id, answer_from_store(store_, *question, {waiting.actor, roles_, now}));
}

Answer QueryService::stat() {
  Value counters = stats_of_ ? stats_of_() : Value(Map{});
  if (const auto usage = store_.usage()) {
    counters.set("storage", Map{{"bytes", usage->bytes}, {"quota", usage->quota}});
  }
  return codec::encode(counters);
}

std::string QueryService::start_verification(const Waiting& waiting, const std::string& board) {
  const std::uint64_t id = waiting.message.id;
  if (!roles_.rights_of(waiting.actor, board).may_read_everything()) {
    return refusal_message(
        id, ErrorCode::forbidden,
        fmt::format("verify reads all of a board; {} may not read everything on {}", waiting.actor, board));
  }
  if (verifying_) return refusal_message(id, ErrorCode::busy, "another board is being verified: ask again later");
  const auto snapshot = store_.snapshot();
  if (!snapshot) return message_of(id, tl::unexpected(error_of(snapshot.error())));
  const auto head = (*snapshot)->head(board);
  if (!head) return message_of(id, tl::unexpected(error_of(head.error())));
  if (!head->has_value()) return message_of(id, verify_answer({board, 0, 0, 0, {}}));
  verifying_ = Verification{waiting.peer, id,
                            std::async(std::launch::async, [&store = store_, board] { return store.verify(board); })};
  return {};
}

void QueryService::collect_verification(std::vector<Outbound>& out) {
  if (!verifying_ || verifying_->report.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  const auto report = verifying_->report.get();
  Answer answer = report ? Answer(verify_answer(*report)) : Answer(tl::unexpected(error_of(report.error())));
  out.push_back({verifying_->peer, message_of(verifying_->id, answer)});
  verifying_.reset();
}

void QueryService::tick(std::int64_t steady_ms) { sessions_.drop_idle(steady_ms, limits::session_idle_ms); }

}  // namespace tafel::broker
