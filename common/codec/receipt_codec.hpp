// Receipt, op results and errors ↔ Value (maps with the member names of the semantics).
#pragma once

#include "common/base/result.hpp"
#include "common/model/receipt.hpp"

namespace tafel::codec {

// {"id","board","epoch","version","duplicate","ops":[…],"error":null|{…}}. All seven members are always there;
// "completeness" where the schema of the board requires fields.
Value receipt_to_value(const Receipt& receipt);
Result<Receipt> receipt_from_value(const Value& value);

// {"code","op","path","message","retryable"} always ("op" and "path" null where they do not apply); "expected",
// "found", "guards" where given.
Value error_to_value(const ErrorInfo& error);
Result<ErrorInfo> error_from_value(const Value& value);

// {"outcome"} always; "reason", "held", "leaves", "current", "error" where they apply.
Value op_result_to_value(const OpResult& result);
Result<OpResult> op_result_from_value(const Value& value);

}  // namespace tafel::codec
