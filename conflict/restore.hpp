// One leaf on its way back to what it was: takes away what has come since, then brings back what was there. What is
// newer than the base stays, by the rules of an ordinary write; what is surer than the revert is held as a suggestion.
#pragma once

#include <vector>

#include "conflict/rules.hpp"

namespace tafel::conflict {

// A cell that is to go back: as it shall be, and as the writer saw it.
struct Restoration {
  CellKey key;
  std::optional<Cell> target;
  std::optional<Cell> seen;
};

// Both say the same to a reader: values, confidences, order and expiry. Versions and actors do not count.
bool says_the_same(const std::optional<Cell>& left, const std::optional<Cell>& right);

class LeafRevert {
 public:
  LeafRevert(const Writing& writing, Path path, Confidence confidence, std::vector<Restoration> cells)
      : writing_(writing), path_(std::move(path)), confidence_(confidence), cells_(std::move(cells)) {}

  // First for every leaf of the op, so that there is room for what comes back; then the other, for every leaf.
  std::optional<ErrorInfo> take_away();
  std::optional<ErrorInfo> bring_back();
  LeafOutcome outcome() &&;

 private:
  std::optional<ErrorInfo> take_leaf_away();
  void hold_unremoved();
  void take_element_away(const CellKey& key);
  void take_entry_away(const CellKey& key);
  std::optional<ErrorInfo> make_room_for(Kind kind);
  std::optional<ErrorInfo> check_against_schema(const Cell& target) const;
  std::optional<ErrorInfo> bring_back(const Restoration& cell);
  std::optional<ErrorInfo> bring_register_back(const RegisterCell& target);
  std::optional<ErrorInfo> bring_counter_back(const Restoration& cell);
  void bring_extremum_back(const ExtremumCell& target);
  void bring_element_back(const Restoration& cell);
  void bring_entry_back(const CellKey& key, const EntryCell& target);
  void set_suggestion(const Restoration& cell);

  // The dot of something that comes back: of this op, as sure as it was but not surer than the revert. Within one cell
  // each needs a mark of its own.
  Dot dot(const Dot& was, std::size_t number) const;
  void hold_back(SuggestionCell::Act act, const Value& value, Confidence confidence);
  void unchanged(Reason reason);
  bool is_seen(const Dot& dot) const { return dot.version() <= writing_.draft.base(); }

  const Writing& writing_;
  Path path_;
  Confidence confidence_;
  std::vector<Restoration> cells_;
  std::vector<ElementCell> unremoved_;  // surer than the revert
  std::size_t held_count_ = 0;
  LeafOutcome outcome_{path_, Outcome::unchanged, std::nullopt, {}, false};
};

}  // namespace tafel::conflict
