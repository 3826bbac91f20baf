// One case through the real pipeline on the store in memory, in one thread: for vectors, laws and scenarios.
//
// Case: {"schema": {PATH: {"kind","on_conflict","whole","allow_blank","floor","ceil","initial","keep"}}, "rights":
// {ACTOR: [{"paths", "ops","cap"}]}, "floor": V, "batches": [n…], "deltas": [DELTA + "actor" + "now"]}. Everything but
// "deltas" may be absent. Result: {"receipts","version","state","fields","suggestions","digest"} in the shape of
// tests/vectors/merge.json.
#pragma once

#include "common/model/value.hpp"

namespace tafel {

Value replay_case(const Value& input);

}  // namespace tafel
