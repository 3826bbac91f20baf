// What an agent saw on its copy of a board, leaf by leaf. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blackboard/board.hpp"
#include "common/model/cell.hpp"

namespace tafel::demo {

// The path of literal segments as a delta writes it; the segments are well-formed.
std::string path_text(const std::vector<std::string>& segments);

// The register at the path, or null.
const RegisterCell* register_at(const blackboard::Board& board, const Path& path);
const RegisterCell* register_at(const blackboard::Board& board, std::string_view path);

// The elements of the set at the path, in order; none when there is no set.
std::vector<ElementCell> elements_at(const blackboard::Board& board, const Path& path);
std::vector<Value> members_at(const blackboard::Board& board, std::string_view path);

// The total of the counter at the path; 0 when there is none.
std::int64_t count_at(const blackboard::Board& board, std::string_view path);

Confidence highest_confidence(const ElementCell& element);

}  // namespace tafel::demo
