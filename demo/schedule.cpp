#include "demo/schedule.hpp"

#include <algorithm>
#include <optional>

#include "common/base/check.hpp"
#include "demo/seen.hpp"

namespace tafel::demo {
namespace {

bool is_listed(const std::vector<Value>& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

void add_once(std::vector<Value>& values, const Value& value) {
  if (!is_listed(values, value)) values.push_back(value);
}

// Collects the words of one delta.
class Listener {
 public:
  Listener(const Delta& delta, const blackboard::Board& seen) : delta_(delta), seen_(seen) {}

  void hear(const Op& op) {
    auto path = Path::parse(op.path);
    TAFEL_CHECK(path.has_value(), "the server took the path, so it is well-formed");
    confidence_ = op.confidence.value_or(delta_.confidence.value_or(Confidence::stated));
    switch (op.verb) {
      case Verb::set: hear_value(*path, op.value, true); return;
      case Verb::patch: hear_patch(*path, op.add, op.remove, op.reset); return;
      case Verb::incr: put(*path, Word::Act::count, op.value); return;
      case Verb::append: put(*path, Word::Act::append, op.value); return;
      default: TAFEL_CHECK(false, "the demo's agents do not use this verb");
    }
  }

  std::vector<Word> take() { return std::move(words_); }

 private:
  void put(const Path& path, Word::Act act, const Value& value) { words_.push_back({path, act, value, confidence_}); }

  void hear_value(const Path& path, const Value& value, bool is_direct) {
    if (is_blank(value)) return;
    if (const auto* map = value.get_if<Map>()) {
      for (const auto& [key, member] : *map) hear_value(path.child(key), member, false);
      return;
    }
    const auto* list = value.get_if<List>();
    if (list != nullptr && !elements_at(seen_, path).empty()) return hear_patch(path, {}, {}, *list);
    if (!repeats(path, value, is_direct)) put(path, Word::Act::say, value);
  }

  // True when the writer saw the value there; but it may confirm it, or choose it among several.
  bool repeats(const Path& path, const Value& value, bool is_direct) const {
    const RegisterCell* cell = register_at(seen_, path);
    if (cell == nullptr) return false;
    const auto equal = std::find_if(cell->siblings.begin(), cell->siblings.end(),
                                    [&](const Sibling& sibling) { return sibling.value == value; });
    if (equal == cell->siblings.end()) return false;
    return !is_direct || (cell->siblings.size() == 1 && confidence_ <= equal->dot.confidence);
  }

  void hear_patch(const Path& path, const std::vector<Value>& add, const std::vector<Value>& remove,
                  const std::optional<std::vector<Value>>& reset) {
    const bool is_reset = reset && !is_blank(Value(List(*reset)));
    std::vector<Value> wanted;
    if (is_reset) {
      for (const Value& value : *reset) {
        if (!is_blank(value) && !is_listed(remove, value)) add_once(wanted, value);
      }
    }
    for (const Value& value : add) {
      if (!is_blank(value)) add_once(wanted, value);
    }
    for (const ElementCell& element : elements_at(seen_, path)) {
      const bool is_named = is_listed(remove, element.value) || (is_reset && !is_listed(*reset, element.value));
      if (is_listed(wanted, element.value)) {
        const bool confirms = is_listed(add, element.value) && confidence_ > highest_confidence(element);
        if (confirms) put(path, Word::Act::add, element.value);
        std::erase(wanted, element.value);
      } else if (is_named) {
        put(path, Word::Act::remove, element.value);
      }
    }
    for (const Value& value : wanted) put(path, Word::Act::add, value);
  }

  const Delta& delta_;
  const blackboard::Board& seen_;
  Confidence confidence_ = Confidence::stated;
  std::vector<Word> words_;
};

}  // namespace

std::vector<Word> news_of(const Delta& delta, const blackboard::Board& seen) {
  Listener listener(delta, seen);
  for (const Op& op : delta.ops) listener.hear(op);
  return listener.take();
}

}  // namespace tafel::demo
