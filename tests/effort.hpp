// How much a test does: less under the sanitizers, which are ten times slower.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAFEL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TAFEL_SANITIZED 1
#endif
#endif

namespace tafel {

#ifdef TAFEL_SANITIZED
inline constexpr bool is_sanitized = true;
inline constexpr int effort = 1;  // of 10
#else
inline constexpr bool is_sanitized = false;
inline constexpr int effort = 10;
#endif

}  // namespace tafel
