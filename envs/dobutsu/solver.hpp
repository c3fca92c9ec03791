// Dobutsu solved, by retrograde analysis as in Tanaka (2009): there is no repetition rule, a safe
// try ends the game at once, lions may be left to capture.
//
// A table holds one byte for each position of Placements::kUndecided: 0 is a draw, an odd number
// the turns to a win of the mover, an even one those to its loss. Positions without an entry need
// none: where the mover can capture the lion it wins in 1; else, where the enemy lion has arrived,
// it has lost.
//
// While the table is being made, a byte above kOpen says how many successors are still open: those
// that leave the mover's lion safe and are not known to be won for the enemy. A position found lost
// makes its predecessors won; one found won closes an edge to each of its predecessors. Two mirror
// images are one position here, so that edges must be counted up to mirroring: what differs is only
// a position that is its own mirror image, whose edges come in pairs.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "core/thread_pool.hpp"
#include "dobutsu/placements.hpp"

namespace deskovky {

// What perfect play leads to, for the mover.
struct Solved {
  int value;     // 1 a win, 0 a draw, -1 a loss
  int distance;  // turns until then; none (-1) for a draw
  bool operator==(const Solved&) const = default;
};

constexpr Solved kLost = {-1, 0};

// What the mover gets from a turn after which its enemy gets `next`.
constexpr Solved before(Solved next) {
  return {-next.value, next.value ? next.distance + 1 : next.distance};
}

// True if `a` is better for the mover: quick wins before slow ones, slow losses before quick ones.
constexpr bool is_better(Solved a, Solved b) {
  if (a.value != b.value) return a.value > b.value;
  return a.value > 0 ? a.distance < b.distance : a.value < 0 && a.distance > b.distance;
}

constexpr Solved from_byte(std::uint8_t byte) {
  return byte ? Solved{byte & 1 ? 1 : -1, byte} : Solved{0, -1};
}

// Told about the progress of long work, on the calling thread: stage, done, all there is. What it
// throws ends the work.
using Report = std::function<void(const char*, std::uint64_t, std::uint64_t)>;

// Calls task(part) for each part on all threads of the pool, and report(parts done).
template <class Task, class ReportDone>
void for_each_part(ThreadPool& pool, int num_parts, const Task& task, const ReportDone& report) {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> next = 0;
  std::atomic<bool> is_stopped = false;
  const auto work = [&](int, int) {
    try {
      for (int part; !is_stopped && (part = next++) < num_parts;) {
        task(part);
        if (std::this_thread::get_id() == caller) report(part + 1);
      }
    } catch (...) {
      is_stopped = true;
      throw;
    }
  };
  pool.run(64 * pool.num_threads(), work);  // enough for each thread to take a share
}

// A finished table, looked up by position.
class Solution {
 public:
  Solution(const Placements& placements, std::span<const std::uint8_t> table)
      : placements_(placements), table_(table) {}

  // True if no piece is missing. Only such positions can be looked up.
  static bool has_all_pieces(const Dobutsu::Position& position) {
    const auto& [first, second] = position.sides;
    const auto count = [&](int piece) {
      return std::popcount(first.pieces[piece]) + std::popcount(second.pieces[piece]);
    };
    const auto in_hand = [&](int piece) { return first.hand[piece] + second.hand[piece]; };
    return count(Dobutsu::G) + in_hand(Dobutsu::G) == 2 &&
           count(Dobutsu::E) + in_hand(Dobutsu::E) == 2 &&
           count(Dobutsu::C) + count(Dobutsu::H) + in_hand(Dobutsu::C) == 2;
  }

  static bool can_capture_lion(const Dobutsu::Position& position) {
    return Dobutsu::attackers(position.own(), position.enemy().pieces[Dobutsu::L]);
  }
  static bool has_enemy_arrived(const Dobutsu::Position& position) {
    return position.enemy().pieces[Dobutsu::L] & Dobutsu::kLastRank;
  }

