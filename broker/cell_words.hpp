// Cells and fields as maps for people and tools: a value with who said it, when, from what, and how surely.
#pragma once

#include "blackboard/read.hpp"

namespace tafel::broker {

// A register, counter, max or min: {"kind","value","confidence","version","time","actor","source","conflicts"?}.
Value leaf_words(const Cell& cell);
// An element {"value",…}, an entry {"id","value",…} or a suggestion {"id","op","value",…}.
Value part_words(const Cell& cell);
// A field with who wrote what it shows; of a set each element, of a log each entry.
Value blame_words(const blackboard::FieldView& view);

// Both say the same to a reader: values, confidences, order and expiry. Versions and actors do not count.
bool says_the_same(const std::optional<Cell>& left, const std::optional<Cell>& right);

}  // namespace tafel::broker
