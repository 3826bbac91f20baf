// Questions about the past of a board: who wrote what stands there, the revisions of a field, where an actor has
// written.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "broker/cell_words.hpp"
#include "broker/field_difference.hpp"
#include "broker/query.hpp"
#include "common/base/limits.hpp"
#include "common/codec/cell_codec.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/msgpack.hpp"

namespace tafel::broker {
namespace {

constexpr std::size_t history_page = 50;  // revisions, where the question does not say

bool speaks_of(const Op& op, const Path& path) {
  const auto covers = [&](const std::string& text) {
    const auto top = Path::parse(text);
    return top && path.is_at_or_below(*top);
  };
  return covers(op.path) || (!op.from.empty() && covers(op.from));
}

Outcome outcome_at(const OpResult& result, const std::string& path) {
  const auto leaf = std::find_if(result.leaves.begin(), result.leaves.end(),
                                 [&](const LeafResult& each) { return each.path == path; });
  return leaf == result.leaves.end() ? result.outcome : leaf->outcome;
}

bool takes_effect(Outcome outcome) {
  return outcome == Outcome::applied || outcome == Outcome::kept_both || outcome == Outcome::held;
}

// The op by which an event changed a field: the last one that took effect there. What nobody asked for (an expiry) has
// none.
void set_op(Value& words, const Event& event, const Path& path) {
  const std::string text = path.text();
  for (std::size_t i = std::min(event.ops.size(), event.results.size()); i-- > 0;) {
    if (!speaks_of(event.ops[i], path)) continue;
    const Outcome outcome = outcome_at(event.results[i], text);
    if (!takes_effect(outcome)) continue;
    words.set("op", name_of(event.ops[i].verb)).set("outcome", name_of(outcome));
    return;
  }
}

Value revision_of(const Event& event, const Path& path, const FieldDifference& difference) {
  Value words = difference.as_revision();
  words.set("path", path.text())
      .set("version", event.version)
      .set("time", event.time)
      .set("actor", event.actor)
      .set("id", event.delta_id)
      .set("base", event.base)
      .set("source", codec::source_to_map(event.source));
  set_op(words, event, path);
  return words;
}

// Goes through the events that have changed something at or below a path, newest first.
class Backwards {
 public:
  Backwards(store::Snapshot& snapshot, const std::string& board, const Path& path, Version before, Version floor)
      : snapshot_(snapshot), board_(board), path_(path), version_(before), floor_(floor) {}

  // The next one; null at the end, or when enough events were looked at: then `rest` tells where to go on.
  Result<std::shared_ptr<const Event>> next() {
    if (!is_begun_) {
      if (auto begun = begin(); !begun) return tl::unexpected(begun.error());
    }
    return follows_ ? next_of_fields() : next_of_all();
  }
  // What has not been looked at yet lies below this version; nullopt: nothing is left.
  std::optional<Version> rest() const {
    if (version_ <= floor_ + 1 || (follows_ && newest_.empty())) return std::nullopt;
    return version_;
  }

 private:
  using EventPtr = std::shared_ptr<const Event>;

  // The trails of a few fields are followed; of many, all events are read.
  Result<void> begin() {
    is_begun_ = true;
    const auto fields = snapshot_.fields(board_, path_, limits::history_fields_max + 1);
    if (!fields) return tl::unexpected(fields.error());
    follows_ = fields->size() <= limits::history_fields_max;
    for (const Path& field : *fields) {
      if (!follows_) break;
      if (auto found = follow(field, version_); !found) return found;
    }
    return {};
  }

  Result<void> follow(const Path& field, Version before) {
    if (before <= floor_ + 1) return {};
    const auto events = snapshot_.revisions(board_, field, before - 1, 1, 1);
    if (!events) return tl::unexpected(events.error());
    if (events->empty() || events->front()->version <= floor_) return {};
    auto& [event, fields] = newest_[events->front()->version];
    event = events->front();
    fields.push_back(field);
    return {};
  }

  Result<EventPtr> next_of_fields() {
    if (newest_.empty()) return nullptr;
    auto [event, fields] = std::move(newest_.rbegin()->second);
    newest_.erase(std::prev(newest_.end()));
    version_ = event->version;
    for (const Path& field : fields) {
      if (auto found = follow(field, version_); !found) return tl::unexpected(found.error());
    }
    return std::move(event);
  }

