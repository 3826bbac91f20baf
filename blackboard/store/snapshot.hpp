// Reads the boards of a store through one read transaction.
#pragma once

#include <memory>

#include "blackboard/store/board_line.hpp"
#include "blackboard/store/store.hpp"

namespace tafel::store {

class StoreSnapshot final : public Snapshot {
 public:
  explicit StoreSnapshot(std::unique_ptr<KvRead> kv) : kv_(std::move(kv)), log_(*kv_) {}

  Result<std::optional<Head>> head(const std::string& board) override;
  Result<std::optional<Deletion>> deletion(const std::string& board) override;
  Result<std::vector<BoardSummary>> boards(const std::string& after, std::size_t count) override;
  Result<std::vector<DeletedBoard>> deleted_boards(const std::string& after, std::size_t count) override;
  Result<std::vector<std::string>> event_records(const std::string& board, Version from, Version to,
                                                 std::size_t bytes_max) override;
  Result<std::vector<std::shared_ptr<const Event>>> revisions(const std::string& board, const Path& path,
                                                              Version before, std::size_t count,
                                                              std::size_t bytes_max) override;
  Result<CellPage> cells(const std::string& board, const std::optional<Path>& path, const std::string& cursor,
                         std::size_t bytes_max) override;
  Result<bool> keeps(const std::string& board, Version version) override;
  Result<blackboard::Board> load(const std::string& board, const std::optional<Path>& path,
                                 std::optional<Version> version, std::size_t bytes_max) override;
  Result<std::vector<Path>> fields(const std::string& board, const Path& path, std::size_t count) override;
  Result<DifferencePage> differences(const std::string& board, const std::optional<Path>& path, Version before,
                                     Version after, const std::optional<CellKey>& start,
                                     std::size_t bytes_max) override;

 private:
  // The record of the board, and its line.
  struct Found {
    BoardRecord record;
    BoardLine line;
  };
  Result<Found> find(const std::string& board);

  std::unique_ptr<KvRead> kv_;
  EventLog log_;
};

}  // namespace tafel::store
