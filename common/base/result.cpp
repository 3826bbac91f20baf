#include "common/base/result.hpp"

namespace tafel {

const char* fault_name(Fault fault) noexcept {
  switch (fault) {
    case Fault::bad_bytes: return "bad_bytes";
    case Fault::bad_config: return "bad_config";
    case Fault::not_found: return "not_found";
    case Fault::io: return "io";
    case Fault::full: return "full";
    case Fault::busy: return "busy";
    case Fault::locked: return "locked";
    case Fault::unreachable: return "unreachable";
    case Fault::refused: return "refused";
    case Fault::closed: return "closed";
    case Fault::deleted: return "deleted";
  }
  return "unknown";
}

}  // namespace tafel
