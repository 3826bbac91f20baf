// Answers that several endpoints give, and receipts packed into messages of bounded size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/protocol.hpp"
#include "common/model/receipt.hpp"

namespace tafel::broker {

codec::Message bad_request(std::uint64_t id, std::string message);
codec::Message no_session(std::uint64_t id);
codec::Message pong(std::uint64_t id);

// The answer to bytes that are no message; it carries the id where that can be read.
codec::Message undecodable(std::string_view bytes, const Failure& failure);

// Packs the receipts of one submit into `receipts` messages, each at most limits::receipts_bytes_max. A receipt that is
// larger by itself loses what can be read again (the `current` of its ops, the state of guarded fields), so that the
// client can always take it.
class ReceiptWriter {
 public:
  explicit ReceiptWriter(std::uint64_t id) : id_(id) {}

  void add(Receipt receipt);
  std::vector<std::string> finish();  // at least one message, also for no receipts

 private:
  void close_message();

  std::uint64_t id_;
  std::string encoded_;  // of the receipts of the message being written
  std::size_t count_ = 0;
  std::vector<std::string> messages_;
};

}  // namespace tafel::broker
