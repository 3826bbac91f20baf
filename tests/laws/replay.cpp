// replay_case as a filter: one case (JSON) a line in, one result a line out.
#include <iostream>
#include <string>

#include "common/codec/json.hpp"
#include "tests/laws/replay_case.hpp"

namespace {

std::string answer(const std::string& line) {
  const auto input = tafel::codec::parse_json(line);
  const auto result =
      input ? tafel::replay_case(*input) : tafel::Value(tafel::Map{{"error", tafel::Value(input.error().message)}});
  return tafel::codec::to_json(result);
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(line) << '\n';
    if (std::cin.rdbuf()->in_avail() <= 0) std::cout.flush();
  }
  return 0;
}
