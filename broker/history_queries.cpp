// Questions about the past of a board: who wrote what stands there, the revisions of a field, where an actor has
// written.
#include <algorithm>
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
  return revisions;
}

Answer Query::history() {
  const auto head = this->head();
  if (!head) return tl::unexpected(head.error());
  const std::size_t count = question_.count.value_or(history_page);
  Version version = std::min(question_.before.value_or(head->version + 1), head->version + 1);
  List revisions;
  std::size_t bytes = 0;
  std::size_t looked_at = 0;
  while (version > head->floor + 1 && revisions.size() < count && bytes < limits::page_bytes &&
         looked_at++ < limits::history_page_events) {
    const auto event = this->event(--version);
    if (!event) return tl::unexpected(event.error());
    const bool touches = std::any_of(event->changes.begin(), event->changes.end(), [&](const LoggedChange& logged) {
      return logged.change.key.path.is_at_or_below(*question_.path);
    });
    if (!touches) continue;
    auto made = revisions_of(*event);
    if (!made) return tl::unexpected(made.error());
    for (Value& revision : *made) {
      bytes += canonical(revision).size();
      revisions.push_back(std::move(revision));
    }
  }
  return codec::encode(Map{{"version", head->version},
                           {"revisions", std::move(revisions)},
                           {"next", version > head->floor + 1 ? Value(version) : Value()}});
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
