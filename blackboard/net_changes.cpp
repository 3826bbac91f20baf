#include "blackboard/net_changes.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "blackboard/read.hpp"

namespace tafel::blackboard {
namespace {

using Field = std::optional<FieldView>;

Field field_at(const Board& board, const Path& path, TimeMs now) {
  auto found = fields(board, path, {now, nullptr});
  if (found.empty() || found.front().path != path) return std::nullopt;
  return std::move(found.front());
}

Confidence first_confidence(const ElementCell& element) { return element.dots.front().confidence; }

const ElementCell* find_element(const Field& field, const Value& value) {
  if (!field) return nullptr;
  const auto at = std::find_if(field->elements.begin(), field->elements.end(),
                               [&](const ElementCell& element) { return element.value == value; });
  return at == field->elements.end() ? nullptr : &*at;
}

bool has_entry(const Field& field, const Mark& mark) {
  return field && std::any_of(field->entries.begin(), field->entries.end(),
                              [&](const EntryCell& entry) { return entry.dot.mark == mark; });
}

// The ops of one field.
class FieldChanges {
 public:
  FieldChanges(const Path& path, TimeMs now, Confidence cap, std::vector<Op>& ops)
      : path_(path), now_(now), cap_(cap), ops_(ops) {}

  void tell(const Field& before, const Field& after) {
    const bool is_replaced = before && after && before->kind != after->kind;
    if (before && (!after || is_replaced)) unset(*before);
    if (after) write(is_replaced ? std::nullopt : before, *after);
  }

 private:
  Op& op(Verb verb, Confidence confidence) {
    Op& added = ops_.emplace_back();
    added.verb = verb;
    added.path = path_.text();
    added.confidence = std::min(confidence, cap_);
    return added;
  }

  Op& op_with(Verb verb, Confidence confidence, Value value, const std::optional<TimeMs>& expires) {
    Op& added = op(verb, confidence);
    added.value = std::move(value);
    added.has_value = true;
    if (expires) added.ttl_ms = Value(std::max<std::int64_t>(1, *expires - now_));
    return added;
  }

  void unset(const FieldView& before) {
    Confidence highest = before.confidence;
    for (const Sibling& other : before.conflicts) highest = std::max(highest, other.dot.confidence);
    op(Verb::unset, highest);
  }

  void write(const Field& before, const FieldView& after) {
    switch (after.kind) {
      case Kind::register_: return write_register(before, after);
      case Kind::set: return write_set(before, after);
      case Kind::counter: return write_counter(before, after);
      case Kind::max:
      case Kind::min: return write_extremum(before, after);
      case Kind::log: return write_log(before, after);
    }
  }

  void write_register(const Field& before, const FieldView& after) {
    const bool says_more = !before || before->value != after.value || before->confidence < after.confidence;
    if (says_more) op_with(Verb::set, after.confidence, after.value, after.expires);
  }

  void write_set(const Field& before, const FieldView& after) {
    std::map<Confidence, std::vector<Value>> gone;
    if (before) {
      for (const ElementCell& element : before->elements) {
        if (find_element(after, element.value) == nullptr) gone[first_confidence(element)].push_back(element.value);
      }
    }
    for (auto& [confidence, elements] : gone) op(Verb::patch, confidence).remove = std::move(elements);
    Op* last = nullptr;  // elements keep their order, so only neighbours of one confidence share an op
    for (const ElementCell& element : after.elements) {
      const ElementCell* seen = find_element(before, element.value);
      if (seen != nullptr && first_confidence(*seen) >= first_confidence(element)) continue;
      const auto& expires = element.dots.front().expires;
      const Confidence confidence = std::min(first_confidence(element), cap_);
      if (last == nullptr || last->confidence != confidence || expires || last->ttl_ms) {
        last = &op(Verb::patch, confidence);
        if (expires) last->ttl_ms = Value(std::max<std::int64_t>(1, *expires - now_));
      }
      last->add.push_back(element.value);
    }
  }

  void write_counter(const Field& before, const FieldView& after) {
    const std::int64_t total = *after.value.as_int64();
    std::int64_t by = total;
    // A difference outside int64 can not be said in one step.
    if (before && __builtin_sub_overflow(total, *before->value.as_int64(), &by)) {
      unset(*before);
      by = total;
    }
    if (before && by == 0) return;
    op_with(Verb::incr, after.confidence, by, std::nullopt);
  }

  void write_extremum(const Field& before, const FieldView& after) {
    const bool is_max = after.kind == Kind::max;
    const int order = before ? compare_numbers(after.value, before->value) : 0;
    if (before && order == 0) return;
    if (before && (is_max ? order < 0 : order > 0)) unset(*before);
    op_with(is_max ? Verb::max : Verb::min, after.confidence, after.value, std::nullopt);
  }

  void write_log(const Field& before, const FieldView& after) {
    if (before) {
      for (const EntryCell& entry : before->entries) {
        if (!has_entry(after, entry.dot.mark)) op(Verb::unset, entry.dot.confidence).entry = mark_text(entry.dot.mark);
      }
    }
    for (const EntryCell& entry : after.entries) {
      if (has_entry(before, entry.dot.mark)) continue;
      op_with(Verb::append, entry.dot.confidence, entry.value, entry.dot.expires);
    }
  }

  const Path& path_;
  const TimeMs now_;
  const Confidence cap_;
  std::vector<Op>& ops_;
};

}  // namespace

std::vector<Op> net_changes(const Board& before, const Board& after, const std::vector<Path>& paths, TimeMs now,
                            const CapOf& cap_of) {
  std::vector<Op> ops;
  for (const Path& path : paths) {
    FieldChanges(path, now, cap_of(path), ops).tell(field_at(before, path, now), field_at(after, path, now));
  }
  return ops;
}

}  // namespace tafel::blackboard
