#include "demo/board_record.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>

#include "common/codec/fields.hpp"

namespace tafel::demo {
namespace {

constexpr std::chrono::seconds patience{60};

// Gathers a stream until it has caught up. The watcher runs on a thread of the SDK; hence the mutex.
class Gatherer {
 public:
  void take(const sdk::BoardEvent& event) {
    const std::lock_guard lock(mutex_);
    if (event.type == sdk::BoardEvent::Type::change) events_.push_back(event.event);
    if (event.type == sdk::BoardEvent::Type::live) is_live_ = true;
    changed_.notify_all();
  }

  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return is_live_; });
  }

  std::vector<std::shared_ptr<const codec::FeedEvent>> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<std::shared_ptr<const codec::FeedEvent>> events_;
  bool is_live_ = false;
};

Value question_of(std::string_view what, const std::string& board) { return Map{{"board", board}, {"what", what}}; }

Result<void> read_head(sdk::Agent& agent, BoardRecord& record) {
  Value question = question_of("full", record.board);
  question.set("path", "phase");  // a short answer: the digest is of the whole board all the same
  const auto answer = agent.query(question, patience);
  if (!answer) return tl::unexpected(answer.error());
  codec::MemberReader reader(*answer, "the answer to `full`");
  record.head = reader.number("version");
  record.digest = reader.text("digest");
  return reader.finish(0).map([](int) {});
}

Result<void> read_events(sdk::Agent& agent, BoardRecord& record) {
  const auto gatherer = std::make_shared<Gatherer>();
  const auto number =
      agent.follow(record.board, 0, {}, [gatherer](const sdk::BoardEvent& event) { gatherer->take(event); });
  if (!number) return tl::unexpected(number.error());
  const bool is_live = gatherer->wait();
  agent.unfollow(*number);
  if (!is_live) return fail(Fault::unreachable, fmt::format("the stream of {} did not catch up", record.board));
  record.events = gatherer->events();
  return {};
}

Result<void> read_results(sdk::Agent& agent, BoardRecord& record) {
  Value question = question_of("log", record.board);
  for (;;) {
    const auto answer = agent.query(question, patience);
    if (!answer) return tl::unexpected(answer.error());
    codec::MemberReader reader(*answer, "the answer to `log`");
    for (const Value& event : reader.list("events")) {
      const Value* results = event.find("results");
      record.results.push_back(results == nullptr ? Value() : *results);
    }
    if (!reader.has("next")) return reader.finish(0).map([](int) {});
    question.set("from", reader.member("next"));
  }
}

Result<void> read_defects(sdk::Agent& agent, BoardRecord& record) {
  const auto answer = agent.query(question_of("verify", record.board), patience);
  if (!answer) return tl::unexpected(answer.error());
  codec::MemberReader reader(*answer, "the answer to `verify`");
  record.defects = reader.texts("defects");
  return reader.finish(0).map([](int) {});
}

}  // namespace

Result<BoardRecord> read_board(sdk::Agent& agent, const std::string& board) {
  BoardRecord record;
  record.board = board;
  for (const auto& read : {read_head, read_events, read_results, read_defects}) {
    if (auto done = read(agent, record); !done) {
      return fail(done.error().fault, fmt::format("{}: {}", board, done.error().message));
    }
  }
  return record;
}

}  // namespace tafel::demo
