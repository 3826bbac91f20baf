#include "broker/schemas.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/limits.hpp"
#include "common/codec/schema_codec.hpp"

namespace tafel::broker {
namespace {

struct SchemaPlace {
  std::string board;
  std::string_view path;
};

// Where documents may stand that speak of the board, the nearest first.
std::vector<SchemaPlace> places_of(const std::string& board) {
  std::vector<SchemaPlace> places{{board, schema_of_board}};
  for (std::size_t end = board.rfind('/'); end != std::string::npos;
       end = board.rfind('/', end - 1))  // no "/" is first
    places.push_back({board.substr(0, end), schema_of_below});
  return places;
}

Result<std::optional<StoredSchema>> read_document(const SchemaPlace& place, const ReadCell& read) {
  const auto cell = read(place.board, leaf_key(*Path::parse(place.path)));
  if (!cell) return tl::unexpected(cell.error());
  const auto* reg = *cell ? std::get_if<RegisterCell>(&**cell) : nullptr;
  if (reg == nullptr) return std::nullopt;
  const Sibling& shown = shown_sibling(*reg);
  auto document = codec::schema_from_value(shown.value);
  if (!document) {
    return fail(Fault::bad_bytes,
                fmt::format("{} of board {}: {}", place.path, place.board, codec::in_one_message(document.error())));
  }
  return StoredSchema{place.board, std::string(place.path), shown.dot.version(), shown.value,
                      std::make_shared<const SchemaDocument>(std::move(*document))};
}

}  // namespace

Result<BoardSchema> read_schema(const std::string& board, const ReadCell& read) {
  BoardSchema found;
  Schema schema;
  for (const SchemaPlace& place : places_of(board)) {
    auto document = read_document(place, read);
    if (!document) return tl::unexpected(document.error());
    if (!*document) continue;
    schema.add(*(*document)->rules);
    found.documents.push_back(std::move(**document));
  }
  if (!found.documents.empty()) found.schema = std::make_shared<const Schema>(std::move(schema));
  return found;
}

Result<BoardSchema> read_schema(store::Snapshot& snapshot, const std::string& board) {
  return read_schema(board, [&](const std::string& of, const CellKey& key) -> Result<std::optional<Cell>> {
    const auto head = snapshot.head(of);
    if (!head) return tl::unexpected(head.error());
    if (!*head) return std::nullopt;
    const auto loaded = snapshot.load(of, key.path, std::nullopt, limits::query_load_bytes);
    if (!loaded) return tl::unexpected(loaded.error());
    const Cell* cell = loaded->find(key);
    return cell == nullptr ? std::nullopt : std::optional<Cell>(*cell);
  });
}

std::shared_ptr<const Schema> schema_with(const std::string& board, const BoardSchema& present,
                                          const std::string& changed_board, std::string_view path,
                                          const SchemaDocument* document) {
  auto schema = std::make_shared<Schema>();
  for (const SchemaPlace& place : places_of(board)) {
    if (place.board == changed_board && place.path == path) {
      if (document != nullptr) schema->add(*document);
      continue;
    }
    for (const StoredSchema& stored : present.documents) {
      if (stored.board == place.board && stored.path == place.path) schema->add(*stored.rules);
    }
  }
  return schema;
}

bool lies_below(std::string_view board, std::string_view above) {
  return board.size() > above.size() + 1 && board.starts_with(above) && board[above.size()] == '/';
}

}  // namespace tafel::broker
