// Lines of a file or of standard input, read as they come: at most one line and one block are in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "common/base/limits.hpp"
#include "common/base/result.hpp"

namespace tafel::cli {

class LineReader {
 public:
  // "-": standard input.
  static Result<LineReader> open(const std::string& file, std::size_t line_bytes_max = limits::input_line_bytes_max);
  LineReader(LineReader&& other) noexcept;
  LineReader& operator=(LineReader&&) = delete;
  ~LineReader();

  enum class Item : std::uint8_t {
    line,
    too_long,  // a line above `line_bytes_max`; all of it was skipped
    end,
    waiting,  // nothing came within `patience`
  };
  // Reads the next line into `line`, without its end; the last line needs none.
  Result<Item> next(std::string& line, std::optional<std::chrono::milliseconds> patience);

 private:
  LineReader(int descriptor, std::string name, std::size_t line_bytes_max)
      : descriptor_(descriptor), name_(std::move(name)), line_bytes_max_(line_bytes_max) {}

  std::optional<Item> take(std::string& line);
  Result<bool> fill(std::optional<std::chrono::milliseconds> patience);  // false: nothing came in time

  int descriptor_;
  std::string name_;  // for messages
  std::size_t line_bytes_max_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the line that comes next
  std::size_t searched_ = 0;  // up to here there is no line end after begin_
  bool is_skipping_ = false;  // inside a line that is too long
  bool is_at_end_ = false;
};

// A small file as a whole; refused above limits::input_line_bytes_max. "-": standard input.
Result<std::string> read_small_file(const std::string& file);

}  // namespace tafel::cli
