#include "broker/log_view.hpp"

#include <algorithm>
#include <utility>

namespace tafel::broker {
namespace {

bool may_read_text(const Rights& rights, const std::string& text) {
  const auto path = Path::parse(text);
  return path && rights.may_read(*path);
}

// Whether every leaf may be read that `value` would make at `path` when it is spread. A map that was stored whole is
// looked at in the same way: rather too little is shown than too much.
bool may_read_tree(const Rights& rights, const Path& path, const Value& value) {
  const auto* map = value.get_if<Map>();
  if (map == nullptr || map->empty()) return rights.may_read(path);
  return std::all_of(map->begin(), map->end(), [&](const MapEntry& entry) {
    return !segment_defect(entry.first) && may_read_tree(rights, path.child(entry.first), entry.second);
  });
}

bool may_see(const Rights& rights, const Op& op) {
  const auto path = Path::parse(op.path);
  if (!path || !may_read_tree(rights, *path, op.value)) return false;
  return op.from.empty() || may_read_text(rights, op.from);
}

void redact(OpResult& result, const Op& op, const Rights& rights) {
  std::erase_if(result.leaves, [&](const LeafResult& leaf) { return !may_read_text(rights, leaf.path); });
  const auto path = Path::parse(op.path);
  if (result.current && !may_read_tree(rights, *path, result.current->value)) result.current.reset();
}

void redact_ops(Event& event, const Rights& rights) {
  std::vector<Op> ops;
  std::vector<OpResult> results;
  for (std::size_t i = 0; i < event.ops.size() && i < event.results.size(); ++i) {
    if (!may_see(rights, event.ops[i])) continue;
    redact(event.results[i], event.ops[i], rights);
    ops.push_back(std::move(event.ops[i]));
    results.push_back(std::move(event.results[i]));
  }
  event.ops = std::move(ops);
  event.results = std::move(results);
}

}  // namespace

Event visible_part(Event event, const Rights& rights) {
  if (rights.may_read_everything()) return event;
  redact_ops(event, rights);
  std::erase_if(event.changes, [&](const LoggedChange& logged) { return !rights.may_read(logged.change.key.path); });
  if (event.ops.empty() && event.changes.empty()) {
    event.actor.clear();
    event.delta_id.clear();
    event.base = 0;
    event.source = {};
  }
  return event;
}

}  // namespace tafel::broker
