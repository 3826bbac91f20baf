#include "blackboard/store/format.hpp"

#include <fmt/format.h>

#include "blackboard/store/layout.hpp"
#include "blackboard/store/record.hpp"

namespace tafel::store {

Result<bool> has_format(KvRead& kv) {
  const auto format = get_record(kv, Table::meta, meta_format);
  if (!format) return tl::unexpected(format.error());
  if (!*format) return false;
  const auto version = decode_number(**format);
  if (version == format_version) return true;
  return fail(Fault::bad_bytes, fmt::format("the store has format version {}; this program reads version {}",
                                            version.value_or(0), format_version));
}

}  // namespace tafel::store
