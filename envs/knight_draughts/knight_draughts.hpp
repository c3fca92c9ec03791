// Knight draughts (Walker), rules KD-1 to KD-8 of its README.
//
// 10 x 10, all squares, 20 men a side. A man leaps as a chess knight, forward only; a queen in all
// eight directions. A capture is two equal leaps in a straight line: the first onto an enemy piece,
// which is removed at once, the second onto an empty square. Men capture forward only (ruleset
// allround: in all directions). Capturing is compulsory with free choice, and the capturer must go
// on while it can; but a man that reaches the last rank becomes a queen and its turn ends. A player
// without a step passes. At the agreed length max_turns, and when neither can step, more pieces win.
//
//   10  90 91 92 ... 99        Each player's pieces are kept as that player sees them: own rank 1
//    .  .. .. .. ... ..        first, player 1's board turned by 180 degrees. The enemy stands on
//    2  10 11 12 ... 19        square 99 - s.
//    1   0  1  2 ...  9
//        a  b  c ...  j
//
// Action = plane * 100 + square. Planes 0-7: the piece on `square` makes the leap of kLeaps; planes
// 8-15: it captures by two such leaps. The last action, 1600: pass.
// Observation planes, as `player` sees it: 0 own men, 1 own queens, 2 enemy men, 3 enemy queens,
// 4 the piece that must go on, 5 turns left / max_turns.
#pragma once

#include "core/draughts.hpp"

namespace deskovky {

struct KnightDraughts {
  enum Ruleset { kStandard, kAllround };  // in the order of kRulesets
  static constexpr std::array<std::string_view, 2> kRulesets = {"standard", "allround"};
  static constexpr std::array<Setup, 1> kSetups = {
      {{"default", "10/10/mmmmmmmmmm/mmmmmmmmmm/10/10/MMMMMMMMMM/MMMMMMMMMM/10/10 w - 0 1"}}};
  static constexpr GameInfo kInfo = {
      .id = "knight_draughts_v0",
      .num_ranks = 10,
      .num_files = 10,
      .num_action_planes = 16,
      .has_pass = true,
      .num_planes = 6,
      .max_turns = 200,
      .uses_repetition = false,
      .single_step_turns = false,
      .is_mirror_symmetric = true,
      .rulesets = kRulesets,
      .setups = kSetups,
  };

  enum Piece { M, Q };
  using Board = DraughtsBoard<10, 10, 2>;
  using Bits = Board::Bits;
  using Side = Board::Side;
  using View = Board::View;
  using Position = Board::Position;
  static constexpr std::string_view kLetters = "MQ";
  static constexpr int kNumSquares = Board::kNumSquares, kMaxPieces = 20;
  // Clockwise.
  static constexpr std::array<Vector, 8> kLeaps = {
      {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}}};

  GameOptions options;

  void legal_actions(const Position& position, ActionList& list) const {
    list.clear();
    const Side& own = position.own();
    const View view = position.view();
    const Bits mobile = position.is_turn_open() ? Board::bit(position.pending) : Board::kAll;
    unrolled<8>([&]<int leap>() {  // KD-4
      Board::add(list, 8 + leap, Board::jumpers<kLeaps[leap]>(capturers(own, leap) & mobile, view));
    });
    if (!list.empty()) return;
    unrolled<8>([&]<int leap>() {
      Board::add(list, leap, Board::steppers<kLeaps[leap]>(leapers(own, leap), view));
    });
    if (list.empty()) list.push_back(kInfo.pass_action());  // KD-6
  }

  void apply(Position& position, Action action) const {
    if (action == kInfo.pass_action()) return position.pass();
    const int plane = action / kNumSquares, square = action % kNumSquares;
    const int offset = Board::offset(kLeaps[plane % 8]);
    const bool is_capture = plane >= 8;
    const int target = square + (is_capture ? 2 : 1) * offset;
    const int kind = position.own().kind_on(square);
    position.move(kind, square, target, is_capture ? Board::bit(square + offset) : Bits{});
    if (kind == M && (Board::bit(target) & Board::kLastRank)) {
      position.promote(M, Q, target);  // KD-5
    } else if (is_capture && can_capture(position.own(), Board::bit(target), position.view())) {
      position.pending = target;
      return;
    }
    position.end_turn();
  }

  bool is_whole_turn(const Position&, Action action) const { return action / kNumSquares < 8; }