  // A position whose mover can capture the lion, or whose mover's lion has not arrived.
  Solved look_up(const Dobutsu::Position& position) const {
    if (!position.own().pieces[Dobutsu::L]) return kLost;
    if (can_capture_lion(position)) return {1, 1};
    if (has_enemy_arrived(position)) return kLost;
    return from_byte(table_[placements_.index(position)]);
  }

  // Any position under the rules of `game`, history and length aside. A position that is over is
  // what its winner says, in 0 turns; but mate (DS-6) is counted until the lion is captured.
  Solved solve(const Dobutsu& game, const Dobutsu::Position& position) const {
    const Outcome outcome = game.outcome(position);
    if (outcome.is_over() && outcome.termination != Termination::kCheckmate) {
      if (outcome.winner == Outcome::kNobody) return {0, -1};
      return {outcome.winner == position.to_move() ? 1 : -1, 0};
    }
    // If its own lion has arrived and the game goes on, it can be captured where it stands, and the
    // enemy has not done so. Such a position is not in the table, but all that may follow are.
    if ((position.own().pieces[Dobutsu::L] & Dobutsu::kLastRank) && !can_capture_lion(position)) {
      return look_ahead(game, position, [&](const auto& next) { return solve(game, next); });
    }
    return look_up(position);
  }

  // Calls visit(action, what the mover gets from it) for each legal action.
  template <class Visit>
  void solve_actions(const Dobutsu& game, const Dobutsu::Position& position, Visit&& visit) const {
    for_each_next(game, position, [&](Action action, const Dobutsu::Position& next) {
      visit(action, before(solve(game, next)));
      return true;
    });
  }

  // Calls visit(action, next position) for each legal action until it returns false.
  template <class Visit>
  static void for_each_next(const Dobutsu& game, const Dobutsu::Position& position, Visit&& visit) {
    ActionList actions;
    game.legal_actions(position, actions);
    for (const Action action : actions) {
      Dobutsu::Position next = position;
      game.apply(next, action);
      if (!visit(action, next)) return;
    }
  }

  // Returns how many entries are not what the ordinary rules and their successors say.
  std::uint64_t count_errors(ThreadPool& pool, const Report& report) const {
    const Dobutsu game;
    std::atomic<std::uint64_t> num_errors = 0;
    const auto check = [&](int part) {
      const int lion_class = Placements::class_of_part(part);
      placements_.for_each_block(part, [&](const Placements::Block& block) {
        for (std::uint32_t i = block.begin; i < block.end; ++i) {
          const Cells cells = placements_.cells(block, i);
          const Solved expected = placements_.is_shadow(lion_class, cells, i)
                                      ? from_byte(0)
                                      : look_ahead(game, placements_.position(lion_class, cells),
                                                   [&](const auto& next) { return look_up(next); });
          if (expected != from_byte(table_[i])) ++num_errors;
        }
      });
    };
    for_each_part(pool, placements_.num_parts(), check,
                  [&](int done) { report("verify", done, placements_.num_parts()); });
    return num_errors;
  }

 private:
  // The best that the mover gets, from what its enemy gets next. No turn at all (DS-7) counts like
  // mate here: there are two such positions in the table, and no turn leads to them.
  template <class Next>
  static Solved look_ahead(const Dobutsu& game, const Dobutsu::Position& position, Next&& solved) {
    Solved best = {-1, 2};
    for_each_next(game, position, [&](Action, const Dobutsu::Position& next) {
      const Solved found = before(solved(next));
      if (is_better(found, best)) best = found;
      return best != Solved{1, 1};
    });
    return best;
  }

  const Placements& placements_;
  std::span<const std::uint8_t> table_;
};

class Solver {
 public:
  Solver(const Placements& placements, std::span<std::uint8_t> table, ThreadPool& pool)
      : placements_(placements), table_(table), pool_(pool) {
    for (int i = 0; i < placements.num_classes(); ++i) {
      moves_.push_back(make_moves(placements.lion_class(i)));
    }
  }

