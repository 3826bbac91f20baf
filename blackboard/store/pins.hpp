// The older versions of a board that stay readable whatever is trimmed: those that have a name, and those at which it
// was forked.
#pragma once

#include <string>
#include <vector>

#include "blackboard/store/layout.hpp"

namespace tafel::store {

class Pins {
 public:
  // Of the board with this number; a fork's own inherited versions are its parent's.
  static Result<Pins> read(KvRead& kv, BoardNumber number);

  bool holds(Version version) const;
  // True when one of them lies in from … to - 1.
  bool hold_any(Version from, Version to) const;
  const std::vector<Version>& versions() const { return versions_; }

 private:
  std::vector<Version> versions_;  // ascending
};

}  // namespace tafel::store
