#include "demo/naive.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/base/check.hpp"
#include "demo/seen.hpp"

namespace tafel::demo {
namespace {

using Segments = std::span<const std::string>;

Segments segments_of(const std::vector<std::string>& path) { return {path.data(), path.size()}; }

const Value* find_at(const Value& tree, Segments path) {
  const Value* at = &tree;
  for (const std::string& segment : path) {
    at = at->find(segment);
    if (at == nullptr) return nullptr;
  }
  return at;
}

Value& place_at(Value& tree, Segments path) {
  Value* at = &tree;
  for (const std::string& segment : path) {
    if (at->get_if<Map>() == nullptr) *at = Value(Map{});
    if (at->find(segment) == nullptr) at->set(segment, Value());
    Map& map = *at->get_if<Map>();
    at = &std::find_if(map.begin(), map.end(), [&](const MapEntry& entry) { return entry.first == segment; })->second;
  }
  return *at;
}

List list_at(const Value& tree, Segments path) {
  const Value* found = find_at(tree, path);
  const auto* list = found == nullptr ? nullptr : found->get_if<List>();
  return list == nullptr ? List{} : *list;
}

// What one agent does to its own copy, and which leaves it speaks of.
class Writer {
 public:
  explicit Writer(const Value& seen) : copy_(seen) {}

  void write(const Op& op) {
    const auto path = Path::parse(op.path);
    TAFEL_CHECK(path.has_value(), "the server took the path, so it is well-formed");
    const auto segments = path->segments();
    switch (op.verb) {
      case Verb::set: set(segments, op.value); return;
      case Verb::patch: put(segments, patched(list_at(copy_, segments_of(segments)), op)); return;
      case Verb::incr: put(segments, number_at(segments) + op.value.as_int64().value_or(0)); return;
      case Verb::append: put(segments, appended(segments, op.value)); return;
      default: TAFEL_CHECK(false, "the demo's agents do not use this verb");
    }
  }

  const Value& copy() const { return copy_; }
  const std::vector<std::vector<std::string>>& touched() const { return touched_; }

 private:
  void put(const std::vector<std::string>& path, Value value) {
    place_at(copy_, segments_of(path)) = std::move(value);
    touched_.push_back(path);
  }

  void set(std::vector<std::string> path, const Value& value) {
    const auto* map = value.get_if<Map>();
    if (map == nullptr) return put(path, value);
    for (const auto& [key, member] : *map) {
      path.push_back(key);
      set(path, member);
      path.pop_back();
    }
  }

  static Value patched(List list, const Op& op) {
    if (op.reset) list = *op.reset;
    std::erase_if(list, [&](const Value& item) {
      return std::find(op.remove.begin(), op.remove.end(), item) != op.remove.end();
    });
    for (const Value& item : op.add) {
      if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    }
    return list;
  }

  std::int64_t number_at(const std::vector<std::string>& path) const {
    const Value* found = find_at(copy_, segments_of(path));
    return found == nullptr ? 0 : found->as_int64().value_or(0);
  }

  Value appended(const std::vector<std::string>& path, const Value& entry) const {
    List list = list_at(copy_, segments_of(path));
    list.push_back(entry);
    return list;
  }

  Value copy_;
  std::vector<std::vector<std::string>> touched_;
};

std::size_t encoded_bytes(const Value& message) { return canonical(message).size(); }

// What the way makes of the state `now` when the writer's message arrives; adds the message's size to `bytes`.
Value arrive(NaiveWay way, const Writer& writer, Value now, std::size_t& bytes) {
  Value message{Map{}};
  switch (way) {
    case NaiveWay::whole_state: bytes += encoded_bytes(writer.copy()); return writer.copy();
    case NaiveWay::shallow_merge:
      for (const auto& path : writer.touched()) message.set(path.front(), *writer.copy().find(path.front()));
      for (const auto& [key, value] : *message.get_if<Map>()) now.set(key, value);
      break;
    case NaiveWay::final_fields:
      for (const auto& path : writer.touched()) {
        const Value& value = *find_at(writer.copy(), segments_of(path));
        message.set(path_text(path), value);
        if (!is_blank(value)) place_at(now, segments_of(path)) = value;
      }
      break;
  }
  bytes += encoded_bytes(message);
  return now;
}

}  // namespace

std::string_view name_of(NaiveWay way) {
  switch (way) {
    case NaiveWay::whole_state: return "whole_state";
    case NaiveWay::shallow_merge: return "shallow_merge";
    case NaiveWay::final_fields: return "final_fields";
  }
  return "";
}

NaiveRun merge_naively(NaiveWay way, const Schedule& schedule) {
  std::vector<Value> states{Value(Map{})};  // by version
  NaiveRun run;
  for (const Arrival& arrival : schedule.arrivals) {
    TAFEL_CHECK(arrival.base < states.size(), "a base is a version that was there");
    Writer writer(states[arrival.base]);
    for (const Op& op : arrival.delta.ops) writer.write(op);
    states.push_back(arrive(way, writer, states.back(), run.bytes));
  }
  run.state = std::move(states.back());
  return run;
}

}  // namespace tafel::demo
