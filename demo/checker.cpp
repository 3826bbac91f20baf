#include "demo/checker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "blackboard/read.hpp"
#include "common/base/text.hpp"
#include "common/codec/receipt_codec.hpp"
#include "demo/lawful.hpp"

namespace tafel::demo {
namespace {

bool has_mark(const Cell& cell, const Mark& mark) {
  if (const auto* reg = std::get_if<RegisterCell>(&cell)) {
    return std::any_of(reg->siblings.begin(), reg->siblings.end(),
                       [&](const Sibling& sibling) { return sibling.dot.mark == mark; });
  }
  if (const auto* element = std::get_if<ElementCell>(&cell)) {
    return std::any_of(element->dots.begin(), element->dots.end(), [&](const Dot& dot) { return dot.mark == mark; });
  }
  if (const auto* counter = std::get_if<CounterCell>(&cell))
    return counter->dot.mark.version == mark.version;  // ops of one delta add up
  if (const auto* entry = std::get_if<EntryCell>(&cell)) return entry->dot.mark == mark;
  if (const auto* suggestion = std::get_if<SuggestionCell>(&cell)) return suggestion->dot.mark == mark;
  return false;
}

// The event holds a change that the op made at or below its path.
bool is_carried_out(const codec::FeedEvent& event, const Op& op, std::size_t index) {
  const auto path = Path::parse(op.path);
  const Mark mark{event.version, static_cast<std::uint32_t>(index)};
  return std::any_of(event.changes.begin(), event.changes.end(), [&](const Change& change) {
    if (!change.key.path.is_at_or_below(*path)) return false;
    const bool takes_away = change.key.part == Part::element && (op.verb == Verb::patch || op.verb == Verb::set);
    return change.image ? (takes_away || has_mark(*change.image, mark)) : takes_away;
  });
}

bool is_held_there(const codec::FeedEvent& event, const std::string& id) {
  const auto mark = mark_from_text(id);
  return mark && std::any_of(event.changes.begin(), event.changes.end(), [&](const Change& change) {
           return change.key.part == Part::suggestion && change.image && has_mark(*change.image, *mark);
         });
}

class Checker {
 public:
  Checker(const BoardRecord& record, std::vector<Told> told) : record_(record), told_(std::move(told)) {
    std::sort(told_.begin(), told_.end(),
              [](const Told& a, const Told& b) { return a.entry->receipt.version < b.entry->receipt.version; });
    check_.schedule.board = record.board;
  }

  BoardCheck run(const std::vector<MirrorNote>& mirrors) {
    match();
    replay();
    check_mirrors(mirrors);
    for (const std::string& defect : record_.defects) problem(check_.broken, "verify: " + defect);
    return std::move(check_);
  }

 private:
  void problem(std::vector<std::string>& list, const std::string& what) {
    list.push_back(fmt::format("{}: {}", record_.board, what));
  }

  // Every event has its receipt, every receipt its event, and both tell the same.
  void match() {
    if (record_.events.size() != record_.head || record_.results.size() != record_.head ||
        told_.size() != record_.head) {
      problem(check_.untold, fmt::format("version {}, but {} events, {} log records and {} receipts", record_.head,
                                         record_.events.size(), record_.results.size(), told_.size()));
      return;
    }
    for (std::size_t i = 0; i < told_.size(); ++i) match_one(*record_.events[i], record_.results[i], told_[i], i + 1);
  }

  void match_one(const codec::FeedEvent& event, const Value& results, const Told& told, Version version) {
    const auto& [delta, receipt] = *told.entry;
    if (event.version != version || receipt.version != version || event.delta_id != delta.id ||
        event.actor != told.actor || event.base != delta.base) {
      problem(check_.untold,
              fmt::format("version {} is {} of {} in the log, but {} of {} was told version {}", event.version,
                          event.delta_id, event.actor, delta.id, told.actor, receipt.version));
      return;
    }
    List as_told;
    for (const OpResult& result : receipt.ops) as_told.push_back(codec::op_result_to_value(result));
    if (!(results == Value(as_told)))
      problem(check_.untold, fmt::format("version {}: the log has other outcomes than were told", version));
    for (std::size_t i = 0; i < receipt.ops.size() && i < delta.ops.size(); ++i)
      match_op(event, delta.ops[i], receipt.ops[i], i);
    check_.schedule.arrivals.push_back({version, event.base, told.actor, delta, {}});
  }

  void match_op(const codec::FeedEvent& event, const Op& op, const OpResult& result, std::size_t index) {
    const bool is_told = result.outcome == Outcome::applied || result.outcome == Outcome::kept_both;
    if (is_told && !is_carried_out(event, op, index)) {
      problem(check_.untold, fmt::format("version {} told that {} was {}, but changed nothing there", event.version,
                                         op.path, name_of(result.outcome)));
    }
    for (const std::string& id : result.held) {
      if (!is_held_there(event, id))
        problem(check_.untold, fmt::format("suggestion {} at {} was told, but not made", id, op.path));
    }
  }

  // Applies the log to an empty board; on the way each delta finds what its writer saw.
  void replay() {
    std::vector<Arrival*> by_base;
    for (Arrival& arrival : check_.schedule.arrivals) by_base.push_back(&arrival);
    std::stable_sort(by_base.begin(), by_base.end(),
                     [](const Arrival* a, const Arrival* b) { return a->base < b->base; });
    blackboard::Board board;
    auto next = by_base.begin();
    const auto hear = [&] {
      for (; next != by_base.end() && (*next)->base == board.version(); ++next)
        (*next)->news = news_of((*next)->delta, board);
    };
    hear();
    for (const auto& event : record_.events) {
      for (const std::string& loss : unlawful_losses(board, *event)) problem(check_.unseen, loss);
      board.apply(event->version, event->changes);
      if (event->digest && !(*event->digest == board.digest())) {
        problem(check_.broken, fmt::format("version {} does not lead to its digest", event->version));
      }
      hear();
    }
    finish(board);
  }

  void finish(const blackboard::Board& board) {
    if (to_hex(to_bytes(board.digest())) != record_.digest)
      problem(check_.broken, "the log does not lead to the server's digest");
    check_.ending = ending_of(board);
    for (const auto& [path, end] : check_.ending) check_.conflicts_open += end.beside.empty() ? 0U : 1U;
  }

  void check_mirrors(const std::vector<MirrorNote>& mirrors) {
    for (const MirrorNote& mirror : mirrors) {
      if (mirror.version != record_.head || mirror.digest != record_.digest) {
        problem(check_.broken, fmt::format("a mirror ended at version {} with digest {}, the server at {} with {}",
                                           mirror.version, mirror.digest, record_.head, record_.digest));
      }
      if (mirror.resyncs > 0) problem(check_.broken, "a mirror had to be read anew");
    }
  }

  const BoardRecord& record_;
  std::vector<Told> told_;
  BoardCheck check_;
};

}  // namespace

BoardCheck check_board(const BoardRecord& record, std::vector<Told> told, const std::vector<MirrorNote>& mirrors) {
  return Checker(record, std::move(told)).run(mirrors);
}

}  // namespace tafel::demo
