// Seals a judgement into the next event of a board: version, time, way back, digest, chain hash.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/event.hpp"
#include "conflict/judge.hpp"

namespace tafel::blackboard {

// What the store knows of a changed cell.
struct CellBefore {
  Sum128 digest;         // of what the change replaces
  Version previous = 0;  // pointers for the log, from Trail::push
  Version jump = 0;
  std::optional<Sum128> after = std::nullopt;  // the digest of the change's image, where it was made already
};

// What the store knows of the changes of one event once they are in place.
struct Placed {
  std::vector<CellBefore> cells;     // in the order of the changes
  std::vector<TouchedField> fields;  // by path
};

struct Sealed {
  Event event;
  std::string record;  // as codec::encode_event writes it
};

// The judgement has changes, and `placed` has one entry per change.
Sealed seal(const std::string& board, const Head& head, const Delta& delta, const conflict::Judgement& judgement,
            const conflict::Stamp& stamp, const Placed& placed);

Head head_after(const Head& head, const Event& event);

// What is wrong with `event` as the successor of `head` (version, previous hash, chain hash, time), as a sentence;
// nullopt when sound.
std::optional<std::string> chain_defect(const Head& head, const Event& event);

// The receipt that a versioned delta got, remade from its event.
Receipt receipt_of(const Event& event, const std::string& epoch);

// What is known of a field after one of its parts changed, or all of them went (Part::field). `old_image` is null where
// the part was not there.
FieldInfo field_after(const FieldInfo& before, const Cell* old_image, const Change& change, Version version);

}  // namespace tafel::blackboard
