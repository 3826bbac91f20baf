// What stands behind a Ticket: the place where the link puts the one answer and callers wait for it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agents_sdk/cpp/agent.hpp"

namespace tafel::sdk {

// Added to a time it stays one, however large (or negative) the caller's is.
inline milliseconds bounded(milliseconds timeout) {
  constexpr milliseconds longest = std::chrono::hours(24 * 365);
  return std::clamp(timeout, milliseconds(0), longest);
}

struct Ticket::State {
  explicit State(std::string id) : delta_id(std::move(id)) {}

  // The first answer stands; later ones are ignored. From any thread.
  void complete(Result<Receipt> answer);

  const std::string delta_id;
  std::mutex mutex;  // guards `answer`: several callers may wait for one ticket
  std::condition_variable answered;
  std::optional<Result<Receipt>> answer;
};

// A ticket that has its answer already.
Ticket answered_ticket(std::string delta_id, Result<Receipt> answer);

}  // namespace tafel::sdk