  Result<EventPtr> next_of_all() {
    while (version_ > floor_ + 1 && looked_at_++ < limits::history_page_events) {
      --version_;
      const auto records = snapshot_.event_records(board_, version_, version_, 1);
      if (!records) return tl::unexpected(records.error());
      if (records->size() != 1) return fail(Fault::bad_bytes, "the log lacks a version");
      auto event = codec::decode_event(records->front());
      if (!event) return tl::unexpected(event.error());
      const bool touches = std::any_of(event->changes.begin(), event->changes.end(), [&](const LoggedChange& logged) {
        return logged.change.key.path.is_at_or_below(path_);
      });
      if (touches) return std::make_shared<const Event>(std::move(*event));
    }
    return nullptr;
  }

  store::Snapshot& snapshot_;
  const std::string& board_;
  const Path& path_;
  Version version_;
  const Version floor_;
  bool is_begun_ = false;
  bool follows_ = false;
  std::size_t looked_at_ = 0;
  std::map<Version, std::pair<EventPtr, std::vector<Path>>> newest_;  // of each field that is followed
};

}  // namespace

Answer Query::blame() {
  const auto moment = this->moment();
  if (!moment) return tl::unexpected(moment.error());
  const auto board = load(*moment);
  if (!board) return tl::unexpected(board.error());
  Map fields;
  for (const blackboard::FieldView& view : blackboard::fields(*board, question_.path, reader(*moment))) {
    fields.emplace_back(view.path.text(), blame_words(view));
  }
  return codec::encode(
      Map{{"version", moment->version}, {"head", moment->head.version}, {"fields", std::move(fields)}});
}

// The revisions that one event made, in path order.
tl::expected<List, ErrorInfo> Query::revisions_of(const Event& event) {
  const auto page = snapshot_.differences(question_.board, question_.path, event.version - 1, event.version,
                                          std::nullopt, limits::query_load_bytes);
  if (!page) return failed(page.error());
  List revisions;
  for (auto at = page->cells.begin(); at != page->cells.end();) {
    const Path& path = at->key.path;
    FieldDifference difference;
    for (; at != page->cells.end() && at->key.path == path; ++at) {
      if (shows(path)) difference.add(at->key, at->before, at->after);
    }
    if (!difference.empty()) revisions.push_back(revision_of(event, path, difference));
  }
  for (const LoggedChange& logged : event.changes) {  // an erasure leaves nothing that could differ
    const Path& path = logged.change.key.path;
    if (logged.change.key.part != Part::field || !path.is_at_or_below(*question_.path) || !shows(path)) continue;
    Value revision = revision_of(event, path, {});
    revisions.push_back(std::move(revision.set("gone", true)));
  }
  return revisions;
}

Answer Query::history() {
  const auto head = this->head();
  if (!head) return tl::unexpected(head.error());
  const std::size_t count = question_.count.value_or(history_page);
  const Version before = std::min(question_.before.value_or(head->version + 1), head->version + 1);
  Backwards backwards(snapshot_, question_.board, *question_.path, before, head->floor);
  List revisions;
  std::size_t bytes = 0;
  std::optional<Version> rest;
  do {
    const auto event = backwards.next();
    if (!event) return failed(event.error());
    rest = backwards.rest();
    if (*event == nullptr) break;
    auto made = revisions_of(**event);
    if (!made) return tl::unexpected(made.error());
    for (Value& revision : *made) {
      bytes += canonical(revision).size();
      revisions.push_back(std::move(revision));
    }
  } while (revisions.size() < count && bytes < limits::page_bytes);
  return codec::encode(
      Map{{"version", head->version}, {"revisions", std::move(revisions)}, {"next", rest ? Value(*rest) : Value()}});
}

Answer Query::touched() {
  const auto head = this->head();
  if (!head) return tl::unexpected(head.error());
  const Version from = question_.from.value_or(head->floor);
  if (auto error = version_defect(*head, from)) return tl::unexpected(std::move(*error));
  const Version last = std::min<Version>(head->version, from + limits::touched_page_events);
  std::set<Path> paths;
  Version version = from;
  while (version < last) {
    const auto records = snapshot_.event_records(question_.board, version + 1, last, limits::page_bytes);
    if (!records) return failed(records.error());
    for (const std::string& record : *records) {
      const auto event = codec::decode_event(record);
      if (!event) return failed(event.error());
      version = event->version;
      if (event->actor != question_.actor) continue;
      for (const LoggedChange& logged : event->changes) {
        const Path& path = logged.change.key.path;
        if ((!question_.path || path.is_at_or_below(*question_.path)) && shows(path)) paths.insert(path);
      }
    }
    std::size_t bytes = 0;
    for (const Path& path : paths) bytes += path.key().size();
    if (bytes > limits::page_bytes) break;
  }
  List texts;
  for (const Path& path : paths) texts.emplace_back(path.text());
  return codec::encode(Map{{"version", head->version},
                           {"paths", std::move(texts)},
                           {"next", version < head->version ? Value(version) : Value()}});
}

}  // namespace tafel::broker
