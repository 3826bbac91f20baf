// The version of the layout that a store was written in.
#pragma once

#include "blackboard/store/kv.hpp"

namespace tafel::store {

// Whether `kv` holds a store of the format that this program reads; false: it names no format. Fault::bad_bytes for
// another version.
Result<bool> has_format(KvRead& kv);

}  // namespace tafel::store
