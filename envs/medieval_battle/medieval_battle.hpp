// Medieval battle, rules MB-1 to MB-8 of its README.
//
// 10 x 10, 10 footmen and 5 knights a side. A footman steps one square diagonally forward, a knight
// straight forward or sideways; both capture by a short jump in the same directions. A commander
// moves any number of empty squares diagonally, a king in all eight directions; they jump over one
// enemy piece at any distance and land anywhere behind it up to the next piece. Capturing is
// compulsory with free choice; what is jumped over is removed at once, and the piece must go on
// while it can from where it landed. A footman whose turn ends on the last rank becomes a commander,
// a knight a king. A player without a step passes. After 30 turns without capture, and when neither
// can step, the stronger army wins (footman 1, knight 2, commander 3, king 4).
//
//   10  90 91 92 ... 99        Each player's pieces are kept as that player sees them: own rank 1
//    .  .. .. .. ... ..        first, player 1's board turned by 180 degrees. The enemy stands on
//    2  10 11 12 ... 19        square 99 - s.
//    1   0  1  2 ...  9
//        a  b  c ...  j
//
// Action = plane * 100 + square. Plane = direction * 9 + distance - 1: the piece on `square` goes
// `distance` squares N NE E SE S SW W NW, as a step or as a jump. The last action, 7200: pass.
// Observation planes, as `player` sees it: 0-3 own F N C K, 4-7 enemy F N C K, 8 the piece that
// must go on, 9 quiet count / 30.
#pragma once

#include "core/draughts.hpp"

namespace deskovky {

struct MedievalBattle {
  static constexpr std::array<std::string_view, 1> kRulesets = {"standard"};
  static constexpr std::array<Setup, 2> kSetups = {
      {{"default",
        "1n1n1n1n1n/f1f1f1f1f1/1f1f1f1f1f/10/10/10/10/F1F1F1F1F1/1F1F1F1F1F/N1N1N1N1N1 w - 0 1"},
       {"vanguard",
        "1f1f1f1f1f/n1n1n1n1n1/1f1f1f1f1f/10/10/10/10/F1F1F1F1F1/1N1N1N1N1N/F1F1F1F1F1 w - 0 1"}}};
  static constexpr GameInfo kInfo = {
      .id = "medieval_battle_v0",
      .num_ranks = 10,
      .num_files = 10,
      .num_action_planes = 72,
      .has_pass = true,
      .num_planes = 10,
      .max_turns = 1000,
      .uses_repetition = false,
      .single_step_turns = false,
      .is_mirror_symmetric = true,
      .rulesets = kRulesets,
      .setups = kSetups,
  };

  enum Piece { F, N, C, K };
  using Board = DraughtsBoard<10, 10, 4>;
  using Bits = Board::Bits;
  using Side = Board::Side;
  using View = Board::View;
  using Position = Board::Position;
  static constexpr std::string_view kLetters = "FNCK";
  static constexpr std::array<int, 4> kStrength = {1, 2, 3, 4};  // MB-8
  static constexpr int kNumSquares = Board::kNumSquares, kMaxFootmen = 10, kMaxKnights = 5;
  static constexpr int kQuietLimit = 30;

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
    unrolled<8>([&]<int direction>() {  // MB-4
      Board::jumps<kDirections[direction]>(short_pieces<direction>(own) & mobile,
                                           long_pieces<direction>(own) & mobile, view,
                                           add(direction));
    });
    if (!list.empty()) return;
    unrolled<8>([&]<int direction>() {
      Board::steps<kDirections[direction]>(short_pieces<direction>(own),
                                           long_pieces<direction>(own), view, add(direction));
    });
    if (list.empty()) list.push_back(kInfo.pass_action());  // MB-6
  }

  void apply(Position& position, Action action) const {
    if (action == kInfo.pass_action()) return position.pass();
    const auto [square, direction, distance] = parts(action);
    const int target = square + distance * Board::offset(kDirections[direction]);
    const int kind = position.own().kind_on(square);
    const Bits captured = Board::captured(position, square, kDirections[direction], distance);
    position.move(kind, square, target, captured);
    if (captured && can_jump(position.own(), Board::bit(target), position.view())) {
      position.pending = target;
      return;
    }
    if (kind <= N && (Board::bit(target) & Board::kLastRank)) {
      position.promote(kind, kind == F ? C : K, target);  // MB-5
    }
    position.end_turn();
  }

  bool is_whole_turn(const Position& position, Action action) const {
    const auto [square, direction, distance] = parts(action);
    return distance == 1 || !Board::captured(position, square, kDirections[direction], distance);
  }

