#include "demo/lawful.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/limits.hpp"

namespace tafel::demo {
namespace {

class Inspector {
 public:
  Inspector(const blackboard::Board& before, const codec::FeedEvent& event) : before_(before), event_(event) {}

  std::vector<std::string> inspect() {
    for (const Change& change : event_.changes) {
      if (const Cell* old = before_.find(change.key)) compare(change, *old);
    }
    return std::move(losses_);
  }

 private:
  bool had_seen(const Dot& dot) const { return event_.base >= dot.version(); }

  void lost(const Change& change, const Dot& dot, const Value& value) {
    losses_.push_back(fmt::format("version {} ({}, base {}) lost {} = {} of {} at version {}", event_.version,
                                  event_.actor, event_.base, change.key.path.text(), brief(value), dot.actor,
                                  dot.version()));
  }

  void compare(const Change& change, const Cell& old) {
    if (const auto* cell = std::get_if<RegisterCell>(&old)) {
      for (const Sibling& sibling : cell->siblings) compare_sibling(change, sibling);
    } else if (const auto* element = std::get_if<ElementCell>(&old)) {
      for (const Dot& dot : element->dots) compare_dot(change, *element, dot);
    } else if (!change.image) {
      compare_whole(change, old);
    }
  }

  void compare_sibling(const Change& change, const Sibling& old) {
    if (had_seen(old.dot)) return;
    const auto* now = change.image ? std::get_if<RegisterCell>(&*change.image) : nullptr;
    const bool is_kept =
        now != nullptr && std::any_of(now->siblings.begin(), now->siblings.end(),
                                      [&](const Sibling& sibling) { return sibling.value == old.value; });
    if (!is_kept && !is_suggested(change.key.path, old)) lost(change, old.dot, old.value);
  }

  // The same value at the same confidence is among the suggestions after the event.
  bool is_suggested(const Path& path, const Sibling& old) const {
    const auto fits = [&](const Cell& cell) {
      const auto* suggestion = std::get_if<SuggestionCell>(&cell);
      return suggestion != nullptr && suggestion->value == old.value &&
             suggestion->dot.confidence == old.dot.confidence;
    };
    const bool is_new = std::any_of(event_.changes.begin(), event_.changes.end(), [&](const Change& change) {
      return change.key.path == path && change.image && fits(*change.image);
    });
    const auto [begin, end] = before_.range(path);
    return is_new ||
           std::any_of(begin, end, [&](const auto& entry) { return entry.first.path == path && fits(entry.second); });
  }

  void compare_dot(const Change& change, const ElementCell& old, const Dot& dot) {
    if (had_seen(dot)) return;
    const auto* now = change.image ? std::get_if<ElementCell>(&*change.image) : nullptr;
    const bool is_covered = now != nullptr && std::any_of(now->dots.begin(), now->dots.end(), [&](const Dot& newer) {
                              return newer.mark >= dot.mark && newer.confidence >= dot.confidence;
                            });
    if (!is_covered) lost(change, dot, old.value);
  }

  // Counters, log entries and suggestions: gone as a whole.
  void compare_whole(const Change& change, const Cell& old) {
    if (const auto* counter = std::get_if<CounterCell>(&old)) {
      if (!had_seen(counter->dot)) lost(change, counter->dot, counter->total);
    } else if (const auto* entry = std::get_if<EntryCell>(&old)) {
      if (!had_seen(entry->dot)) lost(change, entry->dot, entry->value);
    } else if (const auto* extremum = std::get_if<ExtremumCell>(&old)) {
      if (!had_seen(extremum->dot)) lost(change, extremum->dot, extremum->value);
    } else if (const auto* suggestion = std::get_if<SuggestionCell>(&old)) {
      if (!had_seen(suggestion->dot) && !is_full(change.key.path)) lost(change, suggestion->dot, suggestion->value);
    }
  }

  // As many suggestions as a field keeps: the oldest one gives way, and stays in the history.
  bool is_full(const Path& path) const {
    const auto [begin, end] = before_.range(path);
    const auto count = std::count_if(begin, end, [&](const auto& entry) {
      return entry.first.path == path && entry.first.part == Part::suggestion;
    });
    return static_cast<std::size_t>(count) >= limits::suggestions_max;
  }

  const blackboard::Board& before_;
  const codec::FeedEvent& event_;
  std::vector<std::string> losses_;
};

}  // namespace

std::vector<std::string> unlawful_losses(const blackboard::Board& before, const codec::FeedEvent& event) {
  return Inspector(before, event).inspect();
}

}  // namespace tafel::demo
