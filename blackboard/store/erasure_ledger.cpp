#include "blackboard/store/erasure_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "blackboard/store/durable_files.hpp"
#include "common/base/limits.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/json.hpp"

namespace tafel::store {

Value erasure_to_value(const Erasure& erasure) {
  return Map{{"board", erasure.board},
             {"path", erasure.path.text()},
             {"version", erasure.version},
             {"actor", erasure.actor},
             {"time", erasure.time}};
}

std::string ledger_line(const Erasure& erasure) { return codec::to_json(erasure_to_value(erasure)); }

Result<Erasure> erasure_from_value(const Value& value) {
  codec::MemberReader in(value, "an erasure");
  const std::string board = in.text("board");
  const std::string actor = in.text("actor");
  const auto path = Path::parse(in.text("path"));
  const Version version = in.number("version");
  const TimeMs time = in.integer("time");
  if (board_id_defect(board)) in.refuse("board", "the id of a board");
  if (name_defect(actor)) in.refuse("actor", "the name of an actor");
  if (!path) in.refuse("path", "a dot path");
  if (time < 0 || time > limits::time_max_ms) in.refuse("time", "milliseconds since 1970, before the year 10000");
  return in.finish(Erasure{0, board, path.value_or(Path::from_key({})), version, actor, time, false});
}

Result<std::vector<Erasure>> read_ledger(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return io_failure("read", file, errno);
  std::vector<Erasure> ledger;
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto wrong = [&](const std::string& what) {
      return fail(Fault::bad_bytes, fmt::format("{}, line {}: {}", file.string(), number, what));
    };
    if (line.size() > limits::ledger_line_bytes_max) return wrong("the line is too long to be an erasure");
    const auto value = codec::parse_json(line);
    if (!value) return wrong(value.error().message);
    auto erasure = erasure_from_value(*value);
    if (!erasure) return wrong(erasure.error().message);
    ledger.push_back(std::move(*erasure));
  }
  if (stream.bad()) return io_failure("read", file, EIO);
  return ledger;
}

void ErasedPlaces::add(const Erasure& erasure) {
  const auto [at, is_new] = newest_.try_emplace({erasure.board, erasure.path}, erasure.time);
  if (!is_new) at->second = std::max(at->second, erasure.time);
}

bool ErasedPlaces::cover(const Erasure& wanted) const {
  if (newest_.contains({wanted.board, *Path::parse(board_path)})) return true;  // all of it is gone, and stays so
  for (std::optional<Path> path = wanted.path; path; path = path->parent()) {
    const auto at = newest_.find({wanted.board, *path});
    if (at != newest_.end() && at->second >= wanted.time) return true;
  }
  return false;
}

}  // namespace tafel::store
