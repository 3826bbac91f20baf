#include "common/codec/value_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.hpp"

namespace tafel::codec {
namespace {

bool by_key(const MapEntry& left, const MapEntry& right) { return left.first < right.first; }
bool same_key(const MapEntry& left, const MapEntry& right) { return left.first == right.first; }

}  // namespace

bool ValueBuilder::put(Value value) {
  if (open_.empty()) {
    root_ = std::move(value);
    return true;
  }
  Frame& frame = open_.back();
  if (!frame.is_map) {
    frame.items.push_back(std::move(value));
    return true;
  }
  TAFEL_CHECK(frame.key.has_value(), "a member has a key");
  frame.members.emplace_back(std::move(*frame.key), std::move(value));
  frame.key.reset();
  return true;
}

bool ValueBuilder::begin_list(std::size_t reserve) { return begin(false, reserve); }

bool ValueBuilder::begin_map(std::size_t reserve) { return begin(true, reserve); }

bool ValueBuilder::begin(bool is_map, std::size_t reserve) {
  if (open_.size() >= depth_max_) return refuse(fmt::format("lists and maps nested deeper than {}", depth_max_));
  Frame& frame = open_.emplace_back();
  frame.is_map = is_map;
  if (is_map) {
    frame.members.reserve(reserve);
  } else {
    frame.items.reserve(reserve);
  }
  return true;
}

bool ValueBuilder::key(std::string key) {
  open_.back().key = std::move(key);
  return true;
}

bool ValueBuilder::end() {
  Frame& frame = open_.back();
  // The keys are compared once, when all are known: a set beside them would double the memory of every map.
  std::sort(frame.members.begin(), frame.members.end(), by_key);
  const auto twice = std::adjacent_find(frame.members.begin(), frame.members.end(), same_key);
  if (twice != frame.members.end()) {
    frame.key = twice->first;
    return refuse(fmt::format("the key {} stands twice in one map", brief(Value(twice->first))));
  }
  Value value = frame.is_map ? Value(std::move(frame.members)) : Value(std::move(frame.items));
  open_.pop_back();
  return put(std::move(value));
}

bool ValueBuilder::refuse(std::string message) {
  error_ = std::move(message);
  return false;
}

std::vector<std::string> ValueBuilder::location() const {
  std::vector<std::string> steps;
  for (const Frame& frame : open_) {
    if (!frame.is_map) {
      steps.push_back(std::to_string(frame.items.size()));
    } else if (frame.key) {
      steps.push_back(*frame.key);
    }
  }
  return steps;
}

Value ValueBuilder::take_partial() {
  std::optional<Value> inner;
  for (; !open_.empty(); open_.pop_back()) {
    Frame& frame = open_.back();
    if (inner && frame.is_map) {
      frame.members.emplace_back(frame.key.value_or(std::string()), std::move(*inner));
    } else if (inner) {
      frame.items.push_back(std::move(*inner));
    }
    std::stable_sort(frame.members.begin(), frame.members.end(), by_key);
    frame.members.erase(std::unique(frame.members.begin(), frame.members.end(), same_key), frame.members.end());
    inner = frame.is_map ? Value(std::move(frame.members)) : Value(std::move(frame.items));
  }
  return inner ? std::move(*inner) : take();
}

}  // namespace tafel::codec
