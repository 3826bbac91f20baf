// A board with a long history: fields that are overwritten again and again, in a random order that depends on nothing
// but the numbers it is made from. So what stood where at which version is known without asking the store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blackboard/store/store.hpp"

namespace tafel::bench {

class HistoryBoard {
 public:
  // The first `fields` versions write each field once, the others one at random each. At least as many versions as
  // fields, and one of each.
  HistoryBoard(std::string id, Version versions, std::size_t fields);

  // Writes what the store lacks of it, through the commit pipeline, `batch` versions with one sync.
  Result<void> build(store::Store& store, std::size_t batch) const;

  const std::string& id() const { return id_; }
  Version versions() const { return field_at_.size(); }
  std::size_t fields() const { return writes_.size(); }

  static std::string path_of(std::size_t field);
  static std::string value_of(Version version);  // that this version wrote
  // The versions that wrote the field, ascending.
  const std::vector<Version>& writes(std::size_t field) const { return writes_[field]; }
  // How many of them are at or before `version`.
  std::size_t writes_until(std::size_t field, Version version) const;

 private:
  std::string id_;
  std::vector<std::size_t> field_at_;  // [version - 1]
  std::vector<std::vector<Version>> writes_;
};

}  // namespace tafel::bench
