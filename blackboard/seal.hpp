// Seals a judgement into the next event of a board: version, time, way back, digest, chain hash.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/event.hpp"
#include "conflict/judge.hpp"

namespace tafel::blackboard {

// What the store knows of each changed cell, in the order of judgement.changes.
struct CellBefore {
  std::optional<Cell> image;  // as it is before the event
  Version previous = 0;       // pointers for the log, from Trail::push
  Version jump = 0;
};

// `salt` is 16 random bytes. The judgement has changes. `before` has one entry per change.
Event seal(const std::string& board, const Head& head, const Delta& delta, const conflict::Judgement& judgement,
           const conflict::Stamp& stamp, const std::vector<CellBefore>& before, std::string salt);

Head head_after(const Head& head, const Event& event);

// What is wrong with `event` as the successor of `head` (version, previous hash, chain hash, time), as a sentence;
// nullopt when sound.
std::optional<std::string> chain_defect(const Head& head, const Event& event);

// The receipt that a versioned delta got, remade from its event.
Receipt receipt_of(const Event& event, const std::string& epoch);

// The head record of a field after one of its parts changed.
conflict::FieldInfo field_after(const conflict::FieldInfo& before, const std::optional<Cell>& old_image,
                                const Change& change, Version version);

}  // namespace tafel::blackboard
