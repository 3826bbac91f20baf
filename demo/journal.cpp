#include "demo/journal.hpp"

#include <fmt/format.h>

#include "common/codec/delta_codec.hpp"
#include "common/codec/fields.hpp"
#include "common/codec/json.hpp"
#include "common/codec/receipt_codec.hpp"

namespace tafel::demo {
namespace {

Result<MirrorNote> note_from_value(const Value& value) {
  codec::MemberReader reader(value, "a note of a mirror");
  MirrorNote note;
  note.board = reader.text("board");
  note.version = reader.number("version");
  note.digest = reader.text("digest");
  note.resyncs = reader.number("resyncs");
  return reader.finish(std::move(note));
}

Result<void> read_line(const Value& line, Journal& journal) {
  if (const Value* mirror = line.find("mirror")) {
    auto note = note_from_value(*mirror);
    if (!note) return tl::unexpected(note.error());
    journal.mirrors.push_back(std::move(*note));
    return {};
  }
  const Value* delta = line.find("delta");
  const Value* receipt = line.find("receipt");
  if (delta == nullptr || receipt == nullptr)
    return fail(Fault::bad_bytes, "neither a delta with its receipt nor a mirror");
  auto read_delta = codec::delta_from_value(*delta);
  if (!read_delta) return fail(Fault::bad_bytes, read_delta.error().message);
  auto read_receipt = codec::receipt_from_value(*receipt);
  if (!read_receipt) return tl::unexpected(read_receipt.error());
  journal.entries.push_back({std::move(*read_delta), std::move(*read_receipt)});
  return {};
}

}  // namespace

Result<JournalWriter> JournalWriter::open(const std::filesystem::path& file) {
  std::ofstream out(file, std::ios::trunc);
  if (!out) return fail(Fault::io, fmt::format("{} cannot be written", file.string()));
  return JournalWriter(file.string(), std::move(out));
}

void JournalWriter::write(const JournalEntry& entry) {
  const Value line{
      Map{{"delta", codec::delta_to_value(entry.delta)}, {"receipt", codec::receipt_to_value(entry.receipt)}}};
  out_ << codec::to_json(line) << '\n';
}

void JournalWriter::write(const MirrorNote& note) {
  const Value mirror{
      Map{{"board", note.board}, {"digest", note.digest}, {"resyncs", note.resyncs}, {"version", note.version}}};
  out_ << codec::to_json(Map{{"mirror", mirror}}) << '\n';
}

Result<void> JournalWriter::close() {
  out_.close();
  if (!out_) return fail(Fault::io, fmt::format("{} could not be written to its end", name_));
  return {};
}

Result<Journal> read_journal(const std::filesystem::path& file, const std::string& actor) {
  std::ifstream in(file);
  if (!in) return fail(Fault::not_found, fmt::format("{} cannot be read", file.string()));
  Journal journal;
  journal.actor = actor;
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    const auto line = codec::parse_json(text);
    const auto read = line ? read_line(*line, journal) : fail(Fault::bad_bytes, line.error().message);
    if (!read) return fail(Fault::bad_bytes, fmt::format("{}:{}: {}", file.string(), number, read.error().message));
  }
  return journal;
}

}  // namespace tafel::demo