  void solve(const Report& report) {
    const int num_parts = placements_.num_parts();
    for_each_part(
        pool_, num_parts, [&](int part) { begin(part); },
        [&](int done) { report("count", done, num_parts); });
    const std::uint64_t num_open = num_open_;
    // Each pass takes what the one before has found.
    for (int distance = 1, num_idle = 0; num_idle < 2 && distance < kOpen; ++distance) {
      num_found_ = 0;
      for_each_part(
          pool_, num_parts, [&](int part) { propagate(part, distance); },
          [&](int) { report("solve", num_open - num_open_, num_open); });
      num_open_ -= num_found_;
      num_idle = distance > 2 && num_found_ == 0 ? num_idle + 1 : 0;
    }
    for_each_part(pool_, num_parts, [&](int part) { end(part); }, [](int) {});
    report("solve", num_open, num_open);
  }

  // Calls visit(index) for each predecessor of a position in which the enemy, whose turn it was,
  // could not capture the mover's lion; for each edge, if the position is no mirror image of itself.
  template <class Visit>
  void for_each_predecessor(int lion_class, const Cells& cells, Visit&& visit) const {
    const auto& turned = moves_[lion_class].turned;
    Cells before;
    for (int kind = 0; kind < Cells::kNumKinds; ++kind) {
      before.own[kind] = turned.cells[cells.enemy[kind]];
      before.enemy[kind] = turned.cells[cells.own[kind]];
    }
    for (int kind = 0; kind < 3; ++kind) {
      before.own_hand[kind] = static_cast<std::uint8_t>(cells.enemy_hand(kind));
    }
    take_back(turned.lion_class, before, visit);
  }

  // The number of turns that leave the mover's lion safe, of mirror images only one.
  int count_turns(int lion_class, const Cells& cells) const {
    const Moves& moves = moves_[lion_class];
    const int num_turns = count_turns(moves, cells, Cells::kAll);
    if (!placements_.is_own_mirror_image(lion_class, cells)) return num_turns;
    return (num_turns + count_turns(moves, cells, moves.file_b)) / 2;
  }

 private:
  using Bits = Cells::Bits;
  using Sets = std::vector<Bits>;  // by set of cells: another set

  static constexpr int kOpen = 176;  // plus the open successors, 79 at most

  // How own and enemy pieces move in one class, on its cells.
  struct Moves {
    using ByCell = std::array<Bits, Cells::kNum>;

    std::array<ByCell, Cells::kNumKinds> targets = {}, origins = {};  // of own pieces
    ByCell promoted_from = {};  // where an own hen was before it promoted to this cell
    std::array<Sets, Cells::kNumKinds> enemy_attacks;  // of sets of enemy pieces
    std::array<Bits, Cells::kNumKinds> own_checks, enemy_checks;
    Bits lion_targets, last_rank, file_b;  // lion_targets: not beside the enemy lion

    struct {
      int lion_class;
      Sets cells;  // there, of the cells here
    } turned;      // as the enemy sees it

    struct LionOrigin {
      Bits origin;     // cell here
      int lion_class;  // with the lion on it
      Bits left;       // cell there that the lion stands on here
      Sets cells;      // there, of the cells here
    };
    std::vector<LionOrigin> lion_origins;
  };

