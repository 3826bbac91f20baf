#include "broker/deletion.hpp"

#include <fmt/format.h>

#include "common/model/utc.hpp"

namespace tafel::broker {

ErrorInfo deleted_error(const std::string& board, const store::Deletion& deletion, const Rights& rights) {
  ErrorInfo error;
  error.code = ErrorCode::deleted;
  error.message = fmt::format("the board {} was deleted", board);
  if (rights.may_read_anything()) {
    error.message += fmt::format(" at version {} by {}, {}", deletion.version, deletion.actor, utc_text(deletion.time));
    error.found = Value(deletion.version);
  }
  error.message += "; its name is not used again";
  return error;
}

}  // namespace tafel::broker