  // MB-6, MB-7.
  Outcome outcome(const Position& position) const {
    const int mover = position.to_move();
    if (!position.own().occupied()) return win(1 - mover, Termination::kNoPieces);
    if (!position.enemy().occupied()) return win(mover, Termination::kNoPieces);
    if (can_step(position, mover) || can_step(position, 1 - mover)) return {};
    return stronger_army_wins(position, Termination::kBlocked);
  }

  // MB-8.
  Outcome adjudicate(const Position& position, const History<Position>&) const {
    if (position.quiet < kQuietLimit) return {};
    return stronger_army_wins(position, Termination::kQuietLimit);
  }

  void write_observation(const Position& position, int player, int, Planes& planes) const {
    const int quiet = Board::write_pieces(position, player, planes);
    planes.fill(quiet, std::min(position.quiet / float{kQuietLimit}, 1.0f));
  }

  std::uint64_t key(const Position& position) const { return Board::key(position); }

  int num_pieces(const Position& position, int player) const {
    return Board::count(position.sides[player].occupied());
  }

  // In hundredths of a footman.
  static constexpr auto kTerms = std::to_array<Term>({
      {"footman", 100},
      {"knight", 200},
      {"commander", 300},
      {"king", 400},
      {"footman's rank", 3},
      {"knight's rank", 3},
      {"step", 2},
  });
  static constexpr bool kCapturesAreCompulsory = true;

  std::array<int, kTerms.size()> features(const Position& position, int player) const {
    const Side& side = position.sides[player];
    const View view = position.view(player);
    int steps = 0;
    unrolled<8>([&]<int direction>() {
      Board::steps<kDirections[direction]>(
          short_pieces<direction>(side), long_pieces<direction>(side), view,
          [&](int, Bits squares) { steps += Board::count(squares); });
    });
    const auto count = [&](int kind) { return Board::count(side.pieces[kind]); };
    return {count(F),
            count(N),
            count(C),
            count(K),
            Board::sum_of_ranks(side.pieces[F]),
            Board::sum_of_ranks(side.pieces[N]),
            steps};
  }

  // Captures.
  int urgency(const Position& position, Action action) const {
    if (action == kInfo.pass_action()) return 0;
    return is_whole_turn(position, action) ? 0 : 100;
  }

  Action mirror_action(Action action) const {
    if (action == kInfo.pass_action()) return action;
    const auto [square, direction, distance] = parts(action);
    return plane((8 - direction) % 8, distance) * kNumSquares + square / 10 * 10 + 9 - square % 10;
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
      Board::check_count(side.pieces[F] | side.pieces[C], kMaxFootmen, "footmen and commanders");
      Board::check_count(side.pieces[N] | side.pieces[K], kMaxKnights, "knights and kings");
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
    return {action % kNumSquares, plane / 9, plane % 9 + 1};
  }
  static constexpr int plane(int direction, int distance) { return direction * 9 + distance - 1; }

  // The pieces that step one square, and jump two, in a direction: MB-2, MB-3.
  template <int direction>
  static constexpr Bits short_pieces(const Side& side) {
    constexpr Vector v = kDirections[direction];
    if constexpr (v.ranks < 0) return {};
    return side.pieces[v.files && v.ranks ? F : N];
  }

  // The pieces that move and jump any distance: MB-3.
  template <int direction>
  static constexpr Bits long_pieces(const Side& side) {
    constexpr Vector v = kDirections[direction];
    if constexpr (v.files && v.ranks) return side.pieces[C] | side.pieces[K];
    return side.pieces[K];
  }

  static bool can_jump(const Side& side, Bits mobile, const View& view) {
    bool found = false;
    unrolled<8>([&]<int direction>() {
      found = found ||
              Board::can_jump<kDirections[direction]>(short_pieces<direction>(side) & mobile,
                                                      long_pieces<direction>(side) & mobile, view);
    });
    return found;
  }

  static bool can_step(const Position& position, int player) {
    const Side& side = position.sides[player];
    const View view = position.view(player);
    bool found = false;
    unrolled<8>([&]<int direction>() {
      found = found || Board::steppers<kDirections[direction]>(
                           short_pieces<direction>(side) | long_pieces<direction>(side), view);
    });
    return found || can_jump(side, Board::kAll, view);
  }

  static Outcome stronger_army_wins(const Position& position, Termination termination) {
    const auto army = [](const Side& side) {
      int sum = 0;
      for (int kind = F; kind <= K; ++kind)
        sum += kStrength[kind] * Board::count(side.pieces[kind]);
      return sum;
    };
    return stronger_wins(army(position.sides[0]), army(position.sides[1]), termination);
  }
};

static_assert(Game<MedievalBattle>);

}  // namespace deskovky
