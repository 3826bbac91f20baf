// What an agent was told: a file of its own, one line of JSON for each delta with its receipt, and one for its copy of
// each board at the end. The supervisor holds the server's log against these files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/base/hash.hpp"
#include "common/base/result.hpp"
#include "common/model/delta.hpp"
#include "common/model/receipt.hpp"

namespace tafel::demo {

struct JournalEntry {
  Delta delta;
  Receipt receipt;
};

// An agent's copy of a board when the board was closed.
struct MirrorNote {
  std::string board;
  Version version = 0;
  std::string digest;  // hex
  std::uint64_t resyncs = 0;
};

struct Journal {
  std::string actor;
  std::vector<JournalEntry> entries;
  std::vector<MirrorNote> mirrors;
};

class JournalWriter {
 public:
  static Result<JournalWriter> open(const std::filesystem::path& file);

  void write(const JournalEntry& entry);
  void write(const MirrorNote& note);
  // Fails when some line did not reach the file.
  Result<void> close();

 private:
  JournalWriter(std::string name, std::ofstream out) : name_(std::move(name)), out_(std::move(out)) {}

  std::string name_;
  std::ofstream out_;
};

Result<Journal> read_journal(const std::filesystem::path& file, const std::string& actor);

}  // namespace tafel::demo
