#include "demo/tally.hpp"

#include <algorithm>

namespace tafel::demo {
namespace {

// The leaves that a value makes when it is spread; a blank map is one (blank) leaf.
std::size_t leaves_of(const Value& value) {
  const auto* map = value.get_if<Map>();
  if (map == nullptr || map->empty()) return 1;
  std::size_t count = 0;
  for (const auto& [key, member] : *map) count += leaves_of(member);
  return count;
}

void count(Tally& tally, Outcome outcome, std::size_t leaves) {
  switch (outcome) {
    case Outcome::kept_both: tally.kept_both += leaves; break;
    case Outcome::ignored_blank: tally.blanks += leaves; break;
    case Outcome::unchanged: tally.echoes += leaves; break;
    case Outcome::applied:
    case Outcome::held:
    case Outcome::rejected: break;
  }
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  deltas += other.deltas;
  behind += other.behind;
  held += other.held;
  kept_both += other.kept_both;
  blanks += other.blanks;
  echoes += other.echoes;
  refused += other.refused;
  return *this;
}

Tally tally_of(const Delta& delta, const Receipt& receipt) {
  Tally tally;
  tally.deltas = 1;
  if (receipt.error) {
    tally.refused = 1;
    return tally;
  }
  tally.behind = delta.base && receipt.version > 0 && *delta.base < receipt.version - 1 ? 1 : 0;
  for (std::size_t i = 0; i < receipt.ops.size() && i < delta.ops.size(); ++i) {
    const OpResult& result = receipt.ops[i];
    const std::size_t leaves = delta.ops[i].verb == Verb::set ? leaves_of(delta.ops[i].value) : 1;
    count(tally, result.outcome, leaves - std::min(leaves, result.leaves.size()));
    for (const LeafResult& leaf : result.leaves) count(tally, leaf.outcome, 1);
    tally.held += result.held.size();
  }
  return tally;
}

}  // namespace tafel::demo
