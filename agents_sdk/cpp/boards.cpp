#include "agents_sdk/cpp/boards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agents_sdk/cpp/bodies.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::sdk {

void Boards::join(std::shared_ptr<BoardFeed> board) {
  const std::string id = board->id();
  Followed followed;
  followed.board = std::move(board);
  followed_[id] = std::move(followed);
}

void Boards::leave(const BoardFeed& board, std::int64_t now) {
  const auto at = followed_.find(board.id());
  if (at == followed_.end() || at->second.board.get() != &board) return;  // joined anew meanwhile
  if (at->second.ask != 0) {
    const codec::Message message{std::string(codec::message::unsubscribe), feed_.new_id(), Map{{"board", board.id()}}};
    feed_.send(codec::encode_message(message), now);
  }
  followed_.erase(at);
}

void Boards::handle(const Channel::Received& received, std::int64_t now) {
  const codec::Message& message = received.message;
  now_ = now;
  if (message.type == codec::message::error) return refused(message, now);
  if (message.type == codec::message::heartbeat) {
    for (auto& [board, head] : heads_of(message.body)) {
      const auto at = followed_.find(board);
      if (at == followed_.end() || !at->second.confirmed) continue;
      // Everything up to the head was sent before: what is not here is lost.
      if (head > at->second.board->standing().position) act(at->second, Mirror::Next::resubscribe, now);
    }
    return;
  }
  const bool answers_subscribe = message.type == codec::message::subscribed || message.type == codec::message::resync;
  Followed* followed = find(message.body, !answers_subscribe);
  if (followed == nullptr) return;
  if (answers_subscribe && message.id != followed->ask) return;
  BoardFeed& board = *followed->board;
  if (message.type == codec::message::subscribed) {
    followed->confirmed = true;
    if (followed->is_gone) return act(*followed, board.history_gone(), now);  // another store has it
    act(*followed, board.epoch_is(text_of(message.body, "epoch")), now);
  } else if (message.type == codec::message::resync) {
    act(*followed, board.history_gone(), now);
  } else if (message.type == codec::message::events) {
    auto events = codec::events_from_value(message.body);
    act(*followed, events ? board.events(std::move(events->events), received.bytes) : Mirror::Next::resubscribe, now);
  } else if (message.type == codec::message::live) {
    followed->wait_ms = 0;
    act(*followed, board.live(number_of(message.body, "version").value_or(0)), now);
  }
}

void Boards::tick(std::int64_t now) {
  now_ = now;
  const bool greeted_anew = std::exchange(generation_, feed_.generation()) != feed_.generation();
  if (greeted_anew || (was_open_ && !feed_.open())) connection_ended();
  was_open_ = feed_.open();
  for (auto& [id, followed] : followed_) {
    // The answer may be lost.
    if (followed.ask != 0 && !followed.confirmed && now - followed.asked_at >= limits::resend_ms) followed.ask = 0;
    if (followed.ask != 0 || followed.page != 0 || now < followed.not_before) continue;
    const BoardFeed::Standing standing = followed.board->standing();
    if (standing.phase == Mirror::Phase::ended) continue;
    if (standing.phase == Mirror::Phase::reading && !followed.is_gone) {
      ask_page(followed, standing.cursor);
    } else if (feed_.open()) {
      subscribe(followed, standing.position, now);
    }
  }
}

std::int64_t Boards::next(std::int64_t now) const {
  std::int64_t at = now + limits::ping_ms;
  for (const auto& [id, followed] : followed_) {
    if (followed.ask == 0 && followed.page == 0 && followed.not_before > now) at = std::min(at, followed.not_before);
  }
  return at;
}

bool Boards::awaits_answer() const {
  return std::any_of(followed_.begin(), followed_.end(),
                     [](const auto& entry) { return entry.second.ask != 0 && !entry.second.confirmed; });
}

bool Boards::awaits_heartbeat() const {
  return std::any_of(followed_.begin(), followed_.end(), [](const auto& entry) { return entry.second.confirmed; });
}

std::vector<Boards::Straggler> Boards::stragglers() const {
  std::vector<Straggler> found;
  for (const auto& [id, followed] : followed_) {
    for (auto& behind : followed.board->behind()) found.push_back({followed.board, std::move(behind)});
  }
  return found;
}

