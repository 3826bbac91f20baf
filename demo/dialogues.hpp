// Reads recorded dialogues, one a line of JSON, in the format of the CrossWOZ corpus: messages by turns of "usr" and
// "sys", the acts in them, the goals of the user so far, and the record that the system writes anew with every reply.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/value.hpp"

namespace tafel::demo {

// The slot of a record that lists the results found; all other slots hold text.
inline constexpr std::string_view results_slot = "selectedResults";

// What one message does: ["Inform", "hotel", "price", "120"].
struct Act {
  std::string intent;
  std::string domain;
  std::string slot;
  std::string value;
};

// One goal of the user: [id, domain, slot, value, mentioned]. Goals whose value is a list have an empty value here.
struct Goal {
  std::string domain;
  std::string slot;
  std::string value;
  bool is_mentioned = false;
};

// A message of the user and the reply.
struct Turn {
  std::string user;
  std::string system;
  std::vector<Act> user_acts;
  std::vector<Act> system_acts;
  std::vector<Goal> goals;
  Value record{
      Map{}};  // {domain: {slot: text, …, "selectedResults": [text…]}}, every slot there, "" where nothing was said
};

struct Dialogue {
  std::string id;
  std::vector<Turn> turns;

  std::string board() const { return "demo/" + id; }
};

// The first `limit` dialogues of the file (0: all of them). A failure names the line and what would be right.
Result<std::vector<Dialogue>> read_dialogues(const std::filesystem::path& file, std::size_t limit);

// One dialogue from its line.
Result<Dialogue> dialogue_from_json(std::string_view line);

}  // namespace tafel::demo
