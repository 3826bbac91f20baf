#include "conflict/restore.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "common/base/limits.hpp"

namespace tafel::conflict {
namespace {

// Distinct marks that one op may need within one field: the values of a register, and what is held beside them.
constexpr std::size_t marks_per_op = limits::siblings_max + limits::delta_leaves_max;

bool is_equal(const Dot& left, const Dot& right) {
  return left.confidence == right.confidence && left.expires == right.expires;
}

// In the order in which a reader sees them: the conflicts, and last the value that is shown.
std::vector<Sibling> in_order_of_sight(const RegisterCell& cell) {
  std::vector<Sibling> siblings = cell.siblings;
  const auto shown = siblings.begin() + (&shown_sibling(cell) - cell.siblings.data());
  std::rotate(shown, shown + 1, siblings.end());
  return siblings;
}

struct SaysTheSame {
  bool operator()(const RegisterCell& left, const RegisterCell& right) const {
    const auto a = in_order_of_sight(left);
    const auto b = in_order_of_sight(right);
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Sibling& x, const Sibling& y) { return x.value == y.value && is_equal(x.dot, y.dot); });
  }
  bool operator()(const CounterCell& left, const CounterCell& right) const {
    return left.total == right.total && is_equal(left.dot, right.dot);
  }
  bool operator()(const ExtremumCell& left, const ExtremumCell& right) const {
    return left.is_max == right.is_max && left.value == right.value && is_equal(left.dot, right.dot);
  }
  bool operator()(const ElementCell& left, const ElementCell& right) const {
    return left.first == right.first && left.place == right.place &&
           std::equal(left.dots.begin(), left.dots.end(), right.dots.begin(), right.dots.end(), is_equal);
  }
  bool operator()(const EntryCell& left, const EntryCell& right) const {
    return left.value == right.value && is_equal(left.dot, right.dot);
  }
  bool operator()(const SuggestionCell& left, const SuggestionCell& right) const {
    return left.act == right.act && left.value == right.value && is_equal(left.dot, right.dot);
  }
  template <class Left, class Right>
  bool operator()(const Left&, const Right&) const {
    return false;  // of two kinds
  }
};

template <class CellType, class MaybeCell>
const CellType* as(const MaybeCell& cell) {
  return cell ? std::get_if<CellType>(&*cell) : nullptr;
}

bool holds(const std::vector<Sibling>& siblings, const Value& value) {
  return std::any_of(siblings.begin(), siblings.end(), [&](const Sibling& s) { return s.value == value; });
}

}  // namespace

bool says_the_same(const std::optional<Cell>& left, const std::optional<Cell>& right) {
  if (!left || !right) return !left && !right;
  return std::visit(SaysTheSame{}, *left, *right);
}

Dot LeafRevert::dot(const Dot& was, std::size_t number) const {
  Dot dot = writing_.dot(path_, std::min(was.confidence, confidence_));
  if (number > 0) {
    dot.mark.op = static_cast<std::uint32_t>(limits::delta_ops_max + writing_.op.index * marks_per_op + number - 1);
  }
  dot.expires = was.expires;
  return dot;
}

void LeafRevert::hold_back(SuggestionCell::Act act, const Value& value, Confidence confidence) {
  Dot suggested = writing_.dot(path_, confidence);
  if (held_count_ > 0) {
    suggested.mark.op = static_cast<std::uint32_t>(limits::delta_ops_max + writing_.op.index * marks_per_op +
                                                   limits::siblings_max + held_count_ - 1);
  }
  outcome_.gated = true;
  auto id = hold(writing_.draft, path_, act, value, suggested);
  if (!id) return unchanged(Reason::repeated);
  ++held_count_;
  outcome_.held.push_back(std::move(*id));
}

void LeafRevert::unchanged(Reason reason) {
  if (!outcome_.reason || reason < *outcome_.reason) outcome_.reason = reason;
}

LeafOutcome LeafRevert::outcome() && {
  if (outcome_.outcome == Outcome::unchanged && !outcome_.held.empty()) outcome_.outcome = Outcome::held;
  if (outcome_.outcome != Outcome::unchanged) {
    outcome_.reason = std::nullopt;
  } else if (!outcome_.reason) {
    outcome_.reason = Reason::echo;
  }
  return std::move(outcome_);
}

// --- taking away -----------------------------------------------------------------------------------------------------

