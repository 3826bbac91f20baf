// What of a board an export leaves out: the fields that its schema calls personal or secret, and those that were left
// out of the boards that it was forked from.
#pragma once

#include <memory>
#include <set>

#include "common/model/event.hpp"
#include "common/model/schema.hpp"

namespace tafel::store {

class LeftOut {
 public:
  // `inherited`: of the board that it was forked from. A null schema calls nothing personal or secret.
  LeftOut(std::shared_ptr<const Schema> schema, std::set<Path> inherited);

  bool is_any() const { return has_rules_ || !paths_.empty(); }
  // Takes what is left out from the event, whose chain hash still fits. True when something went.
  bool take_from(Event& event);
  // Whether the field is left out of a place that is no event.
  bool takes(const Path& path);
  // The fields that were met so far, and the inherited ones.
  const std::set<Path>& paths() const { return paths_; }
  // Of these, those of which something went. (The content of others may have been erased long before.)
  std::size_t taken() const { return taken_.size(); }

 private:
  bool is_left_out(const Path& path) const;
  bool is_left_out_above(const Path& path) const;  // a place between the root and the path, the path itself too
  bool may_be_below(const Path& path) const;
  bool may_tell(const Op& op, const OpResult& result) const;
  bool holds(const Path& path, const Value& value) const;  // a map is looked at leaf by leaf

  std::shared_ptr<const Schema> schema_;
  bool has_rules_;
  std::set<Path> paths_;
  std::set<Path> taken_;
};

}  // namespace tafel::store
