// Text that claims to be a path, a pointer, a board id, a name, a pattern or a mark.
#include "common/base/limits.hpp"
#include "common/codec/op_codec.hpp"
#include "common/codec/pointer.hpp"
#include "common/model/cell.hpp"
#include "common/model/names.hpp"
#include "tests/fuzz/invariant.hpp"

namespace {

using namespace tafel;

void check_path(std::string_view text) {
  const auto path = Path::parse(text);
  if (!path) return fuzz::check_message(path.error().message);
  TAFEL_CHECK(path->text() == text, "a path has one spelling");
  TAFEL_CHECK(Path::from_segments(path->segments()) == *path, "segments make the path");
  TAFEL_CHECK(path->depth() == path->segments().size() && path->depth() <= limits::path_segments_max,
              "depth counts segments");
  TAFEL_CHECK(Path::from_key(path->key()) == *path, "the key is the path");
  TAFEL_CHECK(codec::path_from_pointer(codec::pointer_from_path(text)) == std::string(text),
              "a pointer names the same path");
  if (const auto parent = path->parent()) {
    TAFEL_CHECK(path->is_below(*parent) && *parent < *path, "a path follows its parent");
    TAFEL_CHECK(parent->child(path->segments().back()) == *path, "a child of its parent");
  }
  if (text.find('*') == std::string_view::npos) {
    const auto pattern = Pattern::for_paths(text);
    TAFEL_CHECK(pattern && pattern->matches(path->segments()), "a literal pattern matches its path");
  }
}

void check_pointer(std::string_view text) {
  const auto path = codec::path_from_pointer(text);
  if (!path) return fuzz::check_message(path.error().message);
  TAFEL_CHECK(codec::pointer_from_path(*path) == text, "a pointer has one spelling");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  check_path(text);
  check_pointer(text);
  codec::pointer_from_path(text);
  if (const auto defect = board_id_defect(text)) fuzz::check_message(*defect);
  if (const auto defect = name_defect(text)) fuzz::check_message(*defect);
  if (const auto mark = mark_from_text(text)) TAFEL_CHECK(mark_text(*mark) == text, "a mark has one spelling");
  if (const auto bytes = from_base64(text)) TAFEL_CHECK(to_base64(*bytes) == text, "bytes have one spelling");
  return 0;
}
