// The last word stands: within one delta an op is void on each register and set element of which a later op speaks.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conflict/plan.hpp"

namespace tafel::conflict {

// What the ops of one delta speak of. Looking up costs the logarithm of what was said, however many ops there are.
class LastWord {
 public:
  explicit LastWord(const std::vector<PlannedOp>& ops);  // those with an error speak of nothing

  // Whether an op after `after_op` …
  bool on_register(const Path& path, std::size_t after_op) const;
  // A reset or an unset speaks of every element. A list that is set is a reset where the path holds a set, or nothing
  // yet.
  bool on_all_elements(const Path& path, bool holds_another_kind, std::size_t after_op) const;
  bool on_element(const Path& path, const Value& element, std::size_t after_op) const;
  // An op before `before_op` is a patch of this path.
  bool is_patched_before(const Path& path, std::size_t before_op) const;

 private:
  using ByPath = std::map<std::string, std::size_t, std::less<>>;  // key of a path → index of an op

  void hear(const PlannedOp& op, const Task& task);
  bool is_unset_after(const Path& path, std::size_t op) const;  // the path, or one above it

  ByPath written_;  // last op that writes the register
  ByPath unset_;    // or reverted: that too speaks of everything at and below the path
  ByPath reset_;
  ByPath listed_;                                                        // set to a list
  ByPath first_patched_;                                                 // first op that patches it
  std::map<std::pair<std::string, std::string>, std::size_t> elements_;  // path, element id → last op that names it
};

}  // namespace tafel::conflict
