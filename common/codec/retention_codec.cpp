#include "common/codec/retention_codec.hpp"

#include <fmt/format.h>

#include <limits>

#include "common/codec/fields.hpp"
#include "common/model/names.hpp"

namespace tafel::codec {

Result<Retention> retention_from_value(const Value& value) {
  const auto wrong = [](const std::string& found) {
    return fail(Fault::bad_bytes,
                fmt::format(R"(a retention is {{"versions": n, "age_ms": n, "bytes": n}}, each 1 or more and each )"
                            R"(may be left out; found {})",
                            found));
  };
  const auto* members = value.get_if<Map>();
  if (members == nullptr) return wrong(brief(value));
  Retention retention;
  for (const auto& [name, member] : *members) {
    const auto number = as_uint64(member);
    if (!number || *number == 0 || *number > std::numeric_limits<std::int64_t>::max())
      return wrong(fmt::format("\"{}\": {}", name, brief(member)));
    if (name == "versions") {
      retention.versions = *number;
    } else if (name == "age_ms") {
      retention.age_ms = static_cast<std::int64_t>(*number);
    } else if (name == "bytes") {
      retention.bytes = *number;
    } else {
      return wrong(fmt::format("\"{}\"", name));
    }
  }
  return retention;
}

Value retention_to_value(const Retention& retention) {
  Value value{Map{}};
  if (retention.versions) value.set("versions", *retention.versions);
  if (retention.age_ms) value.set("age_ms", *retention.age_ms);
  if (retention.bytes) value.set("bytes", *retention.bytes);
  return value;
}

}  // namespace tafel::codec