  Moves make_moves(const Placements::Class& lions) const {
    const Bits own_lion = Dobutsu::bit(lions.own_lion), enemy_lion = Dobutsu::bit(lions.enemy_lion);
    const Bits others = Dobutsu::kAll & ~(own_lion | enemy_lion);
    const auto cells = [&](Bits squares) { return lions.cells(squares & others); };
    Moves moves;
    moves.own_checks = lions.own_checks;
    moves.enemy_checks = lions.enemy_checks;
    moves.last_rank = cells(Dobutsu::kLastRank);
    moves.file_b = cells(~(Dobutsu::kFileA | Dobutsu::kFileC));
    moves.lion_targets = cells(Placements::targets(Placements::kLion, lions.own_lion) &
                               ~Placements::targets(Placements::kLion, lions.enemy_lion));
    for (int kind = 0; kind < Cells::kNumKinds; ++kind) {
      std::array<Bits, Cells::kNum> attacks;
      for (int cell = 0; cell < Cells::kNum; ++cell) {
        const int square = std::countr_zero(lions.squares(Dobutsu::bit(cell)));
        moves.targets[kind][cell] = cells(Placements::targets(kind, square));
        moves.origins[kind][cell] = cells(Placements::origins(kind, square));
        attacks[cell] = cells(Dobutsu::turned(Placements::targets(kind, 11 - square)));
      }
      for (int set = 0; set <= Cells::kAll; ++set) {
        const int rest = set & (set - 1);
        moves.enemy_attacks[kind].push_back(
            set ? moves.enemy_attacks[kind][rest] | attacks[std::countr_zero<unsigned>(set)] : 0);
      }
    }
    for (Bits rest = moves.last_rank; rest; rest &= rest - 1) {
      const int cell = std::countr_zero(rest);
      std::swap(moves.promoted_from[cell], moves.origins[Cells::C][cell]);
    }
    const auto pair = placements_.lion_pair(11 - lions.enemy_lion, 11 - lions.own_lion);
    moves.turned = {pair.lion_class, sets(lions, true, pair)};
    Bits squares = Placements::targets(Placements::kLion, lions.own_lion) & others;
    for (; squares; squares &= squares - 1) {
      const int origin = std::countr_zero(squares);
      const auto from = placements_.lion_pair(origin, lions.enemy_lion);
      if (from.lion_class < 0) continue;
      const int left = from.is_mirrored ? Placements::mirrored(lions.own_lion) : lions.own_lion;
      moves.lion_origins.push_back(
          {cells(Dobutsu::bit(origin)), from.lion_class,
           placements_.lion_class(from.lion_class).cells(Dobutsu::bit(left)),
           sets(lions, false, from)});
    }
    return moves;
  }

  // Takes each set of cells to the class of another pair of lions.
  Sets sets(const Placements::Class& lions, bool is_turned, Placements::LionPair to) const {
    Sets sets;
    for (Bits cells = 0; cells <= Cells::kAll; ++cells) {
      std::uint64_t squares = lions.squares(cells);
      if (is_turned) squares = Placements::turned(squares);
      if (to.is_mirrored) squares = Placements::mirrored(squares);
      sets.push_back(placements_.lion_class(to.lion_class).cells(static_cast<Bits>(squares)));
    }
    return sets;
  }

  // --- Turns forward: only counted ------------------------------------------------------------------

  static bool can_capture_lion(const Moves& moves, const Cells& cells) {
    return checkers(moves.own_checks, cells.own);
  }

  static Bits checkers(const std::array<Bits, 4>& checks, const std::array<Bits, 4>& pieces) {
    Bits found = 0;
    for (int kind = 0; kind < Cells::kNumKinds; ++kind) found |= checks[kind] & pieces[kind];
    return found;
  }

  // Where the own lion can step and is not attacked.
  static Bits lion_turns(const Moves& moves, const Cells& cells) {
    Bits attacked = 0;
    for (int kind = 0; kind < Cells::kNumKinds; ++kind) {
      attacked |= moves.enemy_attacks[kind][cells.enemy[kind]];
    }
    return moves.lion_targets & ~cells.own_pieces() & ~attacked;
  }

