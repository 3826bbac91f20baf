// Receipt, op results and errors ↔ Value (maps with the member names of the semantics).
#pragma once

#include <string>

#include "common/base/pack.hpp"
#include "common/base/result.hpp"
#include "common/model/receipt.hpp"

namespace tafel::codec {

// {"id","board","epoch","version","duplicate","ops":[…],"error":null|{…}}. All seven members are always there;
// "completeness" where the schema of the board requires fields.
Value receipt_to_value(const Receipt& receipt);
Result<Receipt> receipt_from_value(const Value& value);
std::string encode_receipt(const Receipt& receipt);  // the bytes of receipt_to_value

// {"code","op","path","message","retryable"} always ("op" and "path" null where they do not apply); "expected",
// "found", "guards" where given.
Value error_to_value(const ErrorInfo& error);
Result<ErrorInfo> error_from_value(const Value& value);

// {"outcome"} always; "reason", "held", "leaves", "current", "error" where they apply.
Value op_result_to_value(const OpResult& result);
void write_op_result(PackWriter& out, const OpResult& result);  // the bytes of op_result_to_value
Result<OpResult> op_result_from_value(const Value& value);

}  // namespace tafel::codec