std::optional<ErrorInfo> LeafRevert::take_away() {
  for (const Restoration& cell : cells_) {
    if (cell.key.part == Part::suggestion) {
      set_suggestion(cell);
    } else if (cell.key.part == Part::element && !cell.target) {
      take_element_away(cell.key);
    } else if (cell.key.part == Part::entry && !cell.target) {
      take_entry_away(cell.key);
    } else if (cell.key.part == Part::leaf &&
               (!cell.target || (cell.seen && kind_of(*cell.target) != kind_of(*cell.seen)))) {
      if (auto error = take_leaf_away()) return error;
    }
  }
  hold_unremoved();
  return std::nullopt;
}

// One suggestion lists all elements that could not go, in their order.
void LeafRevert::hold_unremoved() {
  if (unremoved_.empty()) return;
  std::sort(unremoved_.begin(), unremoved_.end(), [](const ElementCell& a, const ElementCell& b) {
    return std::tie(a.first, a.place) < std::tie(b.first, b.place);
  });
  List elements;
  for (const ElementCell& element : unremoved_) elements.push_back(element.value);
  hold_back(SuggestionCell::Act::remove, elements, confidence_);
}

std::optional<ErrorInfo> LeafRevert::take_leaf_away() {
  const auto now = writing_.draft.cell(leaf_key(path_));
  if (!now) {
    unchanged(Reason::absent);
    return std::nullopt;
  }
  const auto removal = remove_leaf(writing_, path_, *kind_of(*now), confidence_);
  if (!removal) return removal.error();
  if (removal->removed) outcome_.outcome = Outcome::applied;
  if (removal->spared) unchanged(Reason::not_seen);
  if (removal->held_back) hold_back(SuggestionCell::Act::unset, Nil{}, confidence_);
  return std::nullopt;
}

void LeafRevert::take_element_away(const CellKey& key) {
  const auto now = writing_.draft.cell(key);
  if (!now) return unchanged(Reason::absent);
  ElementCell cell = std::get<ElementCell>(*now);
  const bool is_surer = std::any_of(cell.dots.begin(), cell.dots.end(),
                                    [&](const Dot& dot) { return is_seen(dot) && dot.confidence > confidence_; });
  const auto gone =
      std::erase_if(cell.dots, [&](const Dot& dot) { return is_seen(dot) && dot.confidence <= confidence_; });
  if (is_surer) unremoved_.push_back(std::get<ElementCell>(*now));
  if (gone == 0) return is_surer ? void() : unchanged(Reason::not_seen);
  outcome_.outcome = Outcome::applied;
  writing_.draft.put(key, cell.dots.empty() ? std::nullopt : std::optional<Cell>(std::move(cell)));
}

void LeafRevert::take_entry_away(const CellKey& key) {
  const auto now = writing_.draft.cell(key);
  if (!now) return unchanged(Reason::absent);
  if (!is_seen(std::get<EntryCell>(*now).dot)) return unchanged(Reason::not_seen);
  if (std::get<EntryCell>(*now).dot.confidence > confidence_) {
    return hold_back(SuggestionCell::Act::unset, Value(mark_text(mark_from_id(key.id))), confidence_);
  }
  outcome_.outcome = Outcome::applied;
  writing_.draft.put(key, std::nullopt);
}

// A suggestion never changes: it is there or it is not. It comes back under its id, as whoever made it.
void LeafRevert::set_suggestion(const Restoration& cell) {
  const auto now = writing_.draft.cell(cell.key);
  if ((now != nullptr) == cell.target.has_value()) return unchanged(Reason::echo);
  outcome_.outcome = Outcome::applied;
  writing_.draft.put(cell.key, cell.target);
  const auto held = writing_.draft.parts(path_, Part::suggestion);
  if (held.size() > limits::suggestions_max) writing_.draft.put(held.front().first, std::nullopt);
}

// --- bringing back ---------------------------------------------------------------------------------------------------

std::optional<ErrorInfo> LeafRevert::bring_back() {
  std::optional<Kind> brought;
  for (const Restoration& cell : cells_) {
    if (!cell.target || cell.key.part == Part::suggestion) continue;
    const Kind kind = *kind_of(*cell.target);
    if (brought != kind) {
      if (auto error = make_room_for(kind)) return error;
    }
    brought = kind;
    if (auto error = bring_back(cell)) return error;
  }
  if (brought == Kind::log) keep_newest(writing_, path_);
  return std::nullopt;
}

