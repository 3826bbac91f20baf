#include "broker/feed_lens.hpp"

#include <algorithm>
#include <utility>

namespace tafel::broker {

Lens::Lens(std::vector<Path> paths, Rights rights)
    : paths_(std::move(paths)),
      rights_(std::move(rights)),
      reads_everything_(rights_.may_read_everything()),
      is_whole_(paths_.empty() && reads_everything_) {}

bool Lens::sees(const Path& path) const {
  const bool asked = paths_.empty() || std::any_of(paths_.begin(), paths_.end(),
                                                   [&](const Path& top) { return path.is_at_or_below(top); });
  return asked && (reads_everything_ || rights_.may_read(path));
}

std::string Lens::encode(const Event& event) const {
  if (is_whole_) return codec::encode_feed_event(codec::feed_event_of(event));
  codec::FeedEvent seen;
  seen.version = event.version;
  seen.time = event.time;
  for (const LoggedChange& logged : event.changes) {
    if (logged.change.key.part == Part::board || sees(logged.change.key.path)) seen.changes.push_back(logged.change);
  }
  if (!seen.changes.empty()) {
    seen.actor = event.actor;
    seen.delta_id = event.delta_id;
    seen.base = event.base;
    seen.source = event.source;
    seen.completeness = event.completeness;
  }
  if (seen.completeness)
    std::erase_if(seen.completeness->missing,
                  [&](const auto& missing) { return !rights_.may_read_path(missing.path); });
  return codec::encode_feed_event(seen);
}

std::string Lens::name_of(const std::vector<Path>& paths, const Rights& rights, const std::string& actor) {
  // Neither names nor path keys hold U+0001 (a control character).
  std::string name = rights.may_read_everything() ? std::string() : actor;
  for (const Path& path : paths) name += '\x01' + path.key();
  return name;
}

}  // namespace tafel::broker
