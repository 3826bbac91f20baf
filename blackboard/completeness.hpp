// How much of what a schema requires is there: weights of the required fields that hold a value, over all weights.
#pragma once

#include <functional>
#include <vector>

#include "blackboard/read.hpp"
#include "common/model/completeness.hpp"
#include "common/model/schema.hpp"

namespace tafel::blackboard {

struct RequiredField {
  Path path;
  std::string label;  // the path where the schema has none
  double weight = 1;
};

std::vector<RequiredField> required_fields(const Schema& schema);  // in the order of the schema

// `held` says of each whether it holds a value.
Completeness completeness(const std::vector<RequiredField>& required, const std::vector<bool>& held);

// Of a board in memory, as a reader sees it. A field holds a value where something that is not blank stands at its path
// or below.
Completeness completeness(const Board& board, const std::vector<RequiredField>& required, const Reader& reader);

}  // namespace tafel::blackboard