std::optional<ErrorInfo> LeafRevert::make_room_for(Kind kind) {
  if (auto error = check_place(writing_, path_, kind)) return error;
  const auto present = writing_.draft.kind(path_);
  if (!present) writing_.draft.make_room(path_);
  if (!present || *present == kind) return std::nullopt;
  return writing_.refused(ErrorCode::kind_mismatch, path_,
                          fmt::format("{} is a {} now, which this revert does not take away, and was a {}",
                                      path_.text(), name_of(*present), name_of(kind)));
}

// What comes back is held against the schema of now, like everything that gets in.
std::optional<ErrorInfo> LeafRevert::check_against_schema(const Cell& target) const {
  if (const auto* reg = std::get_if<RegisterCell>(&target)) {
    for (const Sibling& sibling : reg->siblings) {
      if (auto error = check_schema(writing_, path_, sibling.value)) return error;
    }
    return check_step(writing_, path_, shown_sibling(*reg).value);
  }
  if (const auto* element = std::get_if<ElementCell>(&target)) return check_schema(writing_, path_, element->value);
  if (const auto* entry = std::get_if<EntryCell>(&target)) return check_schema(writing_, path_, entry->value);
  if (const auto* extremum = std::get_if<ExtremumCell>(&target)) return check_schema(writing_, path_, extremum->value);
  return check_declared(writing_, path_);
}

std::optional<ErrorInfo> LeafRevert::bring_back(const Restoration& cell) {
  if (auto error = check_against_schema(*cell.target)) return error;
  if (const auto* reg = as<RegisterCell>(cell.target)) return bring_register_back(*reg);
  if (as<CounterCell>(cell.target) != nullptr) return bring_counter_back(cell);
  if (const auto* extremum = as<ExtremumCell>(cell.target)) {
    bring_extremum_back(*extremum);
  } else if (as<ElementCell>(cell.target) != nullptr) {
    bring_element_back(cell);
  } else if (const auto* entry = as<EntryCell>(cell.target)) {
    bring_entry_back(cell.key, *entry);
  }
  return std::nullopt;
}

std::optional<ErrorInfo> LeafRevert::bring_register_back(const RegisterCell& target) {
  RegisterCell back;
  for (const Sibling& sibling : in_order_of_sight(target)) {
    back.siblings.push_back({sibling.value, dot(sibling.dot, back.siblings.size())});
  }
  const Confidence confidence = back.siblings.front().dot.confidence;  // one register, one confidence
  const auto present = writing_.draft.cell(leaf_key(path_));
  RegisterCell now = present ? std::get<RegisterCell>(*present) : RegisterCell{};
  const OnConflict policy = writing_.schema.rule(path_).on_conflict;
  std::vector<Sibling> surer;
  std::vector<Sibling> beside;  // concurrent, of the same confidence
  std::vector<Sibling> weaker;
  for (const Sibling& sibling : now.siblings) {
    const Confidence other = sibling.dot.confidence;
    const bool is_new = !is_seen(sibling.dot);
    if (other > confidence_ || (is_new && other > confidence)) {
      surer.push_back(sibling);
    } else if (!is_new || holds(back.siblings, sibling.value)) {
      continue;  // superseded, or merged into what comes back
    } else if (other < confidence) {
      weaker.push_back(sibling);
    } else if (policy == OnConflict::reject) {
      return concurrent_change(writing_, path_, sibling);
    } else if (policy == OnConflict::first) {
      surer.push_back(sibling);
    } else if (policy == OnConflict::keep_both) {
      beside.push_back(sibling);
    }
  }
  if (!surer.empty()) {
    for (const Sibling& sibling : back.siblings) {
      if (holds(surer, sibling.value)) {
        unchanged(Reason::repeated);
      } else {
        hold_back(SuggestionCell::Act::set, sibling.value, confidence);
      }
    }
    return std::nullopt;
  }
  if (beside.size() + back.siblings.size() > limits::siblings_max) return too_many_siblings(writing_, path_);
  for (const Sibling& sibling : weaker) {
    hold(writing_.draft, path_, SuggestionCell::Act::set, sibling.value, sibling.dot);
  }
  outcome_.outcome = beside.empty() ? Outcome::applied : Outcome::kept_both;
  back.siblings.insert(back.siblings.begin(), beside.begin(), beside.end());
  writing_.draft.put(leaf_key(path_), std::move(back));
  return std::nullopt;
}

