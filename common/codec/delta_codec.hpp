// Delta ↔ Value, for MessagePack and JSON alike. Reads all input forms: ops, the short form, and JSON Patch (a bare
// list, the member "json_patch", or its verbs among the ops).
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "common/codec/json.hpp"
#include "common/model/delta.hpp"
#include "common/model/receipt.hpp"

namespace tafel::codec {

// A failure is a refusal of the whole delta (bad_value, with `op` where one op is to blame); an op whose own form is
// wrong is kept with Op::malformed set, so that the judge decides (atomic or not). Unknown members are refused by name;
// null means "not given" but for `value` and `by`. A board that is not given is left empty, for the caller to fill in
// or to refuse. Sets payload_hash.
tl::expected<Delta, ErrorInfo> delta_from_value(const Value& value);

// The ops form; members with default values are left out. A malformed op is written such that it is read as malformed
// again.
Value delta_to_value(const Delta& delta);

// One line of JSON. Errors of the JSON text are told as bad_value with op and path where they can be known.
tl::expected<Delta, ErrorInfo> delta_from_json(std::string_view text);

// Hash of the canonical form of everything but the id: what a resend must repeat.
Sha256 payload_hash(const Delta& delta);

}  // namespace tafel::codec