  // The turns that leave the own lion safe, with an origin (if any) and a target among `filter`.
  // All pieces step one square, so that nothing is pinned, and nothing put between.
  static int count_turns(const Moves& moves, const Cells& cells, Bits filter) {
    int count = std::popcount<Bits>(lion_turns(moves, cells) & filter);
    const Bits enemy_checkers = checkers(moves.enemy_checks, cells.enemy);
    if (enemy_checkers & (enemy_checkers - 1)) return count;
    const Bits own = cells.own_pieces();
    const Bits targets = filter & (enemy_checkers ? enemy_checkers : Bits(Cells::kAll & ~own));
    for (int kind = 0; kind < Cells::kNumKinds; ++kind) {
      for (Bits b = cells.own[kind] & filter; b; b &= b - 1) {
        count += std::popcount<Bits>(moves.targets[kind][std::countr_zero(b)] & targets);
      }
    }
    if (!enemy_checkers) {
      int num_kinds = 0;
      for (const int in_hand : cells.own_hand) num_kinds += in_hand > 0;
      count += num_kinds * std::popcount<Bits>(targets & ~cells.enemy_pieces());
    }
    return count;
  }

  // --- Turns taken back -----------------------------------------------------------------------------

  // Calls visit(index) for each position that the mover of `after` may have come from. `after` is
  // seen from that mover's side, its turn being over. It gave no check that it could have used
  // instead, so that what gives check now has just come.
  template <class Visit>
  void take_back(int lion_class, const Cells& after, Visit&& visit) const {
    const Moves& moves = moves_[lion_class];
    const Bits checkers = Solver::checkers(moves.own_checks, after.own);
    if (checkers & (checkers - 1)) return;
    const Bits movable = checkers ? checkers : Cells::kAll;
    const Bits empty = Cells::kAll & ~(after.own_pieces() | after.enemy_pieces());
    for (int kind = 0; kind < Cells::kNumKinds; ++kind) {
      for (Bits pieces = after.own[kind] & movable; pieces; pieces &= pieces - 1) {
        const Bits left = pieces & -pieces;
        const int cell = std::countr_zero(left);
        Cells before = after;
        before.own[kind] ^= left;
        take_back_steps(lion_class, before, kind, left,
                        moves.origins[kind][cell] & empty & ~moves.own_checks[kind], visit);
        if (kind == Cells::H) {
          take_back_steps(lion_class, before, Cells::C, left, moves.promoted_from[cell] & empty,
                          visit);
        } else {
          ++before.own_hand[kind];  // it was dropped
          visit(placements_.index(lion_class, before));
        }
      }
    }
    if (checkers) return;
    for (const auto& [origin, from_class, left, cells] : moves.lion_origins) {
      if (!(origin & empty)) continue;
      Cells before = after;
      for (Bits& bits : before.own) bits = cells[bits];
      for (Bits& bits : before.enemy) bits = cells[bits];
      take_back_capture(from_class, before, left, visit);
    }
  }

  // A piece of a kind came from one of `origins` to the cell `left`, which is empty in `before`.
  template <class Visit>
  void take_back_steps(int lion_class, const Cells& before, int kind, Bits left, Bits origins,
                       Visit&& visit) const {
    for (; origins; origins &= origins - 1) {
      Cells moved = before;
      moved.own[kind] |= origins & -origins;
      take_back_capture(lion_class, moved, left, visit);
    }
  }

  // The cell `left` was empty, or an enemy piece stood there that is now in the mover's hand.
  template <class Visit>
  void take_back_capture(int lion_class, Cells& before, Bits left, Visit&& visit) const {
    visit(placements_.index(lion_class, before));
    for (int kind = 0; kind < Cells::kNumKinds; ++kind) {
      const int hand = kind == Cells::H ? Cells::C : kind;
      if (!before.own_hand[hand]) continue;
      --before.own_hand[hand];
      before.enemy[kind] |= left;
      visit(placements_.index(lion_class, before));
      before.enemy[kind] ^= left;
      ++before.own_hand[hand];
    }
  }

  // --- The stages -----------------------------------------------------------------------------------

  // Finds what is decided by the next turn; counts the open successors of the rest.
  void begin(int part) {
    const int lion_class = Placements::class_of_part(part);
    std::uint64_t num_open = 0;
    placements_.for_each_block(part, [&](const Placements::Block& block) {
      for (std::uint32_t i = block.begin; i < block.end; ++i) {
        table_[i] = first_byte(lion_class, placements_.cells(block, i), i);
        num_open += table_[i] > kOpen;
      }
    });
    num_open_ += num_open;
  }

