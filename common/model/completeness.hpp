// How much of what a board's schema requires is there.
#pragma once

#include <string>
#include <vector>

#include "common/model/names.hpp"

namespace tafel {

struct Completeness {
  struct Missing {
    Path path;
    std::string label;
    friend bool operator==(const Missing&, const Missing&) = default;
  };

  double score = 1;              // 0 to 1: weights of the required fields that hold a value, over all weights
  std::vector<Missing> missing;  // required fields without a value, in the order of the schema
  friend bool operator==(const Completeness&, const Completeness&) = default;
};

}  // namespace tafel