  // KD-6, KD-7.
  Outcome outcome(const Position& position) const {
    const int mover = position.to_move();
    if (!position.own().occupied()) return win(1 - mover, Termination::kNoPieces);
    if (!position.enemy().occupied()) return win(mover, Termination::kNoPieces);
    if (can_step(position, mover) || can_step(position, 1 - mover)) return {};
    return more_pieces_win(position, Termination::kBlocked);
  }

  // KD-8.
  Outcome adjudicate(const Position& position, const History<Position>&) const {
    if (position.turns < options.max_turns) return {};
    return more_pieces_win(position, Termination::kLengthLimit);
  }

  void write_observation(const Position& position, int player, int, Planes& planes) const {
    const int turns_left = Board::write_pieces(position, player, planes);
    const float length = static_cast<float>(options.max_turns);
    const int left = std::max(options.max_turns - position.turns, 0);
    planes.fill(turns_left, static_cast<float>(left) / length);
  }

  std::uint64_t key(const Position& position) const { return Board::key(position); }

  int num_pieces(const Position& position, int player) const {
    return Board::count(position.sides[player].occupied());
  }

  // In hundredths of a man.
  static constexpr auto kTerms = std::to_array<Term>({
      {"man", 100},
      {"queen", 465},
      {"man's rank", 32},
      {"leap", 14},
  });
  static constexpr bool kCapturesAreCompulsory = true;

  std::array<int, kTerms.size()> features(const Position& position, int player) const {
    const Side& side = position.sides[player];
    const View view = position.view(player);
    int leaps = 0;
    unrolled<8>([&]<int leap>() {
      leaps += Board::count(Board::steppers<kLeaps[leap]>(leapers(side, leap), view));
    });
    return {Board::count(side.pieces[M]), Board::count(side.pieces[Q]),
            Board::sum_of_ranks(side.pieces[M]), leaps};
  }

  // Captures.
  int urgency(const Position&, Action action) const {
    return 8 * kNumSquares <= action && action < kInfo.pass_action() ? 100 : 0;
  }

  Action mirror_action(Action action) const {
    if (action == kInfo.pass_action()) return action;
    const int plane = action / kNumSquares, square = action % kNumSquares;
    const int mirrored_plane = plane / 8 * 8 + 7 - plane % 8;
    return mirrored_plane * kNumSquares + square / 10 * 10 + 9 - square % 10;
  }

  std::string action_to_text(const Position& position, Action action) const {
    if (action == kInfo.pass_action()) return "pass";
    const int plane = action / kNumSquares;
    return Board::move_to_text(position, action % kNumSquares, kLeaps[plane % 8], 1 + plane / 8);
  }

  std::string to_fen(const Position& position) const { return Board::to_fen(position, kLetters); }

  Position from_fen(std::string_view fen) const {
    const Position position = Board::from_fen(fen, kLetters);
    for (const Side& side : position.sides) {
      Board::check_count(side.occupied(), kMaxPieces, "pieces");
    }
    Board::check_pending(
        position, position.is_turn_open() &&
                      can_capture(position.own(), Board::bit(position.pending), position.view()));
    return position;
  }

 private:
  static constexpr bool is_forward(int leap) { return kLeaps[leap].ranks > 0; }

  // The pieces that leap in a direction without capturing: KD-1, KD-2.
  static Bits leapers(const Side& side, int leap) {
    return is_forward(leap) ? side.occupied() : side.pieces[Q];
  }

  // The pieces that capture in a direction: KD-3.
  Bits capturers(const Side& side, int leap) const {
    return is_forward(leap) || options.ruleset == kAllround ? side.occupied() : side.pieces[Q];
  }

  bool can_capture(const Side& side, Bits mobile, const View& view) const {
    Bits able = {};
    unrolled<8>([&]<int leap>() {
      able |= Board::jumpers<kLeaps[leap]>(capturers(side, leap) & mobile, view);
    });
    return bool(able);
  }

  bool can_step(const Position& position, int player) const {
    const Side& side = position.sides[player];
    const View view = position.view(player);
    Bits able = {};
    unrolled<8>(
        [&]<int leap>() { able |= Board::steppers<kLeaps[leap]>(leapers(side, leap), view); });
    return able || can_capture(side, Board::kAll, view);
  }

  Outcome more_pieces_win(const Position& position, Termination termination) const {
    return stronger_wins(num_pieces(position, 0), num_pieces(position, 1), termination);
  }
};

static_assert(Game<KnightDraughts>);

}  // namespace deskovky
