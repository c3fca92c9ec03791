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
  void add(Action action) { words_[action / 64] |= std::uint64_t{1} << (action % 64); }

  // Appends the actions to `list`.
  void list(ActionList& list) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word; word &= word - 1) {
        list.push_back(static_cast<Action>(64 * i) + std::countr_zero(word));
      }
    }
  }

 private:
  std::array<std::uint64_t, (kNumActions + 63) / 64> words_ = {};
};

}  // namespace deskovky
