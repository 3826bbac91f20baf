// Holds what the agents were told against what the server's log says, for one board, and makes the schedule for the
// comparison. Pure.
//
// An op that was told `applied` has its change in the event of that version; no later event loses a change unseen
// (lawful.hpp); each event leads to the digest that it names; the last digest is that of every agent's copy. So what
// was told is there, or has lawfully given way.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "demo/board_record.hpp"
#include "demo/journal.hpp"
#include "demo/oracle.hpp"
#include "demo/schedule.hpp"

namespace tafel::demo {

// One receipt and whose it was.
struct Told {
  std::string actor;
  const JournalEntry* entry = nullptr;
};

struct BoardCheck {
  std::vector<std::string>
      untold;  // receipts and events that do not fit each other, ops whose change is not in the log
  std::vector<std::string> unseen;  // what an event lost that its writer had not seen
  std::vector<std::string> broken;  // digests, mirrors, verify
  Schedule schedule;                // complete when `untold` is empty
  Ending ending;
  std::size_t conflicts_open = 0;  // fields with conflicting values at the end
};

BoardCheck check_board(const BoardRecord& record, std::vector<Told> told, const std::vector<MirrorNote>& mirrors);

}  // namespace tafel::demo
