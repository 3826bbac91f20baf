#include "broker/answers.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/base/pack.hpp"
#include "common/codec/msgpack.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::broker {
namespace {

codec::Message error_answer(std::uint64_t id, ErrorCode code, std::string message) {
  ErrorInfo error;
  error.code = code;
  error.message = std::move(message);
  return codec::error_message(id, error);
}

void drop_what_can_be_read(Receipt& receipt) {
  for (OpResult& result : receipt.ops) {
    result.current.reset();
    if (result.error) result.error->found.reset();
  }
  if (receipt.error) {
    receipt.error->found.reset();
    receipt.error->guards.reset();
  }
}

}  // namespace

codec::Message bad_request(std::uint64_t id, std::string message) {
  return error_answer(id, ErrorCode::bad_request, std::move(message));
}

codec::Message no_session(std::uint64_t id) {
  return error_answer(id, ErrorCode::no_session,
                      "say hello first: this connection has no session (or it was forgotten while silent)");
}

codec::Message pong(std::uint64_t id) { return {std::string(codec::message::pong), id, Value()}; }

codec::Message undecodable(std::string_view bytes, const Failure& failure) {
  std::uint64_t id = 0;
  if (const auto value = codec::decode(bytes)) {
    const List* items = value->get_if<List>();
    const auto number = items != nullptr && items->size() > 1 ? (*items)[1].as_int64() : std::nullopt;
    if (number && *number > 0) id = static_cast<std::uint64_t>(*number);
  }
  return bad_request(id, failure.message);
}

void ReceiptWriter::add(Receipt receipt) {
  std::string bytes = codec::encode_receipt(receipt);
  if (bytes.size() > limits::receipts_bytes_max) {
    drop_what_can_be_read(receipt);
    bytes = codec::encode_receipt(receipt);
  }
  if (count_ > 0 && encoded_.size() + bytes.size() > limits::receipts_bytes_max) close_message();
  encoded_ += bytes;
  ++count_;
}

std::vector<std::string> ReceiptWriter::finish() {
  if (count_ > 0 || messages_.empty()) close_message();
  return std::move(messages_);
}

void ReceiptWriter::close_message() {
  std::string bytes;
  PackWriter out(bytes);
  out.array(3);
  out.text(codec::message::receipts);
  out.unsigned_integer(id_);
  out.array(count_);
  out.raw(encoded_);
  messages_.push_back(std::move(bytes));
  encoded_.clear();
  count_ = 0;
}

}  // namespace tafel::broker
