// The positions that can be reached from the start of Dobutsu, counted as in Tanaka (2009).
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "dobutsu/solver.hpp"

namespace deskovky {

// Up to mirroring, each as its mover sees it. Where the mover can capture the lion, or else the
// enemy lion has arrived, no turn is made; what perfect play leads to is counted of the others.
struct ReachableCounts {
  std::uint64_t capturable, arrived;
  std::uint64_t won, lost, drawn;
  int longest_win;  // in turns
};

class Reachable {
 public:
  explicit Reachable(const Solution& solution)
      : solution_(solution), reached_(num_words()), expanded_(num_words()) {}

  ReachableCounts count(ThreadPool& pool, const Report& report) {
    reach(game_.from_fen(Dobutsu::kSetups[0].fen));
    while (num_expanded_ != num_reached_) {
      for_each_part(
          pool, all_.num_parts(), [&](int part) { expand(part); },
          [&](int) { report("reach", num_expanded_, num_reached_); });
    }
    for_each_part(pool, all_.num_parts(), [&](int part) { classify(part); }, [](int) {});
    return {capturable_, arrived_, won_, lost_, drawn_, longest_win_};
  }

 private:
  using Set = std::vector<std::atomic<std::uint64_t>>;  // of indices, a bit each

  std::size_t num_words() const { return all_.size() / 64 + 1; }

  static bool has(const Set& set, std::uint32_t i) {
    return set[i / 64].load(std::memory_order_relaxed) >> i % 64 & 1;
  }

  // Returns false if it was there already.
  static bool add(Set& set, std::uint32_t i) {
    const std::uint64_t bit = std::uint64_t{1} << i % 64;
    return !has(set, i) && !(set[i / 64].fetch_or(bit, std::memory_order_relaxed) & bit);
  }

  void reach(const Dobutsu::Position& position) {
    num_reached_ += add(reached_, all_.index(position));
  }

  // Calls visit(index, position) for each position of a part that has been reached, or only for
  // those that have not been expanded.
  template <class Visit>
  void for_each_reached(int part, bool is_new, Visit&& visit) const {
    const int lion_class = Placements::class_of_part(part);
    all_.for_each_block(part, [&](const Placements::Block& block) {
      for (std::uint32_t i = block.begin; i < block.end; ++i) {
        std::uint64_t word = reached_[i / 64].load(std::memory_order_relaxed);
        if (is_new) word &= ~expanded_[i / 64].load(std::memory_order_relaxed);
        if (word == 0) {
          i |= 63;
        } else if (word >> i % 64 & 1) {
          visit(i, all_.position(lion_class, all_.cells(block, i)));
        }
      }
    });
  }

  void expand(int part) {
    for_each_reached(part, true, [&](std::uint32_t i, const Dobutsu::Position& position) {
      add(expanded_, i);
      ++num_expanded_;
      if (Solution::can_capture_lion(position) || Solution::has_enemy_arrived(position)) return;
      Solution::for_each_next(game_, position, [&](Action, const Dobutsu::Position& next) {
        reach(next);
        return true;
      });
    });
  }

  void classify(int part) {
    for_each_reached(part, false, [&](std::uint32_t, const Dobutsu::Position& position) {
      if (Solution::can_capture_lion(position)) {
        ++capturable_;
      } else if (Solution::has_enemy_arrived(position)) {
        ++arrived_;
      } else {
        const Solved found = solution_.look_up(position);
        ++(found.value > 0 ? won_ : found.value < 0 ? lost_ : drawn_);
        if (found.value <= 0) return;
        int longest = longest_win_;
        while (found.distance > longest &&
               !longest_win_.compare_exchange_weak(longest, found.distance)) {
        }
      }
    });
  }

  const Dobutsu game_;
  const Solution& solution_;
  const Placements all_{Placements::kAll};
  Set reached_, expanded_;
  std::atomic<std::uint64_t> num_reached_ = 0, num_expanded_ = 0;
  std::atomic<std::uint64_t> capturable_ = 0, arrived_ = 0, won_ = 0, lost_ = 0, drawn_ = 0;
  std::atomic<int> longest_win_ = 0;
};

}  // namespace deskovky
