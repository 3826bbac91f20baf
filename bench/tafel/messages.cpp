#include "bench/tafel/messages.hpp"

#include <charconv>

#include "bench/tafel/pack_reader.hpp"
#include "common/base/pack.hpp"
#include "common/codec/protocol.hpp"

namespace tafel::bench {
namespace {

// The result of one op.
bool op_changed(PackReader& in) {
  bool changed = false;
  for (std::uint64_t members = in.map(); members > 0 && !in.failed(); --members) {
    if (in.text() != "outcome") {
      in.skip();
      continue;
    }
    const std::string_view outcome = in.text();
    changed = outcome == "applied" || outcome == "kept_both";
  }
  return changed;
}

ReadReceipt read_receipt(PackReader& in) {
  ReadReceipt receipt;
  for (std::uint64_t members = in.map(); members > 0 && !in.failed(); --members) {
    const std::string_view key = in.text();
    if (key == "version") {
      receipt.version = in.unsigned_integer();
    } else if (key == "ops") {
      for (std::uint64_t ops = in.array(); ops > 0 && !in.failed(); --ops) {
        if (op_changed(in)) receipt.made_version = true;
      }
    } else if (key == "error") {
      if (in.take_nil()) continue;
      receipt.is_error = true;
      in.skip();
    } else {
      in.skip();
    }
  }
  return receipt;
}

// [version, time, actor, delta id, base, source, changes, digest, completeness]
ReadEvent read_event(PackReader& in) {
  ReadEvent event;
  const std::uint64_t items = in.array();
  event.version = in.unsigned_integer();
  in.skip();
  in.skip();
  event.delta_id = in.text();
  for (std::uint64_t rest = 4; rest < items && !in.failed(); ++rest) in.skip();
  return event;
}

// At the body of a message, after its type and id.
PackReader body_of(std::string_view message) {
  PackReader in(message);
  in.array();
  in.skip();
  in.skip();
  return in;
}

void put_number(std::string& text, std::uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  text.append(digits, end);
}

}  // namespace

std::string delta_id(std::string_view run, std::uint64_t number) {
  std::string id(run);
  id.push_back('-');
  put_number(id, number);
  return id;
}

std::optional<std::uint64_t> update_number(std::string_view run, std::string_view id) {
  if (!id.starts_with(run) || id.size() < run.size() + 2 || id[run.size()] != '-') return std::nullopt;
  std::uint64_t number = 0;
  const char* end = id.data() + id.size();
  if (std::from_chars(id.data() + run.size() + 1, end, number).ptr != end) return std::nullopt;
  return number;
}

void write_delta(std::string& out, std::string_view run, std::string_view board, std::optional<std::uint64_t> base,
                 const Update& update) {
  PackWriter pack(out);
  pack.map(base ? 4 : 3);
  pack.text("id");
  pack.text(delta_id(run, update.number));
  pack.text("board");
  pack.text(board);
  if (base) {
    pack.text("base");
    pack.unsigned_integer(*base);
  }
  pack.text("ops");
  pack.array(2);
  pack.map(4);
  pack.text("op");
  pack.text("patch");
  pack.text("path");
  pack.text(set_path);
  pack.text("add");
  pack.array(1);
  pack.text(update.add);
  pack.text("remove");
  pack.array(1);
  pack.text(update.remove);
  pack.map(3);
  pack.text("op");
  pack.text("set");
  pack.text("path");
  pack.text(update.field);
  pack.text("value");
  pack.text(update.value);
}

std::string preload_delta(std::string_view board, std::string_view id, std::uint64_t first, std::uint64_t count) {
  std::string out;
  PackWriter pack(out);
  pack.map(3);
  pack.text("id");
  pack.text(id);
  pack.text("board");
  pack.text(board);
  pack.text("ops");
  pack.array(1);
  pack.map(3);
  pack.text("op");
  pack.text("patch");
  pack.text("path");
  pack.text(set_path);
  pack.text("add");
  pack.array(count);
  for (std::uint64_t index = first; index < first + count; ++index) pack.text(element_name(index));
  return out;
}

MessageHead message_head(std::string_view message) {
  PackReader in(message);
  if (in.array() != 3) return {};
  MessageHead head;
  head.type = in.text();
  head.id = in.unsigned_integer();
  return in.failed() ? MessageHead{} : head;
}

bool read_receipts(std::string_view message, std::vector<ReadReceipt>& receipts) {
  if (message_head(message).type != codec::message::receipts) return false;
  PackReader in = body_of(message);
  for (std::uint64_t count = in.array(); count > 0 && !in.failed(); --count) receipts.push_back(read_receipt(in));
  return !in.failed();
}

bool read_events(std::string_view message, std::string_view& board, std::vector<ReadEvent>& events) {
  if (message_head(message).type != codec::message::events) return false;
  PackReader in = body_of(message);
  for (std::uint64_t members = in.map(); members > 0 && !in.failed(); --members) {
    const std::string_view key = in.text();
    if (key == "board") {
      board = in.text();
    } else if (key == "events") {
      for (std::uint64_t count = in.array(); count > 0 && !in.failed(); --count) events.push_back(read_event(in));
    } else {
      in.skip();
    }
  }
  return !in.failed();
}

}  // namespace tafel::bench
