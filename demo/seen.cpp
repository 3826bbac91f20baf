#include "demo/seen.hpp"

#include <algorithm>
#include <tuple>

#include "common/base/check.hpp"

namespace tafel::demo {
namespace {

Path known_path(std::string_view text) {
  auto path = Path::parse(text);
  TAFEL_CHECK(path.has_value(), "a path of the demo is well-formed");
  return *path;
}

}  // namespace

std::string path_text(const std::vector<std::string>& segments) {
  const auto path = Path::from_segments(segments);
  TAFEL_CHECK(path.has_value(), "names of domains and slots were checked when they were read");
  return path->text();
}

const RegisterCell* register_at(const blackboard::Board& board, const Path& path) {
  const Cell* cell = board.find(leaf_key(path));
  return cell == nullptr ? nullptr : std::get_if<RegisterCell>(cell);
}

const RegisterCell* register_at(const blackboard::Board& board, std::string_view path) {
  return register_at(board, known_path(path));
}

std::vector<ElementCell> elements_at(const blackboard::Board& board, const Path& path) {
  std::vector<ElementCell> elements;
  const auto [begin, end] = board.range(path);
  for (auto at = begin; at != end; ++at) {
    const auto* element = std::get_if<ElementCell>(&at->second);
    if (element != nullptr && at->first.path == path) elements.push_back(*element);
  }
  std::sort(elements.begin(), elements.end(), [](const ElementCell& a, const ElementCell& b) {
    return std::tie(a.first, a.place) < std::tie(b.first, b.place);
  });
  return elements;
}

std::vector<Value> members_at(const blackboard::Board& board, std::string_view path) {
  std::vector<Value> members;
  for (ElementCell& element : elements_at(board, known_path(path))) members.push_back(std::move(element.value));
  return members;
}

std::int64_t count_at(const blackboard::Board& board, std::string_view path) {
  const Cell* cell = board.find(leaf_key(known_path(path)));
  const auto* counter = cell == nullptr ? nullptr : std::get_if<CounterCell>(cell);
  return counter == nullptr ? 0 : counter->total;
}

Confidence highest_confidence(const ElementCell& element) {
  Confidence highest = Confidence::guess;
  for (const Dot& dot : element.dots) highest = std::max(highest, dot.confidence);
  return highest;
}

}  // namespace tafel::demo