// The server has forgotten the subscriptions.
void Boards::connection_ended() {
  for (auto& [id, followed] : followed_) {
    followed.ask = 0;
    followed.confirmed = false;
    followed.not_before = 0;
    followed.board->lost();
  }
}

void Boards::subscribe(Followed& followed, Version from, std::int64_t now) {
  const std::uint64_t id = feed_.new_id();
  const codec::Message message{std::string(codec::message::subscribe), id,
                               codec::to_value(codec::Subscribe{followed.board->id(), from, {}})};
  if (!feed_.send(codec::encode_message(message), now)) return;
  followed.ask = id;
  followed.asked_at = now;
  followed.confirmed = false;
}

void Boards::ask_page(Followed& followed, const Value& cursor) {
  const std::string board = followed.board->id();
  const std::uint64_t number = ++last_page_;
  followed.page = number;
  Value body = Map{{"what", "cells"}, {"board", board}};
  if (!cursor.is_nil()) body.set("cursor", cursor);
  queries_.ask(query_, std::move(body), Queries::no_deadline,
               [this, board, number](Result<Value> answer) { page_came(board, number, std::move(answer)); });
}

void Boards::page_came(const std::string& board, std::uint64_t number, Result<Value> answer) {
  const auto at = followed_.find(board);
  if (at == followed_.end() || at->second.page != number) return;  // left, or read anew meanwhile
  Followed& followed = at->second;
  followed.page = 0;
  auto page = answer.and_then(page_from_value);
  followed.is_gone = !page && page.error().fault == Fault::deleted;
  if (followed.is_gone) return;
  if (page) return act(followed, followed.board->page(std::move(*page)), now_);
  // A cursor may have become worthless; the first page always stands for itself.
  act(followed, followed.board->history_gone(), now_);
  wait_out(followed, now_);
  if (!followed.board->standing().has_copy) followed.board->refuse(page.error());
}

void Boards::refused(const codec::Message& message, std::int64_t now) {
  const auto at = std::find_if(followed_.begin(), followed_.end(),
                               [&](const auto& entry) { return entry.second.ask == message.id; });
  if (at == followed_.end() || message.id == 0) return;
  Followed& followed = at->second;
  const auto error = codec::error_from_value(message.body);
  followed.ask = 0;
  followed.confirmed = false;
  wait_out(followed, now);
  if (!error || error->retryable) return;
  if (error->code == ErrorCode::deleted) {
    const Version last = std::max(followed.board->standing().position, deleted_version(*error));
    return act(followed, followed.board->deleted(last, error->message), now);
  }
  // Our version is above the server's head: this copy is of another store.
  if (error->code == ErrorCode::future_base) return act(followed, followed.board->history_gone(), now);
  if (followed.board->standing().has_copy) return;  // it was followed before, and may be again
  followed.board->refuse({Fault::refused, fmt::format("{}: {}", name_of(error->code), error->message)});
}

void Boards::act(Followed& followed, Mirror::Next next, std::int64_t now) {
  if (next == Mirror::Next::go_on) return;
  const bool was_asked = std::exchange(followed.ask, 0) != 0;
  followed.confirmed = false;
  followed.page = 0;
  if (next == Mirror::Next::resubscribe || followed.board->standing().broken_in_a_row > 1) wait_out(followed, now);
  followed.is_gone = false;
  if (next == Mirror::Next::resubscribe || !was_asked) return;
  const codec::Message message{std::string(codec::message::unsubscribe), feed_.new_id(),
                               Map{{"board", followed.board->id()}}};
  feed_.send(codec::encode_message(message), now);
}

void Boards::wait_out(Followed& followed, std::int64_t now) {
  followed.wait_ms = std::clamp(followed.wait_ms * 2, limits::retry_ms_min, limits::retry_ms_max);
  followed.not_before = now + followed.wait_ms;
}

Boards::Followed* Boards::find(const Value& body, bool confirmed_only) {
  const auto at = followed_.find(text_of(body, "board"));
  if (at == followed_.end() || (confirmed_only && !at->second.confirmed)) return nullptr;
  return &at->second;
}

}  // namespace tafel::sdk
