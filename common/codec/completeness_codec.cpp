#include "common/codec/completeness_codec.hpp"

#include "common/codec/fields.hpp"

namespace tafel::codec {
namespace {

Result<Completeness::Missing> missing_from_value(const Value& value) {
  MemberReader in(value, "a missing field");
  auto path = Path::parse(in.text("path"));
  if (!path) return tl::unexpected(path.error());
  Completeness::Missing missing{std::move(*path), in.text("label")};
  return in.finish(std::move(missing));
}

}  // namespace

Value completeness_to_value(const Completeness& completeness) {
  List missing;
  for (const auto& [path, label] : completeness.missing)
    missing.push_back(Map{{"path", path.text()}, {"label", label}});
  return Map{{"score", completeness.score}, {"missing", std::move(missing)}};
}

Result<Completeness> completeness_from_value(const Value& value) {
  MemberReader in(value, "a completeness");
  Completeness completeness;
  const Value& score = in.member("score");
  const auto* real = score.get_if<double>();
  if (real == nullptr && !score.as_int64()) in.refuse("score", "a number from 0 to 1");
  completeness.score = real != nullptr ? *real : static_cast<double>(score.as_int64().value_or(0));
  for (const Value& item : in.list("missing")) {
    auto missing = missing_from_value(item);
    if (!missing) return tl::unexpected(missing.error());
    completeness.missing.push_back(std::move(*missing));
  }
  return in.finish(std::move(completeness));
}

}  // namespace tafel::codec