  std::uint8_t first_byte(int lion_class, const Cells& cells, std::uint32_t index) const {
    const Moves& moves = moves_[lion_class];
    if (placements_.is_shadow(lion_class, cells, index)) return 0;
    if (can_capture_lion(moves, cells)) return 1;
    if (lion_turns(moves, cells) & moves.last_rank) return 1;  // a safe try
    const int count = count_turns(lion_class, cells);
    return static_cast<std::uint8_t>(count ? kOpen + count : 2);
  }

  // Takes what is decided at `distance` to the predecessors.
  void propagate(int part, int distance) {
    const int lion_class = Placements::class_of_part(part);
    const auto [begin, end] = placements_.range(part);
    const auto found = [&](std::uint32_t from) -> std::uint32_t {
      const void* at = std::memchr(&table_[from], distance, end - from);
      return at ? static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(at) - table_.data())
                : end;
    };
    std::uint32_t i = begin < end ? found(begin) : end;
    if (i == end) return;
    Updates updates(*this, distance);
    placements_.for_each_block(part, [&](const Placements::Block& block) {
      for (; i < block.end; i = i + 1 < end ? found(i + 1) : end) {
        const Cells cells = placements_.cells(block, i);
        if (distance == 1 && can_capture_lion(moves_[lion_class], cells)) continue;
        if (placements_.is_own_mirror_image(lion_class, cells)) {
          std::vector<std::uint32_t> distinct;
          for_each_predecessor(lion_class, cells, [&](std::uint32_t p) { distinct.push_back(p); });
          std::sort(distinct.begin(), distinct.end());
          distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
          for (const std::uint32_t p : distinct) updates.add(p);
        } else {
          for_each_predecessor(lion_class, cells, [&](std::uint32_t p) { updates.add(p); });
        }
        if (i + 1 == end) break;
      }
    });
    updates.flush();
    num_found_ += updates.num_found;
  }

  // What remains open is a draw.
  void end(int part) {
    const auto [begin, end] = placements_.range(part);
    for (std::uint32_t i = begin; i < end; ++i) {
      if (table_[i] > kOpen) table_[i] = 0;
    }
  }

  // Changes of bytes, some at a time so that they are on their way from memory.
  class Updates {
   public:
    Updates(Solver& solver, int distance)
        : table_(solver.table_.data()),
          next_(static_cast<std::uint8_t>(distance + 1)),
          is_won_(distance & 1) {}

    void add(std::uint32_t index) {
      __builtin_prefetch(table_ + index, 1);
      indices_[size_++] = index;
      if (size_ == kMost) flush();
    }

    void flush() {
      for (int i = 0; i < size_; ++i) {
        // Other threads change the same bytes. Each edge is closed once, so that exactly one of
        // them closes the last one; and those that find a win at once all write the same.
        std::atomic_ref byte(table_[indices_[i]]);
        if (byte.load(std::memory_order_relaxed) <= kOpen) continue;
        if (!is_won_ || byte.fetch_sub(1, std::memory_order_relaxed) == kOpen + 1) {
          byte.store(next_, std::memory_order_relaxed);
          ++num_found;
        }
      }
      size_ = 0;
    }

    std::uint64_t num_found = 0;  // with several threads some wins may be counted twice

   private:
    static constexpr int kMost = 64;

    std::uint8_t* table_;
    std::uint8_t next_;
    bool is_won_;
    int size_ = 0;
    std::array<std::uint32_t, kMost> indices_;
  };

  const Placements& placements_;
  std::span<std::uint8_t> table_;
  ThreadPool& pool_;
  std::vector<Moves> moves_;
  std::atomic<std::uint64_t> num_open_ = 0, num_found_ = 0;
};

}  // namespace deskovky
