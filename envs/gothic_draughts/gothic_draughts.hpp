// Gothic draughts (Altdeutsche Dame), rules GD-1 to GD-8 of its README.
//
// 8 x 8, all squares, 16 men a side. A man steps one square forward, diagonally forward or sideways
// and captures by a short jump in the same directions. A king moves any number of empty squares in
// all eight directions; it jumps over one enemy piece at any distance and lands anywhere behind it
// up to the next piece. Capturing is compulsory, and as many pieces as possible must be taken; what
// is jumped over is removed at once. A man whose turn ends on the last rank becomes a king. A player
// without a step passes. After 30 turns without capture, and when neither can step, more pieces win.
//
//   8  56 57 58 59 60 61 62 63        Each player's pieces are kept as that player sees them: own
//   .  .. .. .. .. .. .. .. ..        rank 1 first, player 1's board turned by 180 degrees. The
//   2   8  9 10 11 12 13 14 15        enemy stands on square 63 - s.
//   1   0  1  2  3  4  5  6  7
//       a  b  c  d  e  f  g  h
//
// Action = plane * 64 + square. Plane = direction * 7 + distance - 1: the piece on `square` goes
// `distance` squares N NE E SE S SW W NW, as a step or as a jump. The last action, 3584: pass.
// Observation planes, as `player` sees it: 0 own men, 1 own kings, 2 enemy men, 3 enemy kings,
// 4 the piece that must go on, 5 quiet count / 30.
#pragma once

#include <vector>

#include "core/draughts.hpp"

namespace deskovky {

struct GothicDraughts {
  static constexpr std::array<std::string_view, 1> kRulesets = {"standard"};
  static constexpr std::array<Setup, 1> kSetups = {
      {{"default", "mmmmmmmm/mmmmmmmm/8/8/8/8/MMMMMMMM/MMMMMMMM w - 0 1"}}};
  static constexpr GameInfo kInfo = {
      .id = "gothic_draughts_v0",
      .num_ranks = 8,
      .num_files = 8,
      .num_action_planes = 56,
      .has_pass = true,
      .num_planes = 6,
      .max_turns = 1000,
      .uses_repetition = false,
      .single_step_turns = false,
      .is_mirror_symmetric = true,
      .rulesets = kRulesets,
      .setups = kSetups,
  };

  enum Piece { M, K };
  using Board = DraughtsBoard<8, 8, 2>;
  using Bits = Board::Bits;
  using Side = Board::Side;
  using View = Board::View;
  using Position = Board::Position;
  static constexpr std::string_view kLetters = "MK";
  static constexpr int kNumSquares = Board::kNumSquares, kMaxPieces = 16, kQuietLimit = 30;

  GameOptions options;

  void legal_actions(const Position& position, ActionList& list) const {
    list.clear();
    const Side& own = position.own();
    const View view = position.view();
    const Bits mobile = position.is_turn_open() ? Board::bit(position.pending) : Board::kAll;
    const auto add = [&](int direction) {
      return [&list, direction](int distance, Bits landings) {
        const int offset = distance * Board::offset(kDirections[direction]);
        Board::add(list, plane(direction, distance), landings, offset);
      };
    };
    unrolled<8>([&]<int direction>() {
      Board::jumps<kDirections[direction]>(short_pieces(own, direction) & mobile,
                                           own.pieces[K] & mobile, view, add(direction));
    });
    if (!list.empty()) return keep_longest(position, list);
    unrolled<8>([&]<int direction>() {
      Board::steps<kDirections[direction]>(short_pieces(own, direction), own.pieces[K], view,
                                           add(direction));
    });
    if (list.empty()) list.push_back(kInfo.pass_action());  // GD-6
  }

  void apply(Position& position, Action action) const {
    if (action == kInfo.pass_action()) return position.pass();
    const auto [square, direction, distance] = parts(action);
    const int target = square + distance * Board::offset(kDirections[direction]);
    const int kind = position.own().kind_on(square);
    const Bits captured = Board::captured(position, square, kDirections[direction], distance);
    position.move(kind, square, target, captured);
    if (captured && can_jump(position.own(), Board::bit(target), position.view())) {
      position.pending = target;  // a longest way never stops where it could go on
      return;
    }
    if (kind == M && (Board::bit(target) & Board::kLastRank)) position.promote(M, K, target);
    position.end_turn();
  }

  bool is_whole_turn(const Position& position, Action action) const {
    const auto [square, direction, distance] = parts(action);
    return distance == 1 || !Board::captured(position, square, kDirections[direction], distance);
  }

