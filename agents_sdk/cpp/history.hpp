// The past of one board, asked of the server: older values, who wrote what, what differs, and deltas that lead back.
//
//   sdk::History past(*agent, "acme/trips/42");
//   auto before = past.get("budget.max", {.version = 3});
//   auto delta = past.revert_to(3);                       // look at it, add a confidence, a source …
//   auto receipt = agent->apply("acme/trips/42", *delta);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents_sdk/cpp/agent.hpp"

namespace tafel::sdk {

// A point in the history of a board: a version, or a time (ms since 1970: the newest version at or before it). Neither:
// now.
struct At {
  std::optional<Version> version{};
  std::optional<TimeMs> time{};
};

// A value with who said it.
struct Said {
  Value value;
  Confidence confidence = Confidence::guess;
  Version version = 0;
  TimeMs time = 0;
  std::string actor;
  Source source;
  std::string id;  // of a log entry or a suggestion: "version.op"
  std::string op;  // of a suggestion: set, remove or unset
};

struct FieldBlame {
  std::string path;
  Kind kind = Kind::register_;
  Said said;                    // value nil for sets and logs: see `parts`
  std::vector<Said> conflicts;  // the other values of a register
  std::vector<Said> parts;      // elements of a set, entries of a log, in order
};

struct Parts {
  std::vector<Said> added;
  std::vector<Said> removed;
  std::vector<Said> changed;  // as it is afterwards: another confidence or place
};

struct FieldDifference {
  std::string path;
  std::optional<Said> before;  // of a register, counter, max or min
  std::optional<Said> after;
  Parts elements;
  Parts entries;
  Parts suggestions;
};

struct Difference {
  Version from = 0;
  Version to = 0;
  std::vector<FieldDifference> fields;  // in path order
};

struct Held {
  std::string path;
  Said suggestion;
};

class History {
 public:
  // The agent outlives it.
  History(Agent& agent, std::string board) : agent_(agent), board_(std::move(board)) {}

  // An empty path is the whole board. nullopt: nothing was there.
  Result<std::optional<Value>> get(std::string_view path, const At& at = {}) const;
  Result<std::vector<FieldBlame>> blame(std::string_view path = {}, const At& at = {}) const;
  // What differs between two points; all pages of it.
  Result<Difference> diff(const At& from, const At& to = {}, std::string_view path = {}) const;
  // The fields in which `actor` has written after version `since`.
  Result<std::vector<std::string>> touched(std::string_view actor, Version since, std::string_view path = {}) const;

  // A delta that takes the path (the whole board without one) back to what was after version `to`; based on what the
  // board is now. Without ops where nothing differs.
  Result<DeltaBuilder> revert_to(Version to, std::string_view path = {}) const;
  // A delta that takes back what `actor` wrote last, after version `since`.
  Result<DeltaBuilder> revert_actor(std::string_view actor, Version since, std::string_view path = {}) const;

  Result<std::vector<Held>> suggestions(std::string_view path = {}) const;
  Result<Receipt> accept(std::string_view path, std::string_view id,
                         std::optional<Confidence> confidence = std::nullopt) const;
  Result<Receipt> dismiss(std::string_view path, std::string_view id) const;

 private:
  Value question(std::string_view what, std::string_view path) const;
  Result<Version> head() const;

  Agent& agent_;
  std::string board_;
};

// Fewer paths that cover these: cut to their first segments until one delta can name them all.
std::vector<std::string> covering(const std::vector<std::string>& paths);

}  // namespace tafel::sdk
