#include "conflict/dots.hpp"

#include "common/base/bytes.hpp"
#include "common/base/hash.hpp"

namespace tafel::conflict {
namespace {

// One per op and field, so that it can be erased with the field: it tells nothing of the other salts of the delta.
std::uint64_t salt_of(const Stamp& stamp, const Mark& mark, const Path& path) {
  return get_be64(as_view(sha256(stamp.salt + mark_id(mark) + path.key())));
}

}  // namespace

Dot make_dot(const Stamp& stamp, const Delta& delta, const Path& path, const Mark& mark, Version base,
             Confidence confidence) {
  Dot dot;
  dot.mark = mark;
  dot.base = base;
  dot.confidence = confidence;
  dot.actor = stamp.actor;
  if (!delta.source.empty()) dot.source = std::make_shared<const Source>(delta.source);
  dot.time = stamp.now;
  dot.salt = salt_of(stamp, mark, path);
  return dot;
}

}  // namespace tafel::conflict
