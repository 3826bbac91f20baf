// Judgements made by hand, without a judge, and a naive memory of what they did: every image of every cell, in full.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "blackboard/board.hpp"
#include "conflict/judge.hpp"

namespace tafel::testing {

// A delta by "planner" with this id ("" = none); its payload hash is that of `payload`.
Delta delta_for(const std::string& board, const std::string& id = {}, const std::string& payload = "payload");
conflict::Stamp stamp_at(TimeMs now, const std::string& actor = "planner");
// One applied op, and the changes in the order that a judgement promises.
conflict::Judgement judgement_of(std::vector<Change> changes, Version base = 0);

Dot dot_at(Version version, std::uint32_t op = 0);
Change set_leaf(const std::string& path, Value value, Version version);
Change add_element(const std::string& path, Value value, Version version);
Change append_entry(const std::string& path, Value value, Version version);
Change hold(const std::string& path, Value value, Version version);
Change gone(CellKey key);
Change expiring(Change change, TimeMs at);  // a register or an element

bool is_same(const std::optional<Cell>& left, const std::optional<Cell>& right);
inline bool is_same(const CellPointer& left, const std::optional<Cell>& right) { return is_same(copy_of(left), right); }

class NaiveHistory {
 public:
  void apply(Version version, const std::vector<Change>& changes);

  Version version() const { return version_; }
  std::optional<Cell> as_of(const CellKey& key, Version version) const;
  // Everything as it was after `version`.
  blackboard::Board board(Version version, const std::optional<Path>& path = std::nullopt) const;
  std::vector<CellKey> keys() const;
  NaiveHistory until(Version version) const;

 private:
  Version version_ = 0;
  std::map<CellKey, std::map<Version, std::optional<Cell>>> images_;
};

// Random changes that keep the promises of a judge: a field is of one kind, and only what is there goes.
class RandomChanges {
 public:
  // With `long_paths` the names are near the limit and share long beginnings.
  explicit RandomChanges(std::uint64_t seed, bool long_paths = false) : random_(seed), long_paths_(long_paths) {}

  std::vector<Change> next(const NaiveHistory& history);
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

 private:
  CellKey random_key(Version version);
  Cell random_cell(const CellKey& key, Version version);

  std::mt19937_64 random_;
  bool long_paths_;
};

}  // namespace tafel::testing
