// ActionSet: collects actions in any order and lists them ascending, faster than sorting.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/game.hpp"

namespace deskovky {

template <int kNumActions>
class ActionSet {
 public:
  void add(Action action) {
    const int word = action / 64;
    const std::uint64_t bit = std::uint64_t{1} << (action % 64);
    std::uint64_t& used = used_[word / 64];
    words_[word] = (words_[word] & -(used >> (word % 64) & 1)) | bit;  // no branch
    used |= std::uint64_t{1} << (word % 64);
  }

  // Appends the actions to `list`.
  void list(ActionList& list) const {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      for (std::uint64_t used = used_[i]; used; used &= used - 1) {
        const int word = 64 * static_cast<int>(i) + std::countr_zero(used);
        for (std::uint64_t bits = words_[word]; bits; bits &= bits - 1) {
          list.push_back(64 * word + std::countr_zero(bits));
        }
      }
    }
  }

 private:
  static constexpr int kNumWords = (kNumActions + 63) / 64;

  std::array<std::uint64_t, kNumWords> words_;                  // only the used ones are set
  std::array<std::uint64_t, (kNumWords + 63) / 64> used_ = {};  // the words that are not 0
};

}  // namespace deskovky