  // GD-6, GD-7.
  Outcome outcome(const Position& position) const {
    const int mover = position.to_move();
    if (!position.own().occupied()) return win(1 - mover, Termination::kNoPieces);
    if (!position.enemy().occupied()) return win(mover, Termination::kNoPieces);
    if (can_step(position, mover) || can_step(position, 1 - mover)) return {};
    return more_pieces_win(position, Termination::kBlocked);
  }

  // GD-8.
  Outcome adjudicate(const Position& position, const History<Position>&) const {
    if (position.quiet < kQuietLimit) return {};
    return more_pieces_win(position, Termination::kQuietLimit);
  }

  void write_observation(const Position& position, int player, int, Planes& planes) const {
    const int quiet = Board::write_pieces(position, player, planes);
    planes.fill(quiet, std::min(position.quiet / float{kQuietLimit}, 1.0f));
  }

  std::uint64_t key(const Position& position) const { return Board::key(position); }

  int num_pieces(const Position& position, int player) const {
    return Board::count(position.sides[player].occupied());
  }

  // In hundredths of a man.
  static constexpr auto kTerms = std::to_array<Term>({
      {"man", 100},
      {"king", 906},
      {"man's rank", 37},
      {"step", -8},
      {"man on the first rank", 57},
  });
  static constexpr bool kCapturesAreCompulsory = true;

  std::array<int, kTerms.size()> features(const Position& position, int player) const {
    const Side& side = position.sides[player];
    const View view = position.view(player);
    int steps = 0;
    unrolled<8>([&]<int direction>() {
      Board::steps<kDirections[direction]>(
          short_pieces(side, direction), side.pieces[K], view,
          [&](int, Bits squares) { steps += Board::count(squares); });
    });
    return {Board::count(side.pieces[M]), Board::count(side.pieces[K]),
            Board::sum_of_ranks(side.pieces[M]), steps,
            Board::count(side.pieces[M] & Board::kFirstRank)};
  }

  // Captures.
  int urgency(const Position& position, Action action) const {
    if (action == kInfo.pass_action()) return 0;
    return is_whole_turn(position, action) ? 0 : 100;
  }

  Action mirror_action(Action action) const {
    if (action == kInfo.pass_action()) return action;
    const auto [square, direction, distance] = parts(action);
    return plane((8 - direction) % 8, distance) * kNumSquares + square / 8 * 8 + 7 - square % 8;
  }

  std::string action_to_text(const Position& position, Action action) const {
    if (action == kInfo.pass_action()) return "pass";
    const auto [square, direction, distance] = parts(action);
    return Board::move_to_text(position, square, kDirections[direction], distance);
  }

  std::string to_fen(const Position& position) const { return Board::to_fen(position, kLetters); }

  Position from_fen(std::string_view fen) const {
    const Position position = Board::from_fen(fen, kLetters);
    for (const Side& side : position.sides) {
      Board::check_count(side.occupied(), kMaxPieces, "pieces");
    }
    Board::check_pending(
        position, position.is_turn_open() &&
                      can_jump(position.own(), Board::bit(position.pending), position.view()));
    return position;
  }

 private:
  struct Parts {
    int square, direction, distance;
  };
  static constexpr Parts parts(Action action) {
    const int plane = action / kNumSquares;
    return {action % kNumSquares, plane / 7, plane % 7 + 1};
  }
  static constexpr int plane(int direction, int distance) { return direction * 7 + distance - 1; }

  // The pieces that step one square, and jump two, in a direction: GD-1.
  static constexpr Bits short_pieces(const Side& side, int direction) {
    return kDirections[direction].ranks >= 0 ? side.pieces[M] : 0;
  }

  // GD-3: of the jumps in `list`, keeps those that begin a longest way.
  static void keep_longest(const Position& position, ActionList& list) {
    if (list.size() == 1) return;
    static thread_local LongestWays ways;  // one for each thread, so that its memory is used again
    const View view = position.view();
    Bits jumpers = 0;
    for (const Action action : list) jumpers |= Board::bit(action % kNumSquares);
    int longest = 0;
    std::array<int, 1024> lengths;  // of the longest way that begins with the jump
    Board::for_each_square(jumpers, [&](int square) {
      const bool is_king = (position.own().pieces[K] & Board::bit(square)) != 0;
      const int length = ways.search(square, is_king, view);
      for (int i = 0; i < list.size(); ++i) {
        const auto [origin, direction, distance] = parts(list[i]);
        if (origin != square) continue;
        const Vector v = kDirections[direction];
        lengths[i] = ways.begins_with(Board::captured(position, square, v, distance),
                                      square + distance * Board::offset(v))
                         ? length
                         : 0;
      }
      longest = std::max(longest, length);
    });
    const ActionList jumps = list;
    list.clear();
    for (int i = 0; i < jumps.size(); ++i) {
      if (lengths[i] == longest) list.push_back(jumps[i]);
    }
  }

