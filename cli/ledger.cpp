#include "cli/ledger.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tafel::cli {

Result<List> read_ledger(Connection& connection, const std::optional<std::string>& board) {
  List found;
  Value question(Map{{"what", "erasures"}});
  if (board) question.set("board", *board);
  const auto read = connection.ask_pages(question, "erasures", "from", [&](const Value& erasure) -> Result<void> {
    found.push_back(erasure);
    return {};
  });
  if (!read) return tl::unexpected(read.error());
  return found;
}

bool is_done(const Value& erasure) { return erasure.find("done") != nullptr && *erasure.find("done") == Value(true); }

Result<bool> wait_until_done(Connection& connection, const std::string& board) {
  constexpr std::chrono::milliseconds pause{20};
  const auto end = std::chrono::steady_clock::now() + connection.patience(std::chrono::seconds(30));
  while (true) {
    const auto ledger = read_ledger(connection, board);
    if (!ledger) return tl::unexpected(ledger.error());
    if (std::all_of(ledger->begin(), ledger->end(), is_done)) return true;
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace tafel::cli
