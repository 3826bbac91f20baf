// The dot of a write.
#pragma once

#include "conflict/judge.hpp"

namespace tafel::conflict {

// By the actor, at the time and with the source of the delta. `mark` is the version that the delta takes, and the index
// of the op.
Dot make_dot(const Stamp& stamp, const Delta& delta, const Path& path, const Mark& mark, Version base,
             Confidence confidence);

}  // namespace tafel::conflict
