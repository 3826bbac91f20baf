// Which required fields of a board hold a value, kept from event to event.
#pragma once

#include <vector>

#include "blackboard/completeness.hpp"
#include "conflict/draft.hpp"

namespace tafel::broker {

class HeldFields {
 public:
  HeldFields() = default;
  // By look-ups.
  HeldFields(const std::vector<blackboard::RequiredField>& required, const conflict::Draft& board);

  // After `changes`, which `board` has: only what they touch, and what may have expired, is looked up.
  HeldFields after(const std::vector<blackboard::RequiredField>& required, const std::vector<Change>& changes,
                   const conflict::Draft& board) const;

  const std::vector<bool>& held() const { return held_; }

 private:
  std::vector<bool> held_;
};

}  // namespace tafel::broker