// The difference is taken off, as an increment is put on: whoever counts at the same time, all increments stay.
std::optional<ErrorInfo> LeafRevert::bring_counter_back(const Restoration& cell) {
  const std::int64_t initial = writing_.schema.rule(path_).initial;
  const auto present = writing_.draft.cell(leaf_key(path_));
  const auto* target = as<CounterCell>(cell.target);
  const auto* seen = as<CounterCell>(cell.seen);
  const auto* now = as<CounterCell>(present);
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(target->total, seen != nullptr ? seen->total : initial, &difference)) {
    return writing_.refused(ErrorCode::out_of_bounds, path_, path_.text() + " moved further than an int64 can tell");
  }
  const auto total = sum_in_range(writing_, path_, now != nullptr ? now->total : initial, difference);
  if (!total) return total.error();
  CounterCell back{*total, dot(target->dot, 0)};
  const bool is_concurrent = now != nullptr && !is_seen(now->dot);
  if (now != nullptr && (is_concurrent || now->dot.confidence > confidence_)) {
    back.dot.confidence = std::max(back.dot.confidence, now->dot.confidence);
  }
  outcome_.outcome = Outcome::applied;
  writing_.draft.put(leaf_key(path_), back);
  return std::nullopt;
}

void LeafRevert::bring_extremum_back(const ExtremumCell& target) {
  const auto present = writing_.draft.cell(leaf_key(path_));
  const auto* now = as<ExtremumCell>(present);
  ExtremumCell back{target.is_max, target.value, dot(target.dot, 0)};
  if (now != nullptr && !is_seen(now->dot)) {  // it moved since: the two join
    const int order = compare_numbers(target.value, now->value);
    if (target.is_max ? order <= 0 : order >= 0) return unchanged(Reason::not_seen);
    back.dot.confidence = std::max(back.dot.confidence, now->dot.confidence);
  } else if (now != nullptr && now->dot.confidence > confidence_) {
    return hold_back(SuggestionCell::Act::set, target.value, back.dot.confidence);
  }
  outcome_.outcome = Outcome::applied;
  writing_.draft.put(leaf_key(path_), back);
}

void LeafRevert::bring_element_back(const Restoration& cell) {
  const auto& target = std::get<ElementCell>(*cell.target);
  // What this does depends on the state at the base alone, as with a patch: so the order of arrival does not matter.
  const auto* seen = as<ElementCell>(cell.seen);
  const bool is_surer = seen != nullptr && seen->dots.front().confidence > confidence_;
  if (is_surer) return unchanged(Reason::repeated);  // it is there, and surer than this revert could make it
  const auto present = writing_.draft.cell(cell.key);
  ElementCell back{target.value, target.first, target.place, {}};
  if (const auto* now = as<ElementCell>(present)) {
    const bool stood_there = seen != nullptr && seen->first == now->first && seen->place == now->place;
    if (!stood_there) {  // somebody has added it since: it stands where that put it
      back.first = now->first;
      back.place = now->place;
    }
    back.dots = now->dots;
    std::erase_if(back.dots, [&](const Dot& dot) { return is_seen(dot); });
  }
  std::vector<Dot> fresh;
  for (const Dot& was : target.dots) {
    const Dot next = dot(was, fresh.size());
    if (fresh.empty() || next.confidence < fresh.back().confidence) {
      fresh.push_back(next);
    } else if (!next.expires || (fresh.back().expires && *next.expires > *fresh.back().expires)) {
      fresh.back().expires = next.expires;  // equally sure under the cap: the one that stays longer
    }
  }
  // What comes back is the newest: it makes every dot superfluous that is not surer.
  std::erase_if(back.dots, [&](const Dot& old) { return old.confidence <= fresh.front().confidence; });
  back.dots.insert(back.dots.end(), fresh.begin(), fresh.end());
  outcome_.outcome = Outcome::applied;
  writing_.draft.put(cell.key, std::move(back));
}

// An entry comes back under its key and as whoever said it; it is not said again.
void LeafRevert::bring_entry_back(const CellKey& key, const EntryCell& target) {
  EntryCell back = target;
  back.dot.confidence = std::min(back.dot.confidence, confidence_);
  const auto present = writing_.draft.cell(key);
  const auto* now = as<EntryCell>(present);
  if (now != nullptr && now->dot.confidence > confidence_) return unchanged(Reason::repeated);
  outcome_.outcome = Outcome::applied;
  writing_.draft.put(key, std::move(back));
}

}  // namespace tafel::conflict
