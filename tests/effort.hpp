// How much a test does: less under the sanitizers, which are ten times slower, and in the quick run.
#pragma once

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif

namespace tafel {

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
inline constexpr bool is_thread_sanitized = true;
#else
inline constexpr bool is_thread_sanitized = false;
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = is_thread_sanitized;
#endif

#ifdef TAFEL_QUICK_TESTS  // scripts/test.sh --quick
inline constexpr bool is_quick = true;
#else
inline constexpr bool is_quick = false;
#endif

inline constexpr int effort = is_sanitized || is_quick ? 1 : 10;  // of 10

}  // namespace tafel
