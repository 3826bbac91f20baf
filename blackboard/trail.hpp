// The way back through the history of one cell: skew-binary jump pointers. A cell keeps a trail of O(log n) versions
// for n changes; each change records two of them (the one before, and a jump), which is enough to find any older
// version in O(log n) steps.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/delta.hpp"

namespace tafel::blackboard {

class Trail {
 public:
  // One tree of the skew-binary number: the newest version in it, and its height.
  struct Step {
    Version version = 0;
    std::uint32_t height = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };

  Trail() = default;
  explicit Trail(std::vector<Step> steps) : steps_(std::move(steps)) {}

  // Adds a change at `version` (above all others) and returns the pointers it records; 0 = none.
  struct Pointers {
    Version previous = 0;
    Version jump = 0;
  };
  Pointers push(Version version);

  Version newest() const { return steps_.empty() ? 0 : steps_.front().version; }
  // Of the versions on the trail, the oldest one that is at or above `version`: a good place to start the walk; 0 when
  // there is none.
  Version start_for(Version version) const;
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;  // newest first; heights never fall, and only the first two may be equal
};

}  // namespace tafel::blackboard
