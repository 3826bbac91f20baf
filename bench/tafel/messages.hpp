// The messages of docs/protocol.md that a load needs, written and read without building values: deltas, receipts,
// events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/load/updates.hpp"

namespace tafel::bench {

// Delta ids are RUN-NUMBER, so that an event tells whose update it shows.
std::string delta_id(std::string_view run, std::uint64_t number);
std::optional<std::uint64_t> update_number(std::string_view run, std::string_view id);

// Appends one delta, encoded. `base`: nullopt leaves it out.
void write_delta(std::string& out, std::string_view run, std::string_view board, std::optional<std::uint64_t> base,
                 const Update& update);

// A delta that adds many elements.
std::string preload_delta(std::string_view board, std::string_view id, std::uint64_t first, std::uint64_t count);

struct ReadReceipt {
  std::uint64_t version = 0;
  bool made_version = false;  // an op was applied or kept both
  bool is_error = false;
};
struct ReadEvent {
  std::uint64_t version = 0;
  std::string_view delta_id;
};

// Type and id of a message. Empty type: it does not read.
struct MessageHead {
  std::string_view type;
  std::uint64_t id = 0;
};
MessageHead message_head(std::string_view message);

// False: the message is no list of receipts; or no events.
bool read_receipts(std::string_view message, std::vector<ReadReceipt>& receipts);
bool read_events(std::string_view message, std::string_view& board, std::vector<ReadEvent>& events);

}  // namespace tafel::bench
