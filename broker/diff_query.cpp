// What differs between two versions of a board.
#include <utility>

#include "broker/field_difference.hpp"
#include "broker/query.hpp"
#include "common/base/bytes.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/msgpack.hpp"

namespace tafel::broker {
namespace {

// Where a page of a difference begins, and of which one. As a cursor: base64 of be64 before ‖ be64 after ‖ be32 size of
// the path key ‖ path key ‖ part u8 ‖ id.
struct DiffPosition {
  Version before = 0;
  Version after = 0;
  CellKey start;
};

std::string to_cursor(const DiffPosition& position) {
  std::string bytes;
  const CellKey& start = position.start;
  put_be64(bytes, position.before);
  put_be64(bytes, position.after);
  put_be32(bytes, static_cast<std::uint32_t>(start.path.key().size()));
  bytes.append(start.path.key()).push_back(static_cast<char>(start.part));
  return to_base64(bytes.append(start.id));
}

std::optional<DiffPosition> diff_position(const std::string& cursor) {
  constexpr std::size_t head = 20;
  const auto bytes = from_base64(cursor);
  if (!bytes || bytes->size() < head) return std::nullopt;
  const std::string_view view = *bytes;
  const std::size_t size = get_be32(view.substr(16));
  if (size == 0 || size > limits::path_bytes_max || view.size() < head + size + 1) return std::nullopt;
  const auto part = static_cast<std::uint8_t>(view[head + size]);
  if (part > static_cast<std::uint8_t>(Part::suggestion)) return std::nullopt;
  return DiffPosition{get_be64(view),
                      get_be64(view.substr(8)),
                      {Path::from_key(std::string(view.substr(head, size))), static_cast<Part>(part),
                       std::string(view.substr(head + size + 1))}};
}

std::optional<Cell> live(const std::optional<Cell>& cell, TimeMs now) {
  return cell ? without_expired(*cell, now) : std::nullopt;
}

}  // namespace

Answer Query::diff() {
  std::optional<DiffPosition> position;
  auto from = question_.from;
  auto to = question_.to;
  if (!question_.cursor.empty()) {
    position = diff_position(question_.cursor);
    const bool fits = position && from.value_or(position->before) == position->before &&
                      to.value_or(position->after) == position->after;
    if (!fits)
      return refusal(ErrorCode::bad_request, "\"cursor\" must be the \"next\" of the answer before, as it came");
    from = position->before;
    to = position->after;
  }
  const auto before = moment(from, from ? std::nullopt : question_.from_time);
  if (!before) return tl::unexpected(before.error());
  const auto after = moment(to, to ? std::nullopt : question_.to_time);
  if (!after) return tl::unexpected(after.error());
  const auto page = snapshot_.differences(question_.board, question_.path, before->version, after->version,
                                          position ? std::optional(position->start) : std::nullopt, limits::page_bytes);
  if (!page) return failed(page.error());

  List fields;
  for (auto at = page->cells.begin(); at != page->cells.end();) {
    const Path& path = at->key.path;
    FieldDifference difference;
    for (; at != page->cells.end() && at->key.path == path; ++at) {
      if (shows(path)) difference.add(at->key, live(at->before, before->now), live(at->after, after->now));
    }
    if (difference.empty()) continue;
    Value words = difference.words();
    fields.push_back(std::move(words.set("path", path.text())));
  }
  Value next;
  if (page->next) next = to_cursor({before->version, after->version, *page->next});
  return codec::encode(Map{{"from", before->version},
                           {"to", after->version},
                           {"head", after->head.version},
                           {"fields", std::move(fields)},
                           {"next", std::move(next)}});
}

}  // namespace tafel::broker
