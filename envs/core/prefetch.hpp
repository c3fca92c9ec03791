// Asks for memory that will be written soon; does nothing with compilers that do not offer it.
#pragma once

#include <cstddef>

namespace deskovky {

inline void prefetch([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t size) {
#if defined(__GNUC__)
  constexpr std::size_t kLine = 64;
  for (std::size_t i = 0; i < size + kLine - 1; i += kLine) {
    __builtin_prefetch(static_cast<const char*>(begin) + i, 1);
  }
#endif
}

}  // namespace deskovky