  // The longest ways of one piece to capture. There can be a hundred thousand ways, but how one goes
  // on depends only on which enemy pieces are gone and where the piece stands. So this goes from set
  // to set of captured pieces, at most 2^16, and keeps with each all the squares where the piece may
  // stand then: no position is slow.
  class LongestWays {
   public:
    LongestWays() : entry_of_(1 << kMaxPieces, -1) {}

    // Returns how many pieces the piece of `view` on `square` can capture.
    int search(int square, bool is_king, const View& view) {
      for (const Entry& entry : entries_) entry_of_[entry.captured] = -1;
      entries_.clear();
      is_king_ = is_king;
      others_ = view.own ^ Board::bit(square);
      enemy_ = view.enemy;
      reach(0, enemy_, Board::bit(square));
      // New sets are one larger than the one they come from: in this order, a set is complete when
      // its turn comes, and the largest are the last.
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry entry = entries_[i];
        for_each_capture(entry, [&](Bits piece, Bits, Bits landings) {
          reach(entry.captured | mask(piece), entry.enemy ^ piece, landings);
        });
      }
      const int length = std::popcount(unsigned{entries_.back().captured});
      for (std::size_t i = entries_.size(); i-- > 1;) {
        Entry& entry = entries_[i];
        if (std::popcount(unsigned{entry.captured}) == length) {
          entry.on_longest = entry.squares;
        } else {
          for_each_capture(entry, [&](Bits piece, Bits origins, Bits landings) {
            const Entry& next = entries_[entry_of_[entry.captured | mask(piece)]];
            if (next.on_longest & landings) entry.on_longest |= origins;
          });
        }
      }
      return length;
    }

    // Whether a longest way begins with that capture and landing.
    bool begins_with(Bits captured, int landing) const {
      return entries_[entry_of_[mask(captured)]].on_longest & Board::bit(landing);
    }

   private:
    struct Entry {
      std::uint16_t captured;  // a bit for each enemy piece, in the order of their squares
      Bits enemy;              // the others
      Bits squares = 0;        // where the piece may stand then
      Bits on_longest = 0;     // on which of them it is on a longest way
    };

    int mask(Bits piece) const { return 1 << Board::count(enemy_ & (piece - 1)); }

    void reach(int captured, Bits enemy, Bits squares) {
      int& entry = entry_of_[captured];
      if (entry < 0) {
        entry = static_cast<int>(entries_.size());
        entries_.push_back({static_cast<std::uint16_t>(captured), enemy});
      }
      entries_[entry].squares |= squares;
    }

    // Calls visit(the piece to capture, the squares to do it from, the landings).
    template <class Visit>
    void for_each_capture(const Entry& entry, Visit&& visit) const {
      const Bits empty = Board::kAll & ~(others_ | entry.enemy);
      unrolled<8>([&]<int direction>() {
        constexpr Vector v = kDirections[direction];
        if (!is_king_ && v.ranks < 0) return;
        const auto filled = [&]<Vector w>(Bits squares) {
          return is_king_ ? Board::filled<w>(squares, empty) : squares;
        };
        const Bits reached = Board::shift<v>(filled.template operator()<v>(entry.squares));
        for (Bits b = reached & entry.enemy & Board::shift<-v>(empty); b;
             b = Board::without_first(b)) {
          const Bits piece = b & ~Board::without_first(b);
          visit(piece, entry.squares & filled.template operator()<-v>(Board::shift<-v>(piece)),
                filled.template operator()<v>(Board::shift<v>(piece)));
        }
      });
    }

    std::vector<Entry> entries_;
    std::vector<int> entry_of_;  // by captured pieces; -1 where there is none
    bool is_king_ = false;
    Bits others_ = 0;  // own pieces, which stand still
    Bits enemy_ = 0;
  };

  static bool can_jump(const Side& side, Bits mobile, const View& view) {
    bool found = false;
    unrolled<8>([&]<int direction>() {
      found = found || Board::can_jump<kDirections[direction]>(
                           short_pieces(side, direction) & mobile, side.pieces[K] & mobile, view);
    });
    return found;
  }

  static bool can_step(const Position& position, int player) {
    const Side& side = position.sides[player];
    const View view = position.view(player);
    Bits able = 0;
    unrolled<8>([&]<int direction>() {
      able |= Board::steppers<kDirections[direction]>(
          short_pieces(side, direction) | side.pieces[K], view);
    });
    return able || can_jump(side, Board::kAll, view);
  }

  Outcome more_pieces_win(const Position& position, Termination termination) const {
    return stronger_wins(num_pieces(position, 0), num_pieces(position, 1), termination);
  }
};

static_assert(Game<GothicDraughts>);

}  // namespace deskovky
